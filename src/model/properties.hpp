#pragma once
// The basic class's properties, with presence: absent stays absent, empty stays empty.
//
// The views point into the bytes that were read. read_properties(write_properties(p)) == p.

#include "model/problem.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace retryd::model {

struct Properties {
    std::optional<std::string_view> content_type;
    std::optional<std::string_view> content_encoding;
    std::optional<std::string_view> headers;    // the table's bytes without its 4-byte length
    std::optional<std::uint8_t> delivery_mode;  // 2: persistent
    std::optional<std::uint8_t> priority;
    std::optional<std::string_view> correlation_id;
    std::optional<std::string_view> reply_to;
    std::optional<std::string_view> expiration;  // ms, as text
    std::optional<std::string_view> message_id;
    std::optional<std::uint64_t> timestamp;  // seconds since 1970
    std::optional<std::string_view> type;
    std::optional<std::string_view> user_id;
    std::optional<std::string_view> app_id;
    std::optional<std::string_view> cluster_id;
    bool operator==(const Properties&) const = default;
};

// Fails on a length past the end or bytes left over.
[[nodiscard]] Result<Properties> read_properties(std::string_view bytes);
// Property flags and list, as Message::properties holds them. Short strings over 255 bytes are a broken program.
[[nodiscard]] std::string write_properties(const Properties& properties);

}  // namespace retryd::model
