#include "policyfile/faults.hpp"

#include "model/ledger.hpp"

namespace retryd::policyfile {
namespace {

std::string one_line(std::string_view text) {
    return model::cut_text(text, text.size());
}

}  // namespace

void Faults::add(Place place, model::ProblemCode code, std::string what, std::string hint) {
    faults_.try_emplace({place, std::move(what)}, Told{code, std::move(hint)});
}

void Faults::warn(Place place, std::string what, std::string hint) {
    warnings_.try_emplace({place, std::move(what)}, Told{model::ProblemCode::bad_value, std::move(hint)});
}

// Some of it stood in the file, and yaml-cpp repeats whatever it stumbles over: each is one line of text all the same.
std::vector<model::Problem> Faults::in_order(const Found& found) const {
    std::vector<model::Problem> problems;
    for (const auto& [key, told] : found) {
        const auto& [place, what] = key;
        const std::string where = file_ + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
        problems.push_back({told.code, where, one_line(what), one_line(told.hint)});
    }
    return problems;
}

}  // namespace retryd::policyfile
