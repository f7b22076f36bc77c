#include "policyfile/faults.hpp"

namespace retryd::policyfile {

void Faults::add(Place place, model::ProblemCode code, std::string what, std::string hint) {
    faults_.try_emplace({place, std::move(what)}, Told{code, std::move(hint)});
}

void Faults::warn(Place place, std::string what, std::string hint) {
    warnings_.try_emplace({place, std::move(what)}, Told{model::ProblemCode::bad_value, std::move(hint)});
}

std::vector<model::Problem> Faults::in_order(const Found& found) const {
    std::vector<model::Problem> problems;
    for (const auto& [key, told] : found) {
        const auto& [place, what] = key;
        const std::string where = file_ + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
        problems.push_back({told.code, where, what, told.hint});
    }
    return problems;
}

}  // namespace retryd::policyfile
