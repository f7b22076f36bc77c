#pragma once
// JSON that we wrote, read by a parser that we did not write.

#include "fuzz/input.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <string>
#include <string_view>

namespace fuzz {

inline boost::json::value parsed(std::string_view text) {
    boost::json::parse_options options;
    options.max_depth = 300;  // 64 levels of tables, each perhaps wrapped, and what stands round them
    boost::json::error_code error;
    auto value = boost::json::parse(boost::json::string_view(text.data(), text.size()), error, {}, options);
    require(!error, "what we write as JSON is JSON");
    return value;
}

inline std::string_view text_of(const boost::json::value& value) {
    const auto& text = value.as_string();
    return {text.data(), text.size()};
}

}  // namespace fuzz
