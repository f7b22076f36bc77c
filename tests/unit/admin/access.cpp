#include "admin/access.hpp"

#include <catch2/catch.hpp>

using namespace retryd::admin;

TEST_CASE("our host is an address literal, localhost, or the name that we listen as") {
    struct Row {
        std::string_view host;
        bool ours;
    };
    const auto row = GENERATE(
        Row{"localhost", true}, Row{"LocalHost:9000", true}, Row{"127.0.0.1:9000", true}, Row{"[::1]", true},
        Row{"[::1]:9000", true}, Row{"10.0.0.7:9000", true}, Row{"metrics.internal:9000", true}, Row{"evil.example", false},
        Row{"evil.example:9000", false}, Row{"localhost.evil.example", false}, Row{"", false}, Row{":9000", false},
        Row{"127.0.0.1.evil.example", false}, Row{"[::1", false}, Row{"[evil]", false}, Row{"[::1]x", false},
        Row{"localhost:", false}, Row{"localhost:99999", false}, Row{"localhost:80:80", false}, Row{"127.1", false});
    CAPTURE(row.host);
    CHECK(is_our_host(row.host, "metrics.internal") == row.ours);
}

TEST_CASE("a token is borne whole, or not at all") {
    struct Row {
        std::string_view header;
        bool borne;
    };
    const auto row =
        GENERATE(Row{"Bearer open-sesame", true}, Row{"bearer open-sesame", true}, Row{"Bearer  open-sesame ", true},
                 Row{"Bearer open-sesam", false}, Row{"Bearer open-sesame2", false}, Row{"Bearer Open-sesame", false},
                 Row{"Bearer open-sesameopen-sesame", false}, Row{"Bearer ", false}, Row{"Bearer", false}, Row{"", false},
                 Row{"open-sesame", false}, Row{"Basic open-sesame", false});
    CAPTURE(row.header);
    CHECK(bears_token(row.header, "open-sesame") == row.borne);
}

TEST_CASE("no token is never borne") {
    CHECK_FALSE(bears_token("Bearer ", ""));
    CHECK_FALSE(bears_token("Bearer x", ""));
}

TEST_CASE("JSON is told by its media type alone") {
    CHECK(is_json("application/json"));
    CHECK(is_json("Application/JSON; charset=utf-8"));
    for (const auto* other : {"", "text/plain", "application/json-patch+json", "application/x-www-form-urlencoded"})
        CHECK_FALSE(is_json(other));
}
