// The settle protocol (consume, publish, confirm or nack or return, ack), checked over all of its states: the very engine and
// core, with every order of whatever can happen next to a message, every answer of the consumer, and every fault at every moment,
// up to a number of faults. What concerns no message (logins, look-ups, subscriptions) happens at once, in one order. Time passes
// where nothing else can happen, or for a moment while the consumer is at work; that it passes earlier is one of the faults.
//
//   RETRYD_MODEL_MESSAGES=2 RETRYD_MODEL_FAULTS=1 sim_tests "in no state*"   further than in the daily run
//
// Depth first, without snapshots: each run begins anew and replays its path to the last choice that is still open. A state that
// an earlier run has been in ends the run. Each state's first continuation is the one without further faults, and must lead to
// everything in its place: so no state is a trap.

#include "sim/policies.hpp"
#include "sim/portrait/portrait.hpp"
#include "sim/world.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

using namespace retryd;
using namespace retryd::sim;
using Mischief = ModelBroker::Mischief;
using ports::Link;

namespace {

constexpr model::QueueId first_queue{0};
constexpr model::Microseconds at_once = 10ms;  // what is due by then may come in any order
constexpr model::Microseconds soon = 200ms;    // what is due by then may come before the consumer answers
constexpr model::Microseconds longest = 2h;    // a state from which nothing is in its place by then is a trap

constexpr std::size_t runs_between_reports = 100'000;

// A way through the tree of choices. Beyond what is known of it the first choice is taken.
class Path {
public:
    std::size_t choose(std::size_t options) {
        if (at_ == taken_.size()) taken_.push_back({0, options});
        return taken_[at_++].choice;
    }
    [[nodiscard]] bool is_known() const { return at_ < taken_.size(); }
    [[nodiscard]] std::size_t length() const { return taken_.size(); }
    // To the next one; false: there is none.
    bool advance() {
        at_ = 0;
        while (!taken_.empty() && taken_.back().choice + 1 == taken_.back().options) taken_.pop_back();
        if (taken_.empty()) return false;
        ++taken_.back().choice;
        return true;
    }

private:
    struct Taken {
        std::size_t choice, options;
    };
    std::vector<Taken> taken_;
    std::size_t at_ = 0;
};

struct Deed {
    std::string name;
    std::function<void()> act;
};
using Deeds = std::vector<Deed>;

model::PolicyPtr short_ladder() {
    auto policy = std::make_shared<model::Policy>(*orders([](auto& queue) {
        queue.deliver.concurrency = 2;
        queue.deliver.timeout = 2s;
        queue.prefetch = 4;
        queue.retry.delays = {100ms};
        queue.retry.max = 1;
        queue.retry.jitter = {0};
        queue.retry.spread = 1;
        queue.hold.delays = {1s};
    }));
    policy->broker.confirm_timeout = 1s;
    return policy;
}

Answer never() {
    auto made = answer(200);
    made.after.reset();
    return made;
}

struct Bounds {
    std::uint32_t messages = 1;
    std::uint32_t faults = 1;
};

// One run of a world along a path.
class Run {
public:
    Run(const Bounds& bounds, Tamper* tamper) : faults_left_(bounds.faults) {
        world_.start();
        world_.run_for(50ms);
        if (tamper != nullptr) world_.tamper_with(*tamper);
        for (std::uint32_t n = 0; n < bounds.messages; ++n) {
            Extra extra;
            extra.message_id = "m" + std::to_string(n);
            world_.publish("orders", always(never()), extra);
        }
    }

