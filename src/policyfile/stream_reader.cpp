#include "policyfile/addresses.hpp"
#include "policyfile/queue_reader.hpp"

#include <algorithm>
#include <cstdint>

namespace retryd::policyfile {

using model::Result;

namespace {

constexpr std::uint32_t largest_uid = 4294967294;

// A quoted octal string, the only one of a policy: without quotes some readers of YAML take 0660 for 432, others for 660.
void read_mode(const Field& field, Values& values, std::uint32_t& out) {
    static constexpr const char* rule = "three or four octal digits in quotes, such as \"0660\"";
    const std::optional<std::string> text = values.text(field);
    if (!text) return;
    const bool octal = std::all_of(text->begin(), text->end(), [](char c) { return c >= '0' && c <= '7'; });
    const bool fits = text->size() == 3 || (text->size() == 4 && text->front() == '0');
    if (field.get().plain) {
        values.fault(field, Values::shown(field) + " is not in quotes, and some would read it as another number", rule);
    } else if (!octal || !fits) {
        values.fault(field, Values::shown(field) + " is no mode of a file", rule);
    } else {
        out = 0;
        for (const char digit : *text) out = out * 8 + static_cast<std::uint32_t>(digit - '0');
    }
}

void read_account(const Field& field, Values& values, std::optional<std::string>& out) {
    const std::optional<std::string> text = values.text(field);
    if (!text) return;
    if (text->empty()) values.fault(field, "it is empty", "a name or a number, or leave it out");
    out = *text;
}

void read_access(const Field& access, Values& values, model::SocketAccess& out) {
    read_mode(access.at("mode"), values, out.mode);
    read_account(access.at("owner"), values, out.owner);
    read_account(access.at("group"), values, out.group);
    for (const Field& item : values.one_or_more(access.at("uid"))) {
        std::uint32_t uid = 0;
        values.read(item, {0, largest_uid}, uid);
        out.uids.push_back(uid);
    }
}

}  // namespace

void read_stream(const Field& deliver, Values& values, std::optional<model::StreamTarget>& out) {
    model::StreamTarget target;
    read_access(deliver.at("stream_access"), values, target.access);
    const Field stream = deliver.at("stream");
    const std::optional<std::string> text = stream.off() ? std::nullopt : values.text(stream);
    if (!text) return;
    const Result<std::string> path = parse_stream_address(*text);
    if (!path) {
        values.fault(stream, Values::shown(stream) + ": " + path.error().what, path.error().hint);
        return;
    }
    target.unix_path = *path;
    out = target;
}

}  // namespace retryd::policyfile
