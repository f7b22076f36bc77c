#include "sim/audit.hpp"

#include <algorithm>
#include <charconv>

namespace retryd::sim {

namespace {

constexpr std::size_t complaints_kept = 50;

bool is_done(const model::Reply& reply) {
    if (reply.stated) return *reply.stated == model::Outcome::success || *reply.stated == model::Outcome::drop;
    return reply.status >= 200 && reply.status < 300;
}

}  // namespace

std::uint64_t number_of(const model::Message& message) {
    std::uint64_t number = 0;
    std::from_chars(message.body.data(), message.body.data() + message.body.size(), number);
    return number;
}

bool spends_attempt(const model::Reply& reply) {
    if (reply.kind != model::Reply::Kind::answered || is_done(reply)) return false;
    if (reply.stated) return *reply.stated == model::Outcome::transient || *reply.stated == model::Outcome::permanent;
    const bool throttled = reply.status == 429 || (reply.status == 503 && reply.retry_after);
    const bool endpoint =
        reply.status < 400 || reply.status == 401 || reply.status == 403 || reply.status == 405 || reply.status == 407;
    return !throttled && !endpoint;
}

Audit::Audit(const model::Policy& policy) {
    for (const auto& queue : policy.queues) {
        lots_.merge(model::lots_of(queue));
        work_queues_.insert(queue.name);
    }
}

std::uint64_t Audit::enlist(Fate fate) {
    lives_.emplace_back().fate = std::move(fate);
    return lives_.size();
}

std::string Audit::body(std::uint64_t number, std::size_t size) {
    auto body = std::to_string(number) + " ";
    if (body.size() < size) body.resize(size, '.');
    return body;
}

Answer Audit::judge(const ports::Delivery& delivery) {
    const auto& life = life_of(*delivery.message);
    return life.fate ? life.fate(delivery.attempt, life.calls) : answer(200);
}

Audit::Life& Audit::life_of(const model::Message& message) {
    const auto number = number_of(message);
    if (number >= 1 && number <= lives_.size()) return lives_[number - 1];
    stranger_ = {};
    stranger_.paid = 1;
    return stranger_;
}

void Audit::settling(const model::Message& message, bool ack) {
    auto& life = life_of(message);
    if (!ack) life.spent_least = 0;  // given back at the end of a drain: what this stay has spent is forgotten
    if (ack && life.paid <= life.acks) complain(number_of(message), "acked before its success or its copy's confirm");
}

void Audit::acked(const model::Message& message) {
    ++life_of(message).acks;
}

void Audit::stored_copy(const model::Message& message) {
    ++life_of(message).copies;
}

void Audit::confirmed(const model::Message& message) {
    ++life_of(message).paid;
}

void Audit::may_repeat(const model::Message& message) {
    life_of(message).may_repeat = true;
}

void Audit::gone(const model::Message& message, std::string_view why) {
    life_of(message).gone = why;
}

void Audit::handed(const ports::Delivery& delivery) {
    auto& life = life_of(*delivery.message);
    const auto number = number_of(*delivery.message);
    ++life.calls;
    if (delivery.attempt > delivery.max_attempts || (max_attempts_ && delivery.max_attempts != *max_attempts_))
        complain(number, "attempt " + std::to_string(delivery.attempt) + " of " + std::to_string(delivery.max_attempts));
    if (life.may_repeat) return;
    if (delivery.attempt < 1 + life.spent_least || delivery.attempt > 1 + life.spent_most)
        complain(number, "told attempt " + std::to_string(delivery.attempt) + " after " + std::to_string(life.spent_least) +
                             " failures");
    if (life.successes > 0) complain(number, "delivered again after its success, and no fault explains it");
}

void Audit::processed(const model::Message& message, const model::Reply& reply) {
    if (is_done(reply)) ++life_of(message).successes;
}

void Audit::replied(const model::Message& message, const model::Reply& reply) {
    auto& life = life_of(message);
    if (reply.kind == model::Reply::Kind::lost) ++life.spent_most;
    if (reply.kind != model::Reply::Kind::answered) return;
    if (is_done(reply)) ++life.paid;
    if (!spends_attempt(reply)) return;
    if (all_are_charged_) ++life.spent_least;
    ++life.spent_most;
}

void Audit::wrong(std::string_view what) {
    if (seen_.size() < complaints_kept) seen_.emplace_back(what);
}

void Audit::complain(std::uint64_t number, const std::string& what) {
    wrong("message " + std::to_string(number) + ": " + what);
}

std::vector<std::size_t> Audit::count_places(const ModelBroker& broker) const {
    std::vector<std::size_t> places(lives_.size());
    broker.each_message([&](const model::QueueName&, const Stored& stored) {
        const auto number = number_of(*stored.message);
        if (number >= 1 && number <= places.size()) ++places[number - 1];
    });
    return places;
}

std::vector<std::string> Audit::broken(const ModelBroker& broker) const {
    auto out = seen_;
    const auto places = count_places(broker);
    for (std::size_t i = 0; i < lives_.size(); ++i)
        if (places[i] + lives_[i].successes == 0) out.push_back("message " + std::to_string(i + 1) + ": lost");
    return out;
}

std::vector<std::string> Audit::complaints(const ModelBroker& broker) const {
    auto out = seen_;
    const auto places = count_places(broker);
    broker.each_message([&](const model::QueueName& queue, const Stored& stored) {
        const auto number = number_of(*stored.message);
        const bool followed = number >= 1 && number <= lives_.size();
        if (followed && !work_queues_.contains(queue)) check_copy(queue, stored, out);
    });
    for (std::size_t i = 0; i < lives_.size(); ++i) check_life(i + 1, lives_[i], places[i], out);
    return out;
}

void Audit::check_life(std::uint64_t number, const Life& life, std::size_t places, std::vector<std::string>& out) const {
    const auto complain = [&](const std::string& what) {
        if (out.size() < complaints_kept) out.push_back("message " + std::to_string(number) + ": " + what);
    };
    if (places + life.successes == 0 && !life.gone) complain("lost");
    if (places + life.successes > 1 && !life.may_repeat)
        complain("in " + std::to_string(places) + " places, after " + std::to_string(life.successes) + " successes");
}

void Audit::check_copy(const model::QueueName& queue, const Stored& stored, std::vector<std::string>& out) const {
    const auto number = number_of(*stored.message);
    const auto& life = lives_[number - 1];
    const auto record = model::read_record(*stored.message, stored.arrival, model::Side::lane, {});
    if (!record) return out.push_back("message " + std::to_string(number) + ": its copy cannot be read");
    const auto attempts = record->ledger.attempts;
    if (life.may_repeat || (attempts >= life.spent_least && attempts <= life.spent_most)) return;
    out.push_back("message " + std::to_string(number) + ": its copy in " + queue.value + " carries " +
                  std::to_string(attempts) + " attempts after " + std::to_string(life.spent_least) + " failures");
}

std::size_t Audit::succeeded() const {
    return static_cast<std::size_t>(
        std::count_if(lives_.begin(), lives_.end(), [](const auto& life) { return life.successes > 0; }));
}

std::size_t Audit::calls() const {
    std::size_t calls = 0;
    for (const auto& life : lives_) calls += life.calls;
    return calls;
}

std::uint32_t Audit::calls(std::uint64_t number) const {
    return lives_.at(number - 1).calls;
}

std::uint32_t Audit::copies(std::uint64_t number) const {
    return lives_.at(number - 1).copies;
}

std::size_t Audit::duplicates() const {
    std::size_t extra = 0;
    for (const auto& life : lives_) extra += life.successes > 1 ? life.successes - 1 : 0;
    return extra;
}

}  // namespace retryd::sim
