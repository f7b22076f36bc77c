#include "deliver/http_reply.hpp"

#include "deliver/http_date.hpp"
#include "deliver/http_text.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <string>
#include <system_error>

namespace retryd::deliver {
namespace {

namespace json = boost::json;

constexpr std::chrono::seconds longest_span = std::chrono::years{100};  // beyond: as good as for ever, and safe to add
constexpr std::size_t deepest_problem = 16;

// The first field of that name, without outer spaces; empty where there is none.
std::string_view field(const std::vector<ReplyField>& fields, std::string_view name) {
    const auto found = std::find_if(fields.begin(), fields.end(),
                                    [&](const ReplyField& each) { return equal_ignoring_case(each.name, name); });
    return found == fields.end() ? std::string_view{} : trimmed(found->value);
}

std::optional<model::RetryAfter> read_retry_after(std::string_view text) {
    if (text.empty()) return std::nullopt;
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    if (!std::all_of(text.begin(), text.end(), is_digit)) {
        const auto until = parse_http_date(text);
        if (!until) return std::nullopt;
        return model::RetryAfter{std::nullopt, until};
    }
    std::int64_t seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    const bool too_large = error == std::errc::result_out_of_range || seconds > longest_span.count();
    return model::RetryAfter{too_large ? longest_span : std::chrono::seconds{seconds}, std::nullopt};
}

// One reply that states two outcomes states none that can be believed.
void read_outcome(model::Reply& reply, const std::vector<ReplyField>& fields) {
    for (const auto& [name, value] : fields) {
        if (!equal_ignoring_case(name, "Retryd-Outcome")) continue;
        const auto outcome = model::stated_outcome(trimmed(value));
        if (!outcome || (reply.stated && reply.stated != outcome)) reply.misstated = true;
        reply.stated = outcome;
    }
    if (reply.misstated) reply.stated.reset();
}

bool is_problem(std::string_view content_type) {
    const auto media_type = trimmed(content_type.substr(0, content_type.find(';')));
    return equal_ignoring_case(media_type, "application/problem+json");
}

std::string text_member(const json::object& problem, std::string_view name) {
    const auto* const member = problem.if_contains(json::string_view(name.data(), name.size()));
    const auto* const text = member == nullptr ? nullptr : member->if_string();
    return text == nullptr ? std::string{} : std::string(text->data(), text->size());
}

void use_where_silent(std::string& stated, std::string otherwise) {
    if (stated.empty()) stated = std::move(otherwise);
}

void read_problem(model::Reply& reply, std::string_view body) {
    json::parse_options options;
    options.max_depth = deepest_problem;
    json::error_code error;
    const auto document = json::parse(json::string_view(body.data(), body.size()), error, {}, options);
    if (error || !document.is_object()) return;
    const auto& problem = document.get_object();
    const auto title = text_member(problem, "title");
    const auto type = text_member(problem, "type");
    use_where_silent(reply.error_type, type == "about:blank" ? std::string{} : type);  // RFC 9457: no type of its own
    use_where_silent(reply.error_type, title);
    use_where_silent(reply.error_message, text_member(problem, "detail"));
    use_where_silent(reply.error_message, title);
    use_where_silent(reply.dependency, text_member(problem, "dependency"));
}

}  // namespace

model::Reply read_reply(std::uint16_t status, const std::vector<ReplyField>& fields, std::string_view body) {
    model::Reply reply;
    reply.status = status;
    read_outcome(reply, fields);
    reply.retry_after = read_retry_after(field(fields, "Retry-After"));
    reply.error_type = field(fields, "Retryd-Error-Type");
    reply.error_message = field(fields, "Retryd-Error-Message");
    reply.dependency = field(fields, "Retryd-Dependency");
    reply.app_version = field(fields, "Retryd-App-Version");
    if (is_problem(field(fields, "Content-Type"))) read_problem(reply, body);
    return reply;
}

}  // namespace retryd::deliver
