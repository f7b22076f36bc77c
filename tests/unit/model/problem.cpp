#include "model/problem.hpp"

#include <catch2/catch.hpp>

#include <stdexcept>

using namespace retryd::model;

TEST_CASE("a problem reads as place, sentence and hint in one line") {
    CHECK(to_text(Problem{ProblemCode::bad_value, "retryd.yaml:3:9", "a duration needs a unit", "write 5s"}) ==
          "retryd.yaml:3:9: a duration needs a unit; write 5s");
    CHECK(to_text(Problem{ProblemCode::system, "", "no such file", ""}) == "no such file");
}

TEST_CASE("taking a value from a failed result is a broken program and says of what") {
    const Result<int> failed = Problem{ProblemCode::missing, "here", "nothing there", ""};
    CHECK_THROWS_AS(failed.value(), std::logic_error);
    CHECK_THROWS_WITH(failed.value(), Catch::Contains("here: nothing there"));
}
