#include "app/retryctl_ask.hpp"

#include "admin/query.hpp"
#include "admin/status_json.hpp"
#include "admin/status_text.hpp"
#include "admin/wording.hpp"

#include <boost/json.hpp>

#include <chrono>
#include <iostream>
#include <string>
#include <thread>

namespace retryd::app {

namespace {

using model::Problem;
using model::ProblemCode;
using model::Result;
using std::chrono::steady_clock;

constexpr model::Milliseconds patience{5000};
constexpr model::Milliseconds look_again{200};

std::string hint_for(ProblemCode code) {
    return code == ProblemCode::refused ? "run retryctl as root or as a member of the socket's group"
                                        : "look whether retryd runs, and say where it listens with --admin unix:PATH";
}

// What retryd says where it does not answer with `wanted`: its own sentence.
Problem unexpected(const admin::AdminAddress& address, const admin::Answer& answer) {
    std::string said = answer.body.substr(0, answer.body.find('\n'));
    if (answer.status == 401) said = address.token.empty() ? "it asks for a token" : "it does not know this token";
    const std::string hint = answer.status == 401 ? "name the file of the policy's admin.token_file with --token-file" : "";
    const bool told = answer.status == 400 || answer.status == 401 || answer.status == 404;  // the sentence is enough
    const std::string number = told ? "" : "it answered " + std::to_string(answer.status) + ": ";
    return {ProblemCode::unavailable, admin::to_text(address), number + said, hint};
}

Result<admin::Answer> understood(const admin::AdminAddress& address, Result<admin::Answer> answer, unsigned wanted) {
    if (!answer) {
        auto problem = answer.error();
        problem.what = "cannot reach retryd: " + problem.what;
        if (problem.hint.empty()) problem.hint = hint_for(problem.code);
        return problem;
    }
    if (answer->status != wanted) return unexpected(address, *answer);
    return answer;
}

struct Left {
    std::uint32_t in_hand = 0;
    std::uint32_t in_flight = 0;
};
Left left_in(const model::StatusView& status) {
    Left left;
    for (const auto& queue : status.queues) {
        left.in_hand += queue.in_hand;
        left.in_flight += queue.in_flight;
    }
    return left;
}

std::string messages(std::uint32_t count) {
    return std::to_string(count) + (count == 1 ? " message is" : " messages are");
}

int tell_drained(const std::string& answer, bool as_json) {
    std::cout << (as_json ? answer : "drained: nothing is in hand, and retryd takes nothing new until it is started again\n");
    return exit_fine;
}

int tell_undrained(const std::string& answer, const model::StatusView& status, const RetryctlOptions& options) {
    if (options.json) std::cout << answer;
    const auto left = left_in(status);
    std::cerr << "retryctl: " << admin::span_text(options.wait) << " have passed and " << messages(left.in_hand)
              << " still in hand, " << left.in_flight << " of them at a consumer; retryd goes on draining\n";
    return exit_failed;
}

// An answer that comes with its text, ready to be printed.
int show_text(const admin::AdminAddress& address, Result<admin::Answer> given, const RetryctlOptions& options) {
    const auto answer = understood(address, std::move(given), 200);
    if (!answer) return complain(answer.error(), exit_failed);
    if (options.json) {
        std::cout << answer->body;
        return exit_fine;
    }
    boost::system::error_code error;
    const auto value = boost::json::parse(answer->body, error);
    const auto* const text = error || !value.is_object() ? nullptr : value.as_object().if_contains("text");
    if (text == nullptr || !text->is_string()) {
        return complain({ProblemCode::bad_syntax, admin::to_text(address), "the answer has no text",
                         "use the retryctl of the daemon's version"},
                        exit_failed);
    }
    std::cout << text->as_string().c_str();
    return exit_fine;
}

int show(const admin::AdminAddress& address, const std::string& target, const RetryctlOptions& options) {
    return show_text(address, admin::get(address, target, patience), options);
}

}  // namespace

int complain(const Problem& problem, int exit_code) {
    std::cerr << "retryctl: " << model::to_text(problem) << '\n';
    return exit_code;
}

Result<admin::Answer> ask_status(const admin::AdminAddress& address) {
    return understood(address, admin::get(address, "/status", patience), 200);
}

int why_not(const admin::AdminAddress& address, const RetryctlOptions& options) {
    return show(address, "/why-not?queue=" + admin::encoded(options.argument), options);
}

int why(const admin::AdminAddress& address, const RetryctlOptions& options) {
    return show(address, "/why?id=" + admin::encoded(options.argument), options);
}

int show_breakers(const admin::AdminAddress& address, const RetryctlOptions& options) {
    return show(address, "/breakers", options);
}

int order_breaker(const admin::AdminAddress& address, const RetryctlOptions& options) {
    auto target = "/breaker?name=" + admin::encoded(options.argument) + "&act=" + options.act;
    if (options.lasting) target += "&for_ms=" + std::to_string(options.lasting->count());
    return show_text(address, admin::post(address, target, patience), options);
}

int order_queue(const admin::AdminAddress& address, const RetryctlOptions& options, std::string_view act) {
    auto target = "/" + std::string(act) + "?queue=" + admin::encoded(options.argument);
    if (options.percent > 0) target += "&percent=" + std::to_string(options.percent);
    return show_text(address, admin::post(address, target, patience), options);
}

int show_status(const admin::AdminAddress& address, const RetryctlOptions& options) {
    const auto answer = ask_status(address);
    if (!answer) return complain(answer.error(), exit_failed);
    if (options.json) {
        std::cout << answer->body;
        return exit_fine;
    }
    const auto status = admin::status_from_json(answer->body);
    if (!status) return complain(status.error(), exit_failed);
    std::cout << admin::to_text(*status);
    return exit_fine;
}

int drain(const admin::AdminAddress& address, const RetryctlOptions& options) {
    const auto deadline = steady_clock::now() + options.wait;
    auto answer = understood(address, admin::post(address, "/drain", patience), 202);
    while (answer) {
        const auto status = admin::status_from_json(answer->body);
        if (!status) return complain(status.error(), exit_failed);
        if (status->drained) return tell_drained(answer->body, options.json);
        if (steady_clock::now() >= deadline) return tell_undrained(answer->body, *status, options);
        std::this_thread::sleep_for(look_again);
        answer = ask_status(address);
    }
    return complain(answer.error(), exit_failed);
}

}  // namespace retryd::app
