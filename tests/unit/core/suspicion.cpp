#include "core/suspicion.hpp"

#include <catch2/catch.hpp>

#include <vector>

using namespace retryd;
using core::Standing;
using model::Side;

namespace {

model::Ledger ledger(std::uint32_t lost, std::optional<std::uint32_t> suspect = std::nullopt) {
    model::Ledger made;
    made.lost = lost;
    made.suspect = suspect;
    return made;
}

}  // namespace

TEST_CASE("evidence makes a suspect, and one piece more, or a loss among it, an accused") {
    const model::QueuePolicy policy;
    struct Row {
        std::uint32_t lost, returns;
        Standing standing;
    };
    const std::vector<Row> rows{
        {0, 0, Standing::trusted}, {0, 1, Standing::trusted}, {0, 2, Standing::suspect}, {0, 3, Standing::accused},
        {1, 0, Standing::trusted}, {1, 1, Standing::accused}, {2, 0, Standing::accused}, {5, 9, Standing::accused},
    };
    for (const auto& row : rows) {
        CAPTURE(row.lost, row.returns);
        for (const auto side : {Side::work, Side::lane})
            CHECK(core::standing_of(policy, ledger(row.lost), side, row.returns) == row.standing);
    }
}

TEST_CASE("a stamped copy is on trial until it has been delivered") {
    const model::QueuePolicy policy;  // two trials
    CHECK(core::standing_of(policy, ledger(2, 1), Side::lane, 0) == Standing::on_trial);
    CHECK(core::standing_of(policy, ledger(2, 1), Side::lane, 1) == Standing::accused);
    CHECK(core::standing_of(policy, ledger(2, 2), Side::lane, 0) == Standing::on_trial);
    CHECK(core::standing_of(policy, ledger(2, 2), Side::lane, 1) == Standing::poison);
    CHECK(core::standing_of(policy, ledger(0, 0), Side::lane, 0) == Standing::accused);
}

TEST_CASE("what comes back from a delay queue has had its trial") {
    model::QueuePolicy policy;
    auto failed = ledger(2, 1);
    failed.not_before = model::WallTime{};
    CHECK(core::standing_of(policy, failed, Side::lane, 0) == Standing::accused);
    policy.solo_tries = 1;
    CHECK(core::standing_of(policy, failed, Side::lane, 0) == Standing::poison);
}

TEST_CASE("how much evidence it takes is the policy's") {
    model::QueuePolicy policy;
    policy.suspect_after = 4;
    CHECK(core::standing_of(policy, ledger(0), Side::work, 3) == Standing::trusted);
    CHECK(core::standing_of(policy, ledger(3), Side::work, 0) == Standing::trusted);
    CHECK(core::standing_of(policy, ledger(0), Side::work, 4) == Standing::suspect);
}

TEST_CASE("suspects have a quarter of the concurrency, but at least one slot") {
    CHECK(core::suspects_at_once(1) == 1);
    CHECK(core::suspects_at_once(7) == 1);
    CHECK(core::suspects_at_once(16) == 4);
}
