// The stage on RabbitMQ: the links under test, and a connection of the outside world, blocking and plain.
// RETRYD_TEST_AMQP says where the broker is; without it every case fails.

#include "amqp/library.hpp"
#include "amqp/links.hpp"
#include "contract/real_address.hpp"
#include "contract/stage.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <utility>

namespace retryd::contract {

namespace asio = boost::asio;
using amqp::lend;

namespace {

constexpr std::chrono::seconds patience{30};
constexpr std::chrono::milliseconds look_again{20};  // for what only the outside can tell

// What a producer or an operator does, one blocking call at a time. Each on a channel of its own, so that a refusal
// harms nothing.
class Outside {
public:
    explicit Outside(const model::BrokerAddress& address) : connection_(amqp_new_connection()) {
        amqp_socket_t* socket = amqp_tcp_socket_new(connection_);
        if (amqp_socket_open(socket, address.host.c_str(), address.port) != AMQP_STATUS_OK)
            throw std::runtime_error{"no broker"};
        demand(amqp_login(connection_, address.vhost.c_str(), 0, 131072, 0, AMQP_SASL_METHOD_PLAIN, address.user.c_str(),
                          address.password.c_str()));
    }
    ~Outside() { amqp_destroy_connection(connection_); }
    Outside(const Outside&) = delete;
    Outside& operator=(const Outside&) = delete;

    void make_queue(const std::string& name, model::QueueType type) {
        amqp_table_entry_t entry{};
        entry.key = amqp_cstring_bytes("x-queue-type");
        entry.value.kind = AMQP_FIELD_KIND_UTF8;
        entry.value.value.bytes = lend(type == model::QueueType::quorum ? "quorum" : "classic");
        on_a_channel([&] { amqp_queue_declare(connection_, channel, lend(name), 0, 1, 0, 0, {1, &entry}); });
        demand(last_);
    }
    void delete_queue(const std::string& name) {
        on_a_channel([&] { amqp_queue_delete(connection_, channel, lend(name), 0, 0); });
    }
    void put(const std::string& queue, const model::Message& message) {
        amqp_pool_t pool;
        init_amqp_pool(&pool, 4096);
        void* properties = nullptr;
        int status = amqp_decode_properties(AMQP_BASIC_CLASS, &pool, lend(message.properties), &properties);
        on_a_channel([&] {
            if (status != AMQP_STATUS_OK) return;
            status = amqp_basic_publish(connection_, channel, amqp_empty_bytes, lend(queue), 0, 0,
                                        static_cast<const amqp_basic_properties_t*>(properties), lend(message.body));
            amqp_queue_declare(connection_, channel, lend(queue), 1, 0, 0, 0, amqp_empty_table);  // it has gone through
        });
        empty_amqp_pool(&pool);
        if (status != AMQP_STATUS_OK) throw std::runtime_error{amqp_error_string2(status)};
    }
    std::optional<std::uint32_t> ready(const std::string& queue) {
        std::optional<std::uint32_t> count;
        on_a_channel([&] {
            const auto* answer = amqp_queue_declare(connection_, channel, lend(queue), 1, 0, 0, 0, amqp_empty_table);
            if (answer != nullptr) count = answer->message_count;
        });
        return count;
    }

private:
    static constexpr amqp_channel_t channel = 1;

    static void demand(const amqp_rpc_reply_t& reply) {
        if (reply.reply_type != AMQP_RESPONSE_NORMAL) throw std::runtime_error{"the broker refused what the case needs"};
    }
    template <class Call>
    void on_a_channel(Call call) {
        amqp_channel_open(connection_, channel);
        call();
        last_ = amqp_get_rpc_reply(connection_);
        if (last_.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION) {
            amqp_channel_close_ok_t accepted{};
            amqp_send_method(connection_, channel, AMQP_CHANNEL_CLOSE_OK_METHOD, &accepted);
        } else {
            const amqp_rpc_reply_t answer = last_;
            amqp_channel_close(connection_, channel, AMQP_REPLY_SUCCESS);
            last_ = answer;
        }
        amqp_maybe_release_buffers(connection_);
    }

    amqp_connection_state_t connection_;
    amqp_rpc_reply_t last_{};
};

class RealStage : public Stage, public ports::Inbox {
public:
    RealStage() {
        policy_ = policy_from_environment();
        outside_ = std::make_unique<Outside>(address_from_environment());
        links_ = std::make_unique<amqp::Links>(policy_, main_, *this, amqp::Introduction{"retryd contract", RETRYD_VERSION});
    }
    ~RealStage() override {
        links_.reset();
        for (const std::string& name : names_) outside_->delete_queue(name);
    }
    RealStage(const RealStage&) = delete;
    RealStage& operator=(const RealStage&) = delete;

    ports::Broker& broker() override { return *links_; }
    [[nodiscard]] const std::vector<ports::BrokerEvent>& events() const override { return events_; }
    [[nodiscard]] bool run_until(const std::function<bool()>& done) override {
        const auto end = std::chrono::steady_clock::now() + patience;
        while (!done()) {
            if (std::chrono::steady_clock::now() > end) return false;
            main_.run_one_for(look_again);
        }
        return true;
    }

    model::QueueName fresh_name(const std::string& hint) override {
        names_.push_back("contract." + hint + "." + std::to_string(::getpid()) + "." + std::to_string(++names_given_));
        return {names_.back()};
    }
    void make_queue(const model::QueueName& queue, model::QueueType type) override { outside_->make_queue(queue.value, type); }
    void delete_queue(const model::QueueName& queue) override { outside_->delete_queue(queue.value); }
    void put(const model::QueueName& queue, const model::Message& message) override { outside_->put(queue.value, message); }
    [[nodiscard]] std::optional<std::uint32_t> ready(const model::QueueName& queue) override {
        return outside_->ready(queue.value);
    }

private:
    void broker_events(std::vector<ports::BrokerEvent>& events) override {
        for (auto& event : events) events_.push_back(std::move(event));
        events.clear();
    }
    void replied(model::DeliveryKey, model::Reply&&) override {}
    void probed(model::QueueId, const std::string&) override {}

    static inline int names_given_ = 0;

    model::BrokerPolicy policy_;
    asio::io_context main_{1};
    asio::executor_work_guard<asio::io_context::executor_type> busy_ = asio::make_work_guard(main_);
    std::vector<ports::BrokerEvent> events_;
    std::vector<std::string> names_;
    std::unique_ptr<Outside> outside_;
    std::unique_ptr<amqp::Links> links_;
};

}  // namespace

std::unique_ptr<Stage> make_stage() {
    return std::make_unique<RealStage>();
}

}  // namespace retryd::contract
