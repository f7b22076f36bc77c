#include "admin/why.hpp"

#include <boost/json.hpp>
#include <catch2/catch.hpp>

#include <chrono>

using namespace retryd;
using namespace retryd::admin;
using namespace std::chrono_literals;
using model::DecisionView;
using model::InHandView;

namespace {

const model::WallTime now{1'764'558'000s};  // 2025-12-01 03:00:00Z

DecisionView retried() {
    return {.at = now - 1s,
            .queue = {"orders"},
            .kind = DecisionView::Kind::retry,
            .outcome = model::Outcome::transient,
            .reason = {},
            .attempts = 3,
            .wait = 4s,
            .place = {"retryd.orders.delay.4000ms"},
            .error = "DbTimeout: no answer"};
}

model::WhyView story(std::vector<DecisionView> decisions) {
    model::WhyView view;
    view.at = now;
    view.id = "m-17";
    view.decisions = std::move(decisions);
    view.remembered = 12;
    view.oldest = now - 1h;
    view.lots = {{"retryd.orders.parked"}, {"retryd.orders.dlq"}};
    return view;
}

InHandView in_hand(InHandView::State state) {
    return {.queue = {"orders"},
            .state = state,
            .attempt = 2,
            .max_attempts = 9,
            .lasting = 3s,
            .left = 8s,
            .place = {"retryd.orders.dlq"},
            .suspect = false};
}

}  // namespace

TEST_CASE("a message that waits is told with its queue, its time and its reason") {
    CHECK(to_text(story({retried()})) ==
          "It waits in retryd.orders.delay.4000ms until 2025-12-01 03:00:03Z (3 s more); then it comes back\n"
          "through the return lane of orders.\n"
          "\n"
          "  2025-12-01 02:59:59Z  transient (DbTimeout: no answer): sent to wait 4 s in\n"
          "    retryd.orders.delay.4000ms; 3 attempts had failed.\n");
}

TEST_CASE("a suspect is told as one") {
    auto held = in_hand(InHandView::State::ready);
    held.suspect = true;
    auto view = story({retried()});
    view.in_hand = {held};
    view.decisions[0].kind = DecisionView::Kind::trial;
    view.decisions[0].outcome.reset();
    view.decisions[0].place = {"retryd.orders.lane"};
    const auto told = sentences(view);
    CHECK(told[0].find("for its turn apart from others: it is suspected of taking its consumer down.") != std::string::npos);
    CHECK(told[1].find("sent to retryd.orders.lane to be delivered alone") != std::string::npos);
}

TEST_CASE("where it lies goes by the last decision") {
    struct Row {
        DecisionView::Kind kind;
        model::Milliseconds ago;
        std::string_view place, expected;
    };
    const auto row = GENERATE(Row{DecisionView::Kind::retry, 10s, "t", "Its wait in t ended at 2025-12-01 02:59:54Z"},
                              Row{DecisionView::Kind::hold, 1s, "h", "It waits in h until 2025-12-01 03:00:03Z"},
                              Row{DecisionView::Kind::lane, 1s, "lane", "It lies in lane, or another retryd has taken it."},
                              Row{DecisionView::Kind::trial, 1s, "lane", "It lies in lane, or another retryd has taken it."},
                              Row{DecisionView::Kind::lot, 1s, "p", "It lies in p until somebody takes it out."},
                              Row{DecisionView::Kind::lot, 1s, "p", "rabbitmqadmin get queue=p count=100"},
                              Row{DecisionView::Kind::done, 1s, "", "It is done"});
    DecisionView last = retried();
    last.kind = row.kind;
    last.at = now - row.ago;
    last.place.value = row.place;
    CHECK(sentences(story({last, retried()})).front().find(row.expected) != std::string::npos);
}

TEST_CASE("a message in hand is told by what happens to it") {
    struct Row {
        InHandView::State state;
        std::string_view expected;
    };
    const auto row = GENERATE(
        Row{InHandView::State::ready, "ready for attempt 2 of 9, and has waited 3 s for a free slot"},
        Row{InHandView::State::waiting, "it waits for attempt 2 of 9, which comes in 8 s."},
        Row{InHandView::State::at_consumer, "it has been at the consumer for 3 s (attempt 2 of 9). retryd waits 8 s more"},
        Row{InHandView::State::copying, "its copy is on its way to retryd.orders.dlq since 3 s"});
    model::WhyView view = story({retried()});
    view.in_hand = {in_hand(row.state)};
    const auto told = sentences(view);
    REQUIRE(told.size() == 2);
    CHECK(told[0].find(row.expected) != std::string::npos);
}

TEST_CASE("of a message that nobody knows it says where to look") {
    const auto told = sentences(story({}));
    REQUIRE(told.size() == 3);
    CHECK(told[0] ==
          "retryd knows nothing of m-17: it is not in hand, and not among the last 12 decisions, since 2025-12-01 02:00:00Z.");
    CHECK(told[1].find("RabbitMQ can't be asked for one message.") != std::string::npos);
    CHECK(told[2].find("queue=LOT. The lots: retryd.orders.parked, retryd.orders.dlq.") != std::string::npos);
}

TEST_CASE("the JSON has the same as values, and the text") {
    model::WhyView view = story({retried()});
    view.in_hand = {in_hand(InHandView::State::at_consumer)};
    const auto value = boost::json::parse(to_json(view));
    CHECK(value.at("in_hand").at(0).at("state").as_string() == "at-consumer");
    CHECK(value.at("in_hand").at(0).at("left_ms").as_int64() == 8000);
    CHECK(value.at("decisions").at(0).at("kind").as_string() == "retry");
    CHECK(value.at("decisions").at(0).at("wait_ms").as_int64() == 4000);
    CHECK(value.at("decisions").at(0).at("error").as_string() == "DbTimeout: no answer");
    CHECK(value.at("text").as_string() == to_text(view));
}

TEST_CASE("of an id that many messages have it says how much is left out") {
    model::WhyView view = story({retried()});
    view.left_out = 9'900;
    CHECK(to_text(view).find("9900 older entries are left out") != std::string::npos);
    CHECK(boost::json::parse(to_json(view)).at("left_out").as_int64() == 9'900);
}

TEST_CASE("hostile texts stay inside their sentence") {
    DecisionView last = retried();
    last.error = "x\nIt is done.\x1b[2J";
    model::WhyView view = story({last});
    view.id = "a\nb";
    for (const auto& sentence : sentences(view)) CHECK(sentence.find_first_of("\n\x1b") == std::string::npos);
    CHECK(sentences(story({})).size() == 3);
    view.decisions.clear();
    CHECK(sentences(view)[0].find('\n') == std::string::npos);
}
