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

    // The copy for a trial has been sent off. Until it comes nothing is delivered, so that nobody else's crash can be held
    // against it, and no other trial is begun: for a second and for five at most, since a lane full of others may keep it
    // back, or another daemon take it.
    void await_trial(model::SteadyTime now);
    void stop_waiting() { sent_.reset(); }
    [[nodiscard]] bool awaits_trial() const { return sent_.has_value(); }

    // When next() may say something else although nothing happened; SteadyTime::max() for never.
    [[nodiscard]] model::SteadyTime next_change() const;

private:
    friend struct Portrait;  // tests/sim/portrait
    [[nodiscard]] bool waits(const Demand& demand, std::size_t company) const;
    [[nodiscard]] std::optional<Company> wanted(const Demand& demand, model::SteadyTime now) const;

    Company company_ = Company::trusted;
    model::SteadyTime since_{};
    std::optional<model::SteadyTime> sent_;  // the copy for the trial that is awaited
    bool silent_ = false;                    // nothing is delivered until it comes
};

}  // namespace retryd::core