    [[nodiscard]] bool is_over() {
        return world_.broker().holds_only(world_.audit().lots()) && world_.consumer().in_flight() == 0;
    }
    [[nodiscard]] bool is_too_long() { return world_.time().now().steady.time_since_epoch() > longest; }
    // All that may happen next; the first is what happens without faults.
    [[nodiscard]] Deeds deeds() {
        Deeds deeds;
        add_what_is_due(deeds);
        add_replies(deeds);
        if (deeds.empty() && world_.broker().is_blocked())
            deeds.push_back({"the alarm ends", [this] { world_.broker().block_publishing(false); }});
        const auto due = world_.time().due_within(at_once);
        if (deeds.empty() || (due == 0 && world_.time().due_within(soon) > 0))
            deeds.push_back({"time passes", [this] { world_.time().run_nth(0); }});
        if (faults_left_ > 0) add_faults(deeds);
        return deeds;
    }
    void act(const Deed& deed) {
        trace_.push_back(deed.name);
        deed.act();
        if (world_.engine().stopped()) start_again();
        while (world_.time().run_chatter(at_once)) {
        }
    }
    [[nodiscard]] std::string state() { return std::to_string(faults_left_) + portrait(world_); }
    // What is wrong already, whatever comes.
    [[nodiscard]] std::vector<std::string> broken() { return world_.audit().broken(world_.broker()); }
    [[nodiscard]] std::vector<std::string> complaints() { return world_.complaints(); }
    [[nodiscard]] const std::vector<std::string>& trace() const { return trace_; }
    [[nodiscard]] const std::deque<std::string>& log() const { return world_.log(); }

private:
    void add_what_is_due(Deeds& deeds) {
        for (std::size_t n = 0; n < world_.time().due_within(at_once); ++n)
            deeds.push_back({"due " + std::to_string(n), [this, n] { world_.time().run_nth(n); }});
    }
    void add_replies(Deeds& deeds) {
        for (const auto key : world_.consumer().working()) {
            for (const auto status : {std::uint16_t{200}, std::uint16_t{500}})
                deeds.push_back({"reply " + std::to_string(status) + " to " + std::to_string(key.value),
                                 [this, key, status] { world_.consumer().reply(key, answer(status).reply); }});
        }
    }
    void add_fault(Deeds& deeds, const char* name, std::function<void()> act) {
        deeds.push_back({std::string("! ") + name, [this, act = std::move(act)] {
                             --faults_left_;
                             act();
                         }});
    }
    void add_faults(Deeds& deeds) {
        auto& broker = world_.broker();
        add_faults_of_links(deeds);
        for (const auto side : {model::Side::work, model::Side::lane}) {
            const model::Source source{first_queue, side};
            if (!broker.channel_open(source)) continue;
            add_fault(deeds, side == model::Side::work ? "the work channel is closed" : "the lane's channel is closed",
                      [&broker, source] { broker.close_source(source, 406, "PRECONDITION_FAILED"); });
        }
        for (const auto key : world_.consumer().working())
            add_fault(deeds, "the consumer breaks off", [this, key] { world_.consumer().reply(key, breaks_off().reply); });
        if (broker.copy_under_way()) add_mischief(deeds);
        add_fault(deeds, "the daemon dies", [this] { die(); });
        if (!draining_) add_fault(deeds, "a drain", [this] { begin_drain(); });
        add_fault(deeds, "time passes all the same", [this] { let_time_pass(); });
    }
    void add_faults_of_links(Deeds& deeds) {
        auto& broker = world_.broker();
        const bool consume = broker.link_up(Link::consume);
        const bool publish = broker.link_up(Link::publish);
        if (consume) add_fault(deeds, "the consume link is cut", [&broker] { broker.cut(Link::consume); });
        if (publish) add_fault(deeds, "the publish link is cut", [&broker] { broker.cut(Link::publish); });
        if (publish && !broker.is_blocked()) add_fault(deeds, "an alarm", [&broker] { broker.block_publishing(true); });
        if (!consume || !publish) return;
        add_fault(deeds, "the broker restarts", [&broker] {
            broker.run(false);
            broker.run(true);
        });
    }
    void add_mischief(Deeds& deeds) {
        static constexpr std::pair<Mischief, const char*> all[] = {
            {Mischief::swallow_confirm, "the next confirm is lost"},
            {Mischief::nack, "the next copy is nacked"},
            {Mischief::nack_but_keep, "the next copy is nacked, but kept"},
            {Mischief::give_back_as_unroutable, "the next copy is returned"}};
        for (const auto& [mischief, name] : all)
            add_fault(deeds, name, [this, mischief = mischief] { world_.broker().next_copy(mischief); });
    }
    void die() {
        draining_ = false;
        world_.crash();
    }
    void begin_drain() {
        draining_ = true;
        world_.drain();
    }
    void start_again() {
        draining_ = false;
        world_.start();
    }
    // Whatever is due at once is late: the first change after that comes before it, if there is one.
    void let_time_pass() {
        const auto before = portrait(world_);
        for (int tries = 0; tries < 20 && portrait(world_) == before; ++tries)
            if (!world_.time().run_nth(world_.time().due_within(at_once))) return;
    }

    World world_{short_ladder()};
    std::uint32_t faults_left_;
    bool draining_ = false;
    std::vector<std::string> trace_;
};

// All runs.
class Search {
public:
    explicit Search(Bounds bounds, std::function<std::unique_ptr<Tamper>()> tamper = {})
        : bounds_(bounds), tamper_(std::move(tamper)) {}

