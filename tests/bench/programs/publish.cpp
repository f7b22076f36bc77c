// Publishes persistent messages, confirmed, to one queue, or to several in turn, each number to all of them. Without --rate
// as fast as the broker confirms.
//
// bench_publish --amqp URI --queues Q,Q --count N --size BYTES [--rate MESSAGES A SECOND] [--first NUMBER OF THE FIRST]

#include "programs/bare_amqp.hpp"
#include "programs/options.hpp"
#include "programs/stamp.hpp"

#include <algorithm>
#include <thread>

namespace {

using namespace retryd::bench;

constexpr std::size_t window = 1000;  // publishes without a confirm

amqp_basic_properties_t usual_properties() {
    amqp_basic_properties_t properties{};
    properties._flags = AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_CONTENT_TYPE_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG;
    properties.delivery_mode = AMQP_DELIVERY_PERSISTENT;
    properties.content_type = retryd::amqp::lend("application/octet-stream");
    return properties;
}

class Publisher {
public:
    explicit Publisher(const Options& options)
        : broker_(options.text("amqp")),
          queues_(options.list("queues")),
          body_(std::max(options.number("size"), std::uint64_t{smallest_body}), 'x') {
        broker_.confirm_publishes();
    }

    void publish(std::uint64_t number, std::size_t queue) {
        const auto id = "m-" + std::to_string(number);
        properties_.message_id = retryd::amqp::lend(id);
        write_stamp(body_, {number, steady_now()});
        broker_.publish(queues_[queue], properties_, body_);
        while (broker_.unconfirmed().count() >= window) broker_.wait_for_confirms();
    }
    void look_for_confirms() { (void)broker_.take_confirms(); }
    void finish() {
        while (broker_.unconfirmed().count() > 0) broker_.wait_for_confirms();
    }
    [[nodiscard]] std::size_t queues() const { return queues_.size(); }

private:
    BareAmqp broker_;
    std::vector<std::string> queues_;
    std::string body_;
    amqp_basic_properties_t properties_ = usual_properties();
};

std::chrono::nanoseconds pause_between(const Options& options) {
    constexpr std::chrono::nanoseconds second = std::chrono::seconds(1);
    if (!options.has("rate")) return {};
    return second / static_cast<std::int64_t>(options.number("rate"));
}

}  // namespace

int main(int count, char** words) {
    const Options options(count, words);
    const auto messages = options.number("count");
    const auto first = options.number("first", 0);
    const auto pause = pause_between(options);
    Publisher publisher(options);
    auto due = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < messages; ++i, due += pause) {
        if (pause.count() > 0) {
            publisher.look_for_confirms();
            std::this_thread::sleep_until(due);
        }
        publisher.publish(first + i / publisher.queues(), i % publisher.queues());
    }
    publisher.finish();
}
