#pragma once
// The query of a request's target: "/why-not?queue=orders".

#include <optional>
#include <string>
#include <string_view>

namespace retryd::admin {

[[nodiscard]] std::string_view path_of(std::string_view target);
// The parameter's value with %XX decoded; a + is a +. Nothing when it is absent or not well formed; the first of several counts.
[[nodiscard]] std::optional<std::string> parameter(std::string_view target, std::string_view name);
// `value` fit to stand in a query.
[[nodiscard]] std::string encoded(std::string_view value);

}  // namespace retryd::admin
