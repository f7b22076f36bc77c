// The limit of retrying: moves every message to one of several delay queues in turn, confirmed, acks it, and takes it from
// the queue to which it comes back. What retryd does for a message that fails once, without anything that it decides.
//
// bench_ladder --amqp URI --queue WORK --delays Q,Q --lane LANE --count N --prefetch P --batch B [--watch PIDS] [--records FILE]
//
// The records are the spans from the publish to a delay queue to the arrival from the lane.

#include "programs/bare_amqp.hpp"
#include "programs/stamp.hpp"
#include "programs/tally.hpp"

#include <poll.h>

#include <array>
#include <thread>

namespace {

using namespace retryd::bench;

// Moves messages out of the work queue. Tags and publishes are both counted 1, 2, 3 …, so the same number means the same
// message, and what is confirmed up to a number can be acked up to it.
class Mover {
public:
    Mover(const Options& options)
        : in_(options.text("amqp")),
          out_(options.text("amqp")),
          delays_(options.list("delays")),
          left_(options.number("count")),
          prefetch_(options.number("prefetch")) {
        out_.confirm_publishes();
        in_.consume(options.text("queue"), prefetch_);
    }

    void run(Tally& tally) {
        while (left_ > 0 || out_.unconfirmed().count() > 0) {
            const bool moved = move_what_is_there(tally);
            const bool confirmed = out_.take_confirms();
            ack_what_is_confirmed();
            if (!moved && !confirmed) wait();
        }
    }

private:
    bool move_what_is_there(Tally& tally) {
        bool any = false;
        while (left_ > 0 && out_.unconfirmed().count() < prefetch_) {
            const auto message = in_.next_if_there();
            if (!message) break;
            tally.began();
            body_ = message->body();
            write_stamp(body_, {read_stamp(body_).number, steady_now()});
            out_.publish(delays_[left_ % delays_.size()], message->properties(), body_);
            --left_;
            any = true;
        }
        return any;
    }

    void ack_what_is_confirmed() {
        const auto confirmed = out_.unconfirmed().all_up_to();
        if (confirmed > acked_) in_.ack_up_to(acked_ = confirmed);
    }

    void wait() {
        std::array<pollfd, 2> both{{{in_.descriptor(), POLLIN, 0}, {out_.descriptor(), POLLIN, 0}}};
        (void)::poll(both.data(), both.size(), -1);
    }

    BareAmqp in_, out_;
    std::vector<std::string> delays_;
    std::uint64_t left_;
    std::uint64_t prefetch_;
    std::uint64_t acked_ = 0;
    std::string body_;
};

void take_what_comes_back(BareAmqp& lane, std::uint64_t batch, Tally& tally) {
    for (std::uint64_t unacked = 0; !tally.complete();) {
        const auto message = lane.next();
        const auto stamp = read_stamp(message.body());
        tally.note(stamp.number, message.body().size(), steady_now() - stamp.sent);
        if (++unacked < batch && !tally.complete()) continue;
        lane.ack_up_to(message.tag());
        unacked = 0;
    }
}

}  // namespace

int main(int count, char** words) {
    const Options options(count, words);
    Tally tally(options);
    BareAmqp lane(options.text("amqp"));
    lane.consume(options.text("lane"), options.number("prefetch"));
    std::thread coming_back([&] { take_what_comes_back(lane, options.number("batch"), tally); });
    Mover(options).run(tally);
    coming_back.join();
    tally.print();
}
