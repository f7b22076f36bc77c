#include "model/problem.hpp"

#include <stdexcept>

namespace retryd::model {

std::string to_text(const Problem& problem) {
    std::string text;
    if (!problem.place.empty()) text += problem.place + ": ";
    text += problem.what;
    if (!problem.hint.empty()) text += "; " + problem.hint;
    return text;
}

void throw_exception_from_error(const Problem& problem, const boost::source_location&) {
    throw std::logic_error("a value was taken from a failed result: " + to_text(problem));
}

}  // namespace retryd::model
