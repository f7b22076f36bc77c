#pragma once
// An AMQP header value as the value of an HTTP header.

#include "model/header_table.hpp"

#include <string>

namespace retryd::deliver {

// Strings and byte strings as their bytes, numbers, booleans and timestamps (seconds) as text, the rest as JSON with its
// types kept; all percent-encoded as header values are.
void append_header_value(std::string& out, const model::FieldView& value);

}  // namespace retryd::deliver
