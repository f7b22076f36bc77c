#include "model/outcome.hpp"

#include <catch2/catch.hpp>

#include <set>
#include <string>

using namespace retryd::model;

TEST_CASE("a consumer may state what it knows of itself and nothing that only retryd can know") {
    for (const Outcome outcome :
         {Outcome::success, Outcome::drop, Outcome::transient, Outcome::permanent, Outcome::throttled, Outcome::endpoint}) {
        CHECK(stated_outcome(to_text(outcome)) == outcome);
    }
    for (const char* text : {"timeout", "lost", "unavailable", "", "Success", "success ", "retry"}) {
        INFO(text);
        CHECK_FALSE(stated_outcome(text));
    }
}

TEST_CASE("every outcome and every reason has a name of its own") {
    std::set<std::string> outcomes;
    for (std::size_t i = 0; i < outcome_count; ++i) outcomes.emplace(to_text(static_cast<Outcome>(i)));
    CHECK(outcomes.size() == outcome_count);

    std::set<std::string> reasons;
    for (std::size_t i = 0; i < reason_count; ++i) reasons.emplace(to_text(static_cast<Reason>(i)));
    CHECK(reasons == std::set<std::string>{"exhausted", "permanent", "age", "held", "expired", "poison"});
}
