#pragma once
// Users and groups by name or number.

#include "model/problem.hpp"

#include <sys/types.h>

#include <string>

namespace retryd::sockets {

// A number is taken as it is; a name must be known to the system.
[[nodiscard]] model::Result<uid_t> user_id(const std::string& name_or_number);
[[nodiscard]] model::Result<gid_t> group_id(const std::string& name_or_number);

}  // namespace retryd::sockets
