#include "model/reserved_headers.hpp"

#include <catch2/catch.hpp>

using retryd::model::is_reserved_header;

TEST_CASE("framing, the connection and retryd's own names are reserved, whatever their case") {
    for (const auto* name :
         {"host", "Content-Length", "TRANSFER-ENCODING", "connection", "te", "keep-alive", "proxy-connection", "expect",
          "trailer", "upgrade", "Idempotency-Key", "retryd-", "Retryd-Queue", "AMQP-Header-X"}) {
        CAPTURE(name);
        CHECK(is_reserved_header(name));
    }
    for (const auto* name : {"", "content-type", "Content-Encoding", "traceparent", "ce-id", "X-App-Token", "retryd",
                             "x-amqp-y", "hos", "hostx"}) {
        CAPTURE(name);
        CHECK_FALSE(is_reserved_header(name));
    }
}
