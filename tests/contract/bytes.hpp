#pragma once
// Property bytes for the cases: all fourteen properties, and a header table with every type of value.

#include "model/header_table.hpp"
#include "model/properties.hpp"

#include <string>
#include <string_view>

namespace retryd::contract {

using namespace std::string_view_literals;

// One entry for each type letter, some twice where the sign or an odd value is worth it.
inline std::string every_header_type() {
    model::TableWriter table;
    table.add("array", {'A', "\0\0\0\x07S\0\0\0\x02hi"sv});
    table.add("array.empty", {'A', "\0\0\0\0"sv});
    table.add("bool", {'t', "\x01"sv});
    table.add("bytes", {'x', "\0\0\0\x04\0\xff\x80 "sv});
    table.add("decimal", {'D', "\x02\0\0\x30\x39"sv});
    table.add("decimal.negative", {'D', "\x02\xff\xff\xff\xfe"sv});
    table.add("double", {'d', "\x3f\xb9\x99\x99\x99\x99\x99\x9a"sv});
    table.add("dup", {'I', "\0\0\0\x01"sv});
    table.add("dup", {'I', "\0\0\0\x02"sv});
    table.add("float", {'f', "\x3f\xc0\0\0"sv});
    table.add("i16", {'s', "\xfe\xd4"sv});
    table.add("i32", {'I', "\xff\xfe\xee\x90"sv});
    table.add("i64", {'l', "\xff\xff\xff\0\0\0\0\0"sv});
    table.add("i8", {'b', "\xfb"sv});
    table.add("string", {'S', "\0\0\0\x06\xff\xfe\0bad"sv});
    table.add("table", {'F', "\0\0\0\x07\x01kI\0\0\0\x01"sv});
    table.add("table.empty", {'F', "\0\0\0\0"sv});
    table.add("timestamp", {'T', "\0\0\0\0\x65\x53\xf1\0"sv});
    table.add("u16", {'u', "\xfd\xe8"sv});
    table.add("u32", {'i', "\xee\x6b\x28\0"sv});
    table.add("u8", {'B', "\xfa"sv});
    table.add("void", {'V', ""sv});
    return table.bytes();
}

// All but user-id (the broker lets only the user's own pass) and expiration.
inline model::Properties all_properties(std::string_view headers) {
    model::Properties properties;
    properties.content_type = "application/json";
    properties.content_encoding = "";
    properties.headers = headers;
    properties.delivery_mode = 2;
    properties.priority = 7;
    properties.correlation_id = "correlation";
    properties.reply_to = "reply";
    properties.message_id = "id";
    properties.timestamp = 1'700'000'000;
    properties.type = "type";
    properties.app_id = "app";
    properties.cluster_id = "cluster";
    return properties;
}

}  // namespace retryd::contract
