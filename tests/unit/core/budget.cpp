#include "core/budget.hpp"

#include <catch2/catch.hpp>

#include <random>

using namespace retryd;
using namespace std::chrono_literals;
using core::Budget;
using model::SteadyTime;

namespace {

constexpr SteadyTime start{1h};
constexpr auto window = 30s;

int spend_all(Budget& budget, SteadyTime now) {
    int spent = 0;
    while (budget.take(now)) ++spent;
    return spent;
}

}  // namespace

TEST_CASE("a budget begins with its burst, and successes earn the rest") {
    const model::BudgetPolicy policy{0.1, 100, {0, 1min}};
    Budget budget{policy, window, start};
    CHECK(spend_all(budget, start) == 100);
    CHECK(budget.is_spent(start));
    CHECK(budget.spent_since() == start);
    for (int i = 0; i < 9; ++i) budget.succeeded(start);
    CHECK(budget.is_spent(start));
    budget.succeeded(start);
    CHECK_FALSE(budget.is_spent(start));
    CHECK_FALSE(budget.spent_since());
    CHECK(spend_all(budget, start) == 1);
    for (int i = 0; i < 100'000; ++i) budget.succeeded(start);
    CHECK(spend_all(budget, start) == 100);
}

TEST_CASE("the floor earns while the queue has successes, and for no longer than the window after the last one") {
    const model::BudgetPolicy policy{0, 100, {10, 1min}};
    Budget budget{policy, window, start};
    spend_all(budget, start);
    CHECK(spend_all(budget, start + 1h) == 0);
    budget.succeeded(start + 1h);
    CHECK(spend_all(budget, start + 1h + 12s) == 2);
    CHECK(spend_all(budget, start + 2h) == 3);
    CHECK(spend_all(budget, start + 3h) == 0);
}

TEST_CASE("over seeds: no more is spent than burst, successes and floor allow; what was earned can be spent") {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        std::mt19937_64 random(seed);
        const model::BudgetPolicy policy{0.01 * static_cast<double>(random() % 100),
                                         1 + static_cast<std::uint32_t>(random() % 50),
                                         {static_cast<std::uint32_t>(random() % 20), 1min}};
        Budget budget{policy, window, start};
        auto now = start;
        double allowed = policy.burst;
        double spent = 0;
        bool tried_in_vain = false;
        for (int step = 0; step < 2000; ++step) {
            const model::Milliseconds passed{random() % 3000};
            now += passed;
            allowed += std::chrono::duration<double>(passed).count() * policy.floor.per_second();
            if (random() % 3 == 0) {
                budget.succeeded(now);
                allowed += policy.per_success;
            } else if (budget.take(now)) {
                ++spent;
                tried_in_vain = false;
            } else {
                tried_in_vain = true;
            }
            REQUIRE(budget.is_spent(now) <= tried_in_vain);
            REQUIRE(spent <= allowed + 1e-3);
        }
    }
}
