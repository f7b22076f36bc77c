#pragma once
// A world's whole state as text, for whoever visits all states: two worlds of equal portraits go on alike.
//
// Numbers that only name something (keys, tags, generations …) stand by their rank among their kind. Times are left out: in
// the model check time passes only where nothing else can happen.

#include "core/consumer_watch.hpp"
#include "core/copies.hpp"
#include "core/floor.hpp"
#include "core/intake.hpp"
#include "core/orphans.hpp"
#include "core/reconnect.hpp"
#include "engine/engine.hpp"
#include "sim/world.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace retryd::sim {

enum class Kind : char {
    delivery = 'd',
    publish = 'n',
    generation = 'g',
    tag = 't',
    place = 'p',
    queue_life = 'q',
    subscription = 's',
    channel = 'c'
};

// The text while it is drawn.
class Canvas {
public:
    void add(std::string_view text) { (text_ += text) += ' '; }
    void number(std::uint64_t value) { add(std::to_string(value)); }
    void flag(bool value) { add(value ? "+" : "-"); }
    void name(Kind kind, std::uint64_t value);
    void name(model::DeliveryKey key) { name(Kind::delivery, key.value); }
    void source(const model::Source& source);
    void tag(const model::DeliveryTag& tag);
    // What matters of a message that lies in a queue, is under way, or is in hand.
    void message(const model::Message& message, bool from_work);
    void ledger(const model::Ledger& ledger);
    void section(std::string_view title) { (text_ += '\n').append(title) += ": "; }
    // Every name replaced by its rank.
    [[nodiscard]] std::string finished() const;

private:
    std::string text_;
};

[[nodiscard]] std::string portrait(World& world);

// What the broker, the consumer and the audit hold.
struct Portrait {
    static void draw(Canvas& canvas, const ModelBroker& broker);
    static void draw(Canvas& canvas, const ModelConsumer& consumer);
    static void draw(Canvas& canvas, const Audit& audit);

private:
    static void draw_store(Canvas& canvas, const ModelBroker& broker);
    static void draw_channels(Canvas& canvas, const ModelBroker& broker);
    static void draw_wire(Canvas& canvas, const ModelBroker::Wire& wire);
};

}  // namespace retryd::sim

namespace retryd::core {

struct Portrait {
    static void draw(sim::Canvas& canvas, const Copies& copies);
    static void draw(sim::Canvas& canvas, const Orphans& orphans);
    static void draw(sim::Canvas& canvas, const Intake& intake);
    static void draw(sim::Canvas& canvas, const ConsumerWatch& watch);
    static void draw(sim::Canvas& canvas, const Reconnect& reconnect);
    static void draw(sim::Canvas& canvas, const Floor& floor);
};

}  // namespace retryd::core

namespace retryd::engine {

struct Portrait {
    static void draw(sim::Canvas& canvas, const Engine& engine);
};

}  // namespace retryd::engine
