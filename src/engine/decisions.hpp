#pragma once
// The last decisions, for `retryctl why`: what became of a message, and why. Bounded: the oldest makes room, texts are cut.
// A success at the first attempt is not among them, else the rest would be gone within seconds.

#include "core/decide.hpp"
#include "model/names.hpp"
#include "model/outcome.hpp"
#include "model/time.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace retryd::engine {

struct Decision {
    model::WallTime at;
    model::QueueId queue;
    std::string id;  // cut
    core::Verdict::Kind kind = core::Verdict::Kind::ack;
    model::TierKind tier = model::TierKind::delay;
    std::optional<model::Reason> reason;    // of a lot
    std::optional<model::Outcome> outcome;  // that led to it; nothing: none did
    std::uint32_t attempts = 0;             // spent by then
    model::Milliseconds wait{0};            // in hand or in a tier
    std::optional<core::HeldBy> held_by;    // the guard that is why it waits
    std::string place;                      // the queue that its copy goes to; empty: none
    std::string error;                      // "type: message", cut; empty: none
};

class Decisions {
public:
    static constexpr std::size_t longest_id = 128;
    static constexpr std::size_t longest_error = 160;

    explicit Decisions(std::size_t kept = 10'000) : kept_(kept) {}

    // Remembers it, its texts cut.
    void add(Decision&& decision);
    // Those about messages of this id, newest first.
    [[nodiscard]] std::vector<const Decision*> about(std::string_view id) const;
    [[nodiscard]] std::size_t size() const { return ring_.size(); }
    [[nodiscard]] std::optional<model::WallTime> oldest() const;

private:
    std::size_t kept_;
    std::size_t next_ = 0;  // the oldest, once the ring is full
    std::vector<Decision> ring_;
};

}  // namespace retryd::engine
