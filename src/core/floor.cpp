#include "core/floor.hpp"

namespace retryd::core {

namespace {

constexpr model::Milliseconds floor_time{1000};
constexpr model::Milliseconds longest_silence{1000};
constexpr model::Milliseconds longest_wait{5000};

std::size_t at(Company company) {
    return static_cast<std::size_t>(company);
}

}  // namespace

Company company_of(Standing standing) {
    switch (standing) {
        case Standing::trusted: return Company::trusted;
        case Standing::suspect: return Company::suspects;
        case Standing::accused:
        case Standing::on_trial:
        case Standing::poison: return Company::accused;
    }
    return Company::accused;
}

std::optional<Company> Floor::next(const Demand& demand, model::SteadyTime now) {
    if (sent_ && now - *sent_ >= longest_wait) sent_.reset();
    silent_ = silent_ && sent_ && now - *sent_ < longest_silence;
    if (silent_) return std::nullopt;
    const auto company = wanted(demand, now);
    if (!company) return std::nullopt;
    const bool free = demand.in_flight == 0;
    if (*company != company_) {
        if (!free) return std::nullopt;
        company_ = *company;
        since_ = now;
    }
    if (company_ == Company::accused && !free) return std::nullopt;
    return company_;
}

std::optional<Company> Floor::wanted(const Demand& demand, model::SteadyTime now) const {
    if (demand.trial_is_due) return Company::accused;
    if (waits(demand, at(company_)) && now - since_ < floor_time) return company_;
    for (std::size_t step = 1; step <= company_count; ++step) {  // round to itself at last
        const auto company = (at(company_) + step) % company_count;
        if (waits(demand, company)) return static_cast<Company>(company);
    }
    return std::nullopt;
}

bool Floor::waits(const Demand& demand, std::size_t company) const {
    return demand.waits[company] && (company != at(Company::accused) || !sent_);
}

void Floor::await_trial(model::SteadyTime now) {
    sent_ = now;
    silent_ = true;
}

model::SteadyTime Floor::next_change() const {
    if (!sent_) return model::SteadyTime::max();
    return *sent_ + (silent_ ? longest_silence : longest_wait);
}

}  // namespace retryd::core
