#include "sockets/listening_socket.hpp"

#include "unit/temp_folder.hpp"

#include <catch2/catch.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

using namespace retryd;
using namespace retryd::sockets;
namespace fs = std::filesystem;

namespace {

model::Result<ListeningSocket> open(const std::string& path) {
    return open_listening_socket({path, "", 0});
}

mode_t mode_of(const std::string& path) {
    struct stat there {};
    REQUIRE(::lstat(path.c_str(), &there) == 0);
    return there.st_mode & 07777U;
}

struct Umask {
    mode_t before;
    explicit Umask(mode_t mask) : before(::umask(mask)) {}
    ~Umask() { ::umask(before); }
};

}  // namespace

TEST_CASE("a socket file has mode 0660 whatever the umask, which stays as it was") {
    const TempFolder folder;
    const Umask strict{077};
    const auto opened = open(folder.path + "/admin.sock");
    REQUIRE(opened.has_value());
    CHECK(mode_of(folder.path + "/admin.sock") == 0660);
    CHECK(::umask(077) == 077);
    ::close(opened->descriptor);
}

TEST_CASE("a socket file has the mode, owner and group that are asked for, or is not there") {
    const TempFolder folder;
    const std::string path = folder.path + "/orders.sock";
    model::SocketAccess access;
    access.mode = 0606;
    access.owner = std::to_string(::geteuid());
    access.group = std::to_string(::getegid());
    SECTION("known ones") {
        const auto opened = open_listening_socket({path, "", 0}, access);
        REQUIRE(opened.has_value());
        CHECK(mode_of(path) == 0606);
        ::close(opened->descriptor);
    }
    SECTION("an owner that the system does not know") {
        access.owner = "nobody-of-this-name";
        const auto refused = open_listening_socket({path, "", 0}, access);
        REQUIRE(!refused);
        CHECK(refused.error().what == "there is no user \"nobody-of-this-name\"");
        CHECK(!fs::exists(path));
    }
    SECTION("a group that the system does not know") {
        access.group = "nobody-of-this-name";
        const auto refused = open_listening_socket({path, "", 0}, access);
        REQUIRE(!refused);
        CHECK(refused.error().what == "there is no group \"nobody-of-this-name\"");
        CHECK(!fs::exists(path));
    }
}

TEST_CASE("a stale socket is replaced") {
    const TempFolder folder;
    const std::string path = folder.path + "/admin.sock";
    ::close(open(path)->descriptor);  // as a killed daemon leaves it
    REQUIRE(fs::is_socket(path));
    const auto opened = open(path);
    REQUIRE(opened.has_value());
    ::close(opened->descriptor);
}

TEST_CASE("a live socket is left alone") {
    const TempFolder folder;
    const std::string path = folder.path + "/admin.sock";
    const auto first = open(path);
    const auto second = open(path);
    REQUIRE(!second);
    CHECK(to_text(second.error()).find("another process listens there") != std::string::npos);
    CHECK(fs::is_socket(path));
    ::close(first->descriptor);
}

TEST_CASE("what is no socket is left alone") {
    const TempFolder folder;
    const std::string target = folder.path + "/target";
    std::ofstream{target} << "precious";
    const auto kind = GENERATE("file", "link to a file", "dangling link", "link to a socket", "folder");
    CAPTURE(kind);
    const std::string path = folder.path + "/admin.sock";
    if (kind == std::string{"file"}) {
        std::ofstream{path} << "precious";
    } else if (kind == std::string{"folder"}) {
        fs::create_directory(path);
    } else if (kind == std::string{"link to a socket"}) {
        ::close(open(folder.path + "/stale.sock")->descriptor);
        fs::create_symlink(folder.path + "/stale.sock", path);
    } else {
        fs::create_symlink(kind == std::string{"dangling link"} ? folder.path + "/nothing" : target, path);
    }
    const auto before = fs::symlink_status(path).type();
    const auto opened = open(path);
    REQUIRE(!opened);
    CHECK(opened.error().hint == "remove it, or choose another path");
    CHECK(fs::symlink_status(path).type() == before);
    CHECK(fs::file_size(target) == 8);
    CHECK(!fs::exists(folder.path + "/nothing"));
}

TEST_CASE("a path may have 107 bytes and no more") {
    const TempFolder folder;
    const std::string stem = folder.path + "/";
    const std::string fits = stem + std::string(107 - stem.size(), 'x');
    const auto opened = open(fits);
    REQUIRE(opened.has_value());
    ::close(opened->descriptor);
    const auto refused = open(fits + "x");
    REQUIRE(!refused);
    CHECK(refused.error().what == "the path has 108 bytes");
    CHECK(refused.error().hint == "the system allows 107");
}

TEST_CASE("the last part of a missing folder is made, no more than that") {
    const TempFolder folder;
    const auto opened = open(folder.path + "/retryd/admin.sock");
    REQUIRE(opened.has_value());
    CHECK((mode_of(folder.path + "/retryd") & 027U) == 0);
    ::close(opened->descriptor);
    const auto refused = open(folder.path + "/a/b/admin.sock");
    REQUIRE(!refused);
    CHECK(refused.error().what == "the folder " + folder.path + "/a does not exist");
    CHECK(!fs::exists(folder.path + "/a"));
}

TEST_CASE("a folder that is a file is an error with a sentence") {
    const TempFolder folder;
    std::ofstream{folder.path + "/file"} << "";
    const auto refused = open(folder.path + "/file/admin.sock");
    REQUIRE(!refused);
    CHECK(refused.error().what.find("Not a directory") != std::string::npos);
}

TEST_CASE("a socket file is removed only while it is ours") {
    const TempFolder folder;
    const std::string path = folder.path + "/admin.sock";
    const auto first = open(path);
    ::close(first->descriptor);
    SECTION("ours") {
        remove_socket_file(*first->file);
        CHECK(!fs::exists(path));
        remove_socket_file(*first->file);
    }
    SECTION("of a successor") {
        fs::rename(path, path + ".old");  // keeps the inode in use
        const auto second = open(path);
        remove_socket_file(*first->file);
        CHECK(fs::is_socket(path));
        ::close(second->descriptor);
    }
}

TEST_CASE("a TCP address is opened with a port of the system's choice") {
    const auto opened = open_listening_socket({"", "127.0.0.1", 0});
    REQUIRE(opened.has_value());
    CHECK(opened->address.tcp_port != 0);
    const auto twice = open_listening_socket(opened->address);
    REQUIRE(!twice);
    CHECK(twice.error().what == "cannot listen: Address already in use");
    CHECK(twice.error().place == "127.0.0.1:" + std::to_string(opened->address.tcp_port));
    ::close(opened->descriptor);
}

TEST_CASE("an address that is not ours is an error with a sentence") {
    const auto opened = open_listening_socket({"", "192.0.2.1", 0});
    REQUIRE(!opened);
    CHECK(opened.error().what == "cannot listen: Cannot assign requested address");
}

TEST_CASE("addresses are written as they are typed") {
    CHECK(to_text(model::ListenAddress{"/run/a.sock", "", 0}) == "unix:/run/a.sock");
    CHECK(to_text(model::ListenAddress{"", "127.0.0.1", 9000}) == "127.0.0.1:9000");
    CHECK(to_text(model::ListenAddress{"", "::1", 9000}) == "[::1]:9000");
}
