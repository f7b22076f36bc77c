#include "admin/address.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace retryd::admin {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> variable(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
}

bool writable(const fs::path& folder) {
    return ::access(folder.c_str(), W_OK | X_OK) == 0;
}

bool is_there(const fs::path& path) {
    std::error_code error;
    return fs::exists(fs::symlink_status(path, error));
}

bool may_open(const std::string& socket) {
    const fs::path folder = fs::path{socket}.parent_path();
    return is_there(folder) ? writable(folder) : writable(folder.parent_path());
}

model::Problem unfit() {
    return {model::ProblemCode::bad_value, "", "this is not the address of retryd's admin page",
            "say unix:PATH, a path as in /run/retryd/admin.sock, or http://HOST:PORT"};
}

// HOST:PORT or [IPv6]:PORT, with nothing behind it but perhaps a slash.
model::Result<AdminAddress> parse_tcp(std::string_view text) {
    if (text.ends_with('/')) text.remove_suffix(1);
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return unfit();
    std::string_view host = text.substr(0, colon);
    const std::string_view digits = text.substr(colon + 1);
    if (host.starts_with('[') && host.ends_with(']')) {
        host = host.substr(1, host.size() - 2);
    } else if (host.find(':') != std::string_view::npos) {
        return unfit();
    }
    AdminAddress address{.host = std::string{host}};
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
    if (error != std::errc{} || end != digits.data() + digits.size() || host.empty() || address.port == 0) return unfit();
    return address;
}

}  // namespace

RuntimePlaces runtime_places() {
    RuntimePlaces places;
    places.runtime_directory = variable("RUNTIME_DIRECTORY");
    places.xdg_runtime_dir = variable("XDG_RUNTIME_DIR");
    return places;
}

std::vector<std::string> default_sockets(const RuntimePlaces& places) {
    std::vector<std::string> sockets;
    if (places.runtime_directory) {
        const std::string& list = *places.runtime_directory;
        sockets.push_back(list.substr(0, list.find(':')) + "/admin.sock");
    }
    sockets.push_back(places.run + "/retryd/admin.sock");
    if (places.xdg_runtime_dir) sockets.push_back(*places.xdg_runtime_dir + "/retryd/admin.sock");
    return sockets;
}

std::string socket_to_open(const RuntimePlaces& places) {
    const std::vector<std::string> sockets = default_sockets(places);
    if (places.runtime_directory) return sockets.front();
    const auto usable = std::find_if(sockets.begin(), sockets.end(), may_open);
    return usable == sockets.end() ? sockets.front() : *usable;
}

std::string socket_to_ask(const RuntimePlaces& places) {
    const std::vector<std::string> sockets = default_sockets(places);
    const auto found = std::find_if(sockets.begin(), sockets.end(), [](const std::string& socket) { return is_there(socket); });
    return found == sockets.end() ? sockets.front() : *found;
}

model::Result<AdminAddress> parse_admin_address(std::string_view text) {
    constexpr std::string_view unix_scheme = "unix:";
    constexpr std::string_view http_scheme = "http://";
    if (text.starts_with(http_scheme)) return parse_tcp(text.substr(http_scheme.size()));
    const bool has_scheme = text.starts_with(unix_scheme);
    if (has_scheme) text.remove_prefix(unix_scheme.size());
    if (text.empty() || (!has_scheme && text.find('/') == std::string_view::npos)) return unfit();
    if (text.find("://") != std::string_view::npos) return unfit();
    return AdminAddress{.unix_path = std::string{text}};
}

}  // namespace retryd::admin
