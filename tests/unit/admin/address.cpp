#include "admin/address.hpp"

#include "unit/temp_folder.hpp"

#include <catch2/catch.hpp>

#include <fstream>

using namespace retryd;
using namespace retryd::admin;
using List = std::vector<std::string>;

TEST_CASE("systemd's folder comes first, the user's last") {
    CHECK(default_sockets({"/run/retryd-a", "/run", "/run/user/7"}) ==
          List{"/run/retryd-a/admin.sock", "/run/retryd/admin.sock", "/run/user/7/retryd/admin.sock"});
    CHECK(default_sockets({"/run/a:/run/b", "/run", std::nullopt}) == List{"/run/a/admin.sock", "/run/retryd/admin.sock"});
    CHECK(default_sockets({std::nullopt, "/run", std::nullopt}) == List{"/run/retryd/admin.sock"});
}

TEST_CASE("the daemon takes the first folder that it can use") {
    const TempFolder folder;
    CHECK(socket_to_open({"/nowhere", folder.path, std::nullopt}) == "/nowhere/admin.sock");
    CHECK(socket_to_open({std::nullopt, folder.path, "/nowhere"}) == folder.path + "/retryd/admin.sock");
    CHECK(socket_to_open({std::nullopt, "/nowhere", folder.path}) == folder.path + "/retryd/admin.sock");
    CHECK(socket_to_open({std::nullopt, "/nowhere", "/nowhere/else"}) == "/nowhere/retryd/admin.sock");
}

TEST_CASE("retryctl takes the first socket that exists") {
    const TempFolder folder;
    const RuntimePlaces places{"/nowhere", folder.path + "/run", folder.path};
    CHECK(socket_to_ask(places) == "/nowhere/admin.sock");
    std::filesystem::create_directory(folder.path + "/retryd");
    std::ofstream{folder.path + "/retryd/admin.sock"} << "";
    CHECK(socket_to_ask(places) == folder.path + "/retryd/admin.sock");
}

TEST_CASE("an address is unix:PATH, a path, or http://HOST:PORT") {
    CHECK(parse_admin_address("unix:/run/a.sock")->unix_path == "/run/a.sock");
    CHECK(parse_admin_address("/run/a.sock")->unix_path == "/run/a.sock");
    CHECK(parse_admin_address("./a.sock")->unix_path == "./a.sock");
    CHECK(parse_admin_address("unix:a.sock")->unix_path == "a.sock");
    CHECK(to_text(*parse_admin_address("http://127.0.0.1:9465")) == "http://127.0.0.1:9465");
    CHECK(parse_admin_address("http://retryd.internal:9465/")->host == "retryd.internal");
    CHECK(parse_admin_address("http://[::1]:9465")->host == "::1");
    CHECK(to_text(*parse_admin_address("http://[::1]:9465")) == "http://[::1]:9465");
}

TEST_CASE("what is no address is refused") {
    const auto wrong =
        GENERATE("", "unix:", "localhost:9000", "a.sock", "http://", "http://host", "http://host:", "http://:9465",
                 "http://host:0", "http://host:99999", "http://::1:9465", "http://host:9465/status", "https://h:1");
    CAPTURE(wrong);
    CHECK(!parse_admin_address(wrong));
}
