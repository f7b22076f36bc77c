#pragma once
// Collects every fault and warning of a policy file, each with its place. The same fault found twice (a value of
// `defaults` is read once for each queue) is kept once.

#include "model/problem.hpp"
#include "policyfile/document.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace retryd::policyfile {

class Faults {
public:
    explicit Faults(std::string file) : file_(std::move(file)) {}

    void add(Place place, model::ProblemCode code, std::string what, std::string hint = {});
    void warn(Place place, std::string what, std::string hint = {});
    // Nobody reads on: hints need not be looked for any more.
    [[nodiscard]] bool many() const { return faults_.size() >= 1000; }
    [[nodiscard]] bool any() const { return !faults_.empty(); }
    [[nodiscard]] const std::string& file() const { return file_; }
    [[nodiscard]] std::vector<model::Problem> faults() const { return in_order(faults_); }
    [[nodiscard]] std::vector<model::Problem> warnings() const { return in_order(warnings_); }

private:
    struct Told {
        model::ProblemCode code;
        std::string hint;
    };
    using Found = std::map<std::pair<Place, std::string>, Told>;  // by place, so that a reader goes down the file once
    [[nodiscard]] std::vector<model::Problem> in_order(const Found& found) const;

    std::string file_;
    Found faults_, warnings_;
};

}  // namespace retryd::policyfile