    // The first thing that does not hold; empty: all states hold.
    std::vector<std::string> find_fault() {
        do {
            if (++runs_ % runs_between_reports == 0) report(std::cerr);
            const auto tamper = tamper_ ? tamper_() : nullptr;
            Run run(bounds_, tamper.get());
            auto complaints = follow(run);
            longest_ = std::max(longest_, path_.length());
            if (complaints.empty()) continue;
            for (const auto& step : run.trace()) complaints.push_back("  " + step);
            for (const auto& line : run.log()) complaints.push_back("  " + line);
            return complaints;
        } while (path_.advance());
        return {};
    }
    [[nodiscard]] std::size_t states() const { return seen_.size(); }
    void report(std::ostream& out) const {
        out << "settle model: " << bounds_.messages << " message(s), at most " << bounds_.faults << " fault(s): " << states()
            << " states, " << runs_ << " runs, the longest of " << longest_ << " steps\n";
    }

private:
    std::vector<std::string> follow(Run& run) {
        while (!run.is_over()) {
            if (run.is_too_long()) return {"a trap: it does not come to rest"};
            const auto known = path_.is_known();
            const auto ground = known ? Ground::fresh : ground_of(run);
            if (ground == Ground::trodden) return {};
            if (!known) {
                auto broken = run.broken();
                if (!broken.empty()) return broken;
            }
            const auto deeds = run.deeds();
            run.act(deeds[path_.choose(ground == Ground::own ? 1 : deeds.size())]);
        }
        return run.complaints();
    }
    enum class Ground { fresh, own, trodden };
    // A run may meet its own state again: time has passed in it. What can be done there was offered the first time.
    Ground ground_of(Run& run) {
        const auto [at, is_new] = seen_.try_emplace(std::hash<std::string>{}(run.state()), runs_);
        if (is_new) return Ground::fresh;
        return at->second == runs_ ? Ground::own : Ground::trodden;
    }

    Bounds bounds_;
    std::function<std::unique_ptr<Tamper>()> tamper_;
    Path path_;
    std::unordered_map<std::size_t, std::size_t> seen_;  // states, by the run that was there first
    std::size_t runs_ = 0;
    std::size_t longest_ = 0;
};

std::uint32_t number_in(const char* variable, std::uint32_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
}

// --- defects that must be found

// Acks as soon as the copy was sent.
struct AcksEarly final : Tamper {
    std::vector<ports::PublishKey> published;
    void sent(Link, std::vector<ports::BrokerCommand>& commands) override {
        for (const auto& command : commands)
            if (const auto* copy = std::get_if<ports::PublishCopy>(&command)) published.push_back(copy->key);
    }
    void heard(std::vector<ports::BrokerEvent>& events) override {
        for (const auto key : std::exchange(published, {})) events.insert(events.begin(), ports::Confirmed{key});
    }
};

// Takes a returned copy for a confirmed one.
struct AcksWhatWasReturned final : Tamper {
    void heard(std::vector<ports::BrokerEvent>& events) override {
        for (auto& event : events) {
            const auto* returned = std::get_if<ports::Returned>(&event);
            if (returned != nullptr) event = ports::Confirmed{returned->key};
        }
    }
};

// What was published before the link was lost is not published again.
struct ForgetsToRepublish final : Tamper {
    std::vector<std::string> published;
    bool lost = false;
    void sent(Link, std::vector<ports::BrokerCommand>& commands) override {
        std::erase_if(commands, [this](const ports::BrokerCommand& command) {
            const auto* copy = std::get_if<ports::PublishCopy>(&command);
            if (copy == nullptr) return false;
            const bool again = std::find(published.begin(), published.end(), copy->id) != published.end();
            published.push_back(copy->id);
            return again && lost;
        });
    }
    void heard(std::vector<ports::BrokerEvent>& events) override {
        for (const auto& event : events) {
            const auto* down = std::get_if<ports::LinkDown>(&event);
            lost = lost || (down != nullptr && down->link == Link::publish);
        }
    }
};

// Settles twice what it settles.
struct SettlesTwice final : Tamper {
    void sent(Link link, std::vector<ports::BrokerCommand>& commands) override {
        if (link != Link::consume) return;
        for (std::size_t i = 0, count = commands.size(); i < count; ++i)
            if (std::holds_alternative<ports::Settle>(commands[i])) commands.push_back(commands[i]);
    }
};

template <class Defect>
std::vector<std::string> found_with(Bounds bounds) {
    return Search(bounds, [] { return std::make_unique<Defect>(); }).find_fault();
}

}  // namespace

TEST_CASE("in no state of the settle protocol a message is lost or acked early, and none is a trap") {
    const Bounds wanted{number_in("RETRYD_MODEL_MESSAGES", 0), number_in("RETRYD_MODEL_FAULTS", 0)};
    const auto bounds = wanted.messages > 0 ? std::vector{wanted} : std::vector<Bounds>{{1, 1}, {2, 0}};
    for (const auto& each : bounds) {
        Search search(each);
        CHECK(search.find_fault() == std::vector<std::string>{});
        search.report(std::cout);
    }
}

TEST_CASE("an early ack, an ack for what was returned, a copy that is forgotten and a second ack are found") {
    CHECK_FALSE(found_with<AcksEarly>({1, 1}).empty());
    CHECK_FALSE(found_with<AcksWhatWasReturned>({1, 1}).empty());
    CHECK_FALSE(found_with<ForgetsToRepublish>({1, 1}).empty());
    CHECK_FALSE(found_with<SettlesTwice>({1, 0}).empty());
}
