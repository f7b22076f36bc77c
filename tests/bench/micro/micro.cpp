// Micro-benchmarks of what is done for each message: `build/release/bin/bench_micro`, with the options of Google Benchmark.

#include "deliver/http_request.hpp"
#include "deliver/stream_message.hpp"
#include "deliver/stream_ops.hpp"
#include "model/header_table.hpp"
#include "model/ledger.hpp"
#include "model/properties.hpp"
#include "rig/rig.hpp"

#include <benchmark/benchmark.h>

#include <memory>
#include <string>

namespace {

using namespace retryd;
using bench::Rig;
using bench::Transport;

constexpr std::uint32_t batch = 64;

// --- the core step: the engine with nothing round it, then with the codec of a transport

void succeed(benchmark::State& state, Transport transport) {
    Rig rig(transport);
    for (auto _ : state) rig.succeed(batch);
    state.SetItemsProcessed(state.iterations() * batch);
}
BENCHMARK_CAPTURE(succeed, engine_alone, Transport::none);
BENCHMARK_CAPTURE(succeed, stream, Transport::stream);
BENCHMARK_CAPTURE(succeed, http, Transport::http);

void fail_once(benchmark::State& state, Transport transport) {
    Rig rig(transport);
    for (auto _ : state) rig.fail_once(batch);
    state.SetItemsProcessed(state.iterations() * batch);
}
BENCHMARK_CAPTURE(fail_once, engine_alone, Transport::none);
BENCHMARK_CAPTURE(fail_once, stream, Transport::stream);

// --- the header table and the record in it

std::string usual_table() {
    model::TableWriter table;
    table.add_string("tenant", "blue");
    table.add_string("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    for (const auto* name : {"shard", "schema", "size"}) table.add_long(name, 123456789);
    return table.bytes();
}

std::string usual_properties(const std::string& table) {
    model::Properties properties;
    properties.content_type = "application/json";
    properties.delivery_mode = 2;
    properties.message_id = "order-4711";
    properties.headers = table;
    return model::write_properties(properties);
}

model::Message usual_message() {
    return {usual_properties(usual_table()), std::string(1024, 'x')};
}

model::Record record_of(const model::Message& message, model::Side side) {
    return model::read_record(message, {"orders", "order.placed", false}, side, model::WallTime{}).value();
}

model::QueuePolicy usual_queue() {
    model::QueuePolicy queue;
    queue.name = {"orders"};
    queue.lane = {"retryd.orders.lane"};
    queue.deliver.http = {"localhost", "/run/app/app.sock", {}, 0, "/orders", false};
    return queue;
}

std::string copy_of(const model::Message& message) {
    model::LedgerEntry entry;
    entry.ledger.attempts = entry.ledger.retries = 1;
    entry.ledger.first_failed = entry.ledger.last_failed = model::WallTime{};
    entry.outcome = model::Outcome::transient;
    entry.error_type = "DbTimeout";
    entry.error_message = "no answer from 10.0.0.7 within 3000 ms";
    const auto record = record_of(message, model::Side::work);
    return model::write_copy(record, entry, usual_queue(), "host", model::RecordSize::full);
}

void read_table(benchmark::State& state) {
    const auto table = usual_table();
    for (auto _ : state) benchmark::DoNotOptimize(model::read_table(table));
}
BENCHMARK(read_table);

void write_table(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(usual_table());
}
BENCHMARK(write_table);

void read_record(benchmark::State& state) {
    const auto message = usual_message();
    for (auto _ : state) benchmark::DoNotOptimize(record_of(message, model::Side::work));
}
BENCHMARK(read_record);

void read_record_of_a_copy(benchmark::State& state) {
    const model::Message copy{copy_of(usual_message()), {}};
    for (auto _ : state) benchmark::DoNotOptimize(record_of(copy, model::Side::lane));
}
BENCHMARK(read_record_of_a_copy);

void write_copy(benchmark::State& state) {
    const auto message = usual_message();
    for (auto _ : state) benchmark::DoNotOptimize(copy_of(message));
}
BENCHMARK(write_copy);

// --- what is said to the consumer, and what it says

ports::Delivery usual_delivery() {
    ports::Delivery delivery;
    delivery.message = std::make_shared<const model::Message>(usual_message());
    delivery.shown = delivery.message->properties;
    delivery.exchange = "orders";
    delivery.routing_key = "order.placed";
    delivery.idempotency_key = "order-4711";
    delivery.max_attempts = 9;
    delivery.deadline = model::WallTime{std::chrono::milliseconds{1'764'522'309'120}};
    return delivery;
}

void stream_message(benchmark::State& state) {
    const auto delivery = usual_delivery();
    const model::QueueName queue{"orders"};
    for (auto _ : state) benchmark::DoNotOptimize(deliver::message_frame(delivery, 17, queue));
}
BENCHMARK(stream_message);

void stream_reply(benchmark::State& state) {
    for (auto _ : state) {
        benchmark::DoNotOptimize(deliver::read_op(R"({"op":"reply","id":17,"outcome":"success","credit":1})"));
    }
}
BENCHMARK(stream_reply);

void http_request(benchmark::State& state) {
    const auto delivery = usual_delivery();
    const auto queue = usual_queue();
    for (auto _ : state) benchmark::DoNotOptimize(deliver::request_head(delivery, queue));
}
BENCHMARK(http_request);

}  // namespace

BENCHMARK_MAIN();
