#include "engine/decisions.hpp"

#include <catch2/catch.hpp>

using namespace retryd;
using namespace retryd::engine;

namespace {

Decision decision(const std::string& id, std::int64_t at) {
    Decision one;
    one.id = id;
    one.at = model::WallTime{model::Milliseconds{at}};
    return one;
}

}  // namespace

TEST_CASE("decisions about one id come newest first") {
    Decisions decisions{10};
    for (std::int64_t at = 0; at < 6; ++at) decisions.add(decision(at % 2 == 0 ? "even" : "odd", at));
    const auto even = decisions.about("even");
    REQUIRE(even.size() == 3);
    for (std::size_t i = 0; i < even.size(); ++i) CHECK(even[i]->at.time_since_epoch().count() == 4 - 2 * static_cast<int>(i));
    CHECK(decisions.about("none").empty());
    CHECK(decisions.about("").empty());
}

TEST_CASE("only the last decisions are remembered") {
    Decisions decisions{4};
    CHECK_FALSE(decisions.oldest());
    for (std::int64_t at = 0; at < 11; ++at) decisions.add(decision("a", at));
    CHECK(decisions.size() == 4);
    CHECK(decisions.oldest()->time_since_epoch().count() == 7);
    const auto left = decisions.about("a");
    REQUIRE(left.size() == 4);
    CHECK(left.front()->at.time_since_epoch().count() == 10);
    CHECK(left.back()->at.time_since_epoch().count() == 7);
}

TEST_CASE("long texts are cut, and a long id is found again") {
    Decisions decisions;
    const std::string id(300, 'x');
    auto one = decision(id, 1);
    one.error = std::string(5000, 'e');
    decisions.add(std::move(one));
    REQUIRE(decisions.about(id).size() == 1);
    CHECK(decisions.about(id)[0]->id.size() == Decisions::longest_id);
    CHECK(decisions.about(id)[0]->error.size() == Decisions::longest_error);
}
