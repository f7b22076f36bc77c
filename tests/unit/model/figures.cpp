#include "model/figures.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace retryd::model;

TEST_CASE("a histogram counts a value under the first bound that is not below it") {
    Histogram histogram({1, 5, 10});
    for (const double value : {0.0, 1.0, 1.5, 5.0, 10.0, 10.1, 1000.0}) histogram.observe(value);
    CHECK(histogram.counts() == std::vector<std::uint64_t>{2, 2, 1, 2});
    CHECK(histogram.sum() == Approx(1027.6));
}

TEST_CASE("every cause has a name of its own, in words with hyphens") {
    std::set<std::string> names;
    for (std::size_t i = 0; i < cause_count; ++i) {
        const std::string name(to_text(static_cast<Cause>(i)));
        CHECK(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string::npos);
        names.insert(name);
    }
    CHECK(names.size() == cause_count);
}
