#pragma once
// Bare rabbitmq-c, as a program would use it that does nothing but this: one connection, channel 1, blocking. The yardstick
// of the benchmark, and its publisher. Whatever goes wrong ends the program.

#include "amqp/library.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace retryd::bench {

// Which publishes the broker has not confirmed yet: numbers 1, 2, 3 … as it counts them.
class Unconfirmed {
public:
    void published() { open_.push_back(true); }
    void confirmed(std::uint64_t number, bool multiple);
    [[nodiscard]] std::size_t count() const {
        return open_.size();
    }  // at most: a gap counts until what is before it is confirmed
    // Every publish up to this one is confirmed.
    [[nodiscard]] std::uint64_t all_up_to() const { return first_ - 1; }

private:
    std::deque<bool> open_;    // from first_ on
    std::uint64_t first_ = 1;  // the oldest that is not confirmed, or the next
};

// Owns what the library allocated for one delivery.
class Delivered {
public:
    explicit Delivered(const amqp_envelope_t& envelope) : envelope_(envelope) {}
    Delivered(const Delivered&) = delete;
    Delivered& operator=(const Delivered&) = delete;
    Delivered(Delivered&& other) noexcept : envelope_(other.envelope_), owns_(std::exchange(other.owns_, false)) {}
    Delivered& operator=(Delivered&&) = delete;
    ~Delivered() {
        if (owns_) amqp_destroy_envelope(&envelope_);
    }

    [[nodiscard]] std::uint64_t tag() const { return envelope_.delivery_tag; }
    [[nodiscard]] std::string_view body() const { return amqp::view(envelope_.message.body); }
    [[nodiscard]] const amqp_basic_properties_t& properties() const { return envelope_.message.properties; }

private:
    amqp_envelope_t envelope_;
    bool owns_ = true;
};

class BareAmqp {
public:
    explicit BareAmqp(const std::string& uri);
    ~BareAmqp();
    BareAmqp(const BareAmqp&) = delete;
    BareAmqp& operator=(const BareAmqp&) = delete;

    void consume(const std::string& queue, std::uint64_t prefetch);
    [[nodiscard]] Delivered next();
    [[nodiscard]] std::optional<Delivered> next_if_there();
    void ack_up_to(std::uint64_t tag);

    void confirm_publishes();
    // Through the default exchange.
    void publish(const std::string& queue, const amqp_basic_properties_t& properties, std::string_view body);
    void wait_for_confirms();            // of at least one publish
    [[nodiscard]] bool take_confirms();  // those that are there; false: none
    [[nodiscard]] const Unconfirmed& unconfirmed() const { return unconfirmed_; }

    [[nodiscard]] int descriptor() const { return amqp_get_sockfd(connection_); }  // for poll, when nothing more is there

private:
    [[nodiscard]] std::optional<Delivered> take_delivery(const timeval* patience);
    [[nodiscard]] bool take_frame(const timeval* patience);

    amqp_connection_state_t connection_;
    Unconfirmed unconfirmed_;
};

}  // namespace retryd::bench
