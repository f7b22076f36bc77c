#pragma once
// Where somebody listens for HTTP.

#include <cstdint>
#include <string>

namespace retryd::model {

struct HttpTarget {
    std::string host;       // Host header: "127.0.0.1:8080", or "localhost" over a Unix socket
    std::string unix_path;  // a Unix socket's path; empty: TCP
    std::string tcp_host;   // a name or an address without brackets; empty: Unix socket
    std::uint16_t tcp_port = 0;
    std::string path = "/";  // with the query, fit for a request line
    bool path_is_secret = false;
};

}  // namespace retryd::model
