#include "sockets/accounts.hpp"

#include <grp.h>
#include <pwd.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <vector>

namespace retryd::sockets {
namespace {

using model::Problem;
using model::ProblemCode;

constexpr std::size_t room_for_entry = 64 * 1024;

std::optional<std::uint32_t> number(const std::string& text) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    return whole && value != UINT32_MAX ? std::optional(value) : std::nullopt;
}

Problem unknown(const std::string& kind, const std::string& name) {
    return {ProblemCode::unknown, {}, "there is no " + kind + " \"" + name + "\"", "a name or a number that the system knows"};
}

}  // namespace

model::Result<uid_t> user_id(const std::string& name_or_number) {
    if (const auto id = number(name_or_number)) return *id;
    std::vector<char> room(room_for_entry);
    passwd entry{};
    passwd* found = nullptr;
    ::getpwnam_r(name_or_number.c_str(), &entry, room.data(), room.size(), &found);
    if (found == nullptr) return unknown("user", name_or_number);
    return entry.pw_uid;
}

model::Result<gid_t> group_id(const std::string& name_or_number) {
    if (const auto id = number(name_or_number)) return *id;
    std::vector<char> room(room_for_entry);
    group entry{};
    group* found = nullptr;
    ::getgrnam_r(name_or_number.c_str(), &entry, room.data(), room.size(), &found);
    if (found == nullptr) return unknown("group", name_or_number);
    return entry.gr_gid;
}

}  // namespace retryd::sockets
