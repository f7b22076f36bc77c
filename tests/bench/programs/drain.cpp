// The limit of consuming: takes messages as fast as they come and acks them in batches. With --batch 1 it is what a careful
// consumer written directly against the broker is; its records are then the spans from publish to arrival.
//
// bench_drain --amqp URI --queue Q --count N --prefetch P --batch B [--watch PIDS] [--records FILE]

#include "programs/bare_amqp.hpp"
#include "programs/stamp.hpp"
#include "programs/tally.hpp"

int main(int count, char** words) {
    using namespace retryd::bench;
    const Options options(count, words);
    const auto batch = options.number("batch");
    Tally tally(options);
    BareAmqp broker(options.text("amqp"));
    broker.consume(options.text("queue"), options.number("prefetch"));
    for (std::uint64_t unacked = 0; !tally.complete();) {
        const auto message = broker.next();
        tally.began();
        const auto stamp = read_stamp(message.body());
        tally.note(stamp.number, message.body().size(), steady_now() - stamp.sent);
        if (++unacked < batch && !tally.complete()) continue;
        broker.ack_up_to(message.tag());
        unacked = 0;
    }
    tally.print();
}
