#pragma once
// Who has the consumer to himself: the trusted, the suspects, or one accused. Nobody is delivered beside another company,
// so a change waits until everything at the consumer has ended. While several wait, each has the floor for a second.

#include "core/suspicion.hpp"
#include "model/time.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace retryd::core {

enum class Company : std::uint8_t { trusted, suspects, accused };
inline constexpr std::size_t company_count = 3;

[[nodiscard]] Company company_of(Standing standing);

class Floor {
public:
    struct Demand {
        std::array<bool, company_count> waits{};  // by Company: somebody is ready
        bool trial_is_due = false;                // the first of the accused is the stamped copy
        std::uint32_t in_flight = 0;              // whoever it is
    };
    // Whose next message may be delivered now, as far as company goes.
    [[nodiscard]] std::optional<Company> next(const Demand& demand, model::SteadyTime now);

    // The copy for a trial has been sent off: until it comes nothing is delivered, so that nobody else's crash can be
    // held against it. A lane full of others may keep it back, so that is for some seconds at most.
    void await_trial(model::SteadyTime now);
    void stop_waiting() { awaited_until_.reset(); }

    // When next() may say something else although nothing happened; SteadyTime::max() for never.
    [[nodiscard]] model::SteadyTime next_change() const { return awaited_until_.value_or(model::SteadyTime::max()); }

private:
    [[nodiscard]] std::optional<Company> wanted(const Demand& demand, model::SteadyTime now) const;

    Company company_ = Company::trusted;
    model::SteadyTime since_{};
    std::optional<model::SteadyTime> awaited_until_;
};

}  // namespace retryd::core
