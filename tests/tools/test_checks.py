"""The checks can fail: each is shown what it must refuse, and what it must let pass."""

import pathlib
import subprocess
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent
LAYERS = "model: | re2/\ncore: model |\namqp: model | amqp boost/asio\ntimeless: model core\n"


class Tree(unittest.TestCase):
    """A small source tree in a temporary folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("src/layers.txt", LAYERS)
        self.write("src/model/names.hpp", "#pragma once\n")
        self.write("tests/nothing.cpp", "")

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def run_check(self, name):
        done = subprocess.run([TOOLS / name, self.root], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def assert_passes(self, check):
        self.assertEqual((0, ""), self.run_check(check))

    def assert_fails(self, check, *parts):
        code, text = self.run_check(check)
        self.assertNotEqual(0, code)
        for part in parts:
            self.assertIn(part, text)


class CheckLayers(Tree):
    def core(self, text):
        self.write("src/core/step.cpp", text)

    def test_lets_pass_what_the_table_lists(self):
        self.write("src/amqp/link.hpp", "#include <amqp_tcp_socket.h>\n#include <boost/asio/post.hpp>\n#include <sys/socket.h>\n")
        self.core('#include "model/names.hpp"\n#include <vector>\n// no steady_clock here\nauto s = "random_device";\n')
        self.assert_passes("check_layers")

    def test_refuses_a_room_that_is_not_listed(self):
        self.write("src/amqp/link.hpp", "")
        self.core('\n#include "amqp/link.hpp"\n')
        self.assert_fails("check_layers", "src/core/step.cpp:2: core may not include amqp")

    def test_refuses_a_third_party_header_that_is_not_listed(self):
        for header in ("amqp.h", "boost/asio/post.hpp", "re2/re2.h", "yaml-cpp/yaml.h"):
            self.core(f"#include <{header}>\n")
            self.assert_fails("check_layers", f"core may not include <{header}>")

    def test_refuses_an_include_that_does_not_begin_with_its_room(self):
        self.write("src/core/step.hpp", "")
        self.core('#include "step.hpp"\n')
        self.assert_fails("check_layers", 'no such file: "step.hpp"')

    def test_refuses_an_unknown_room(self):
        self.write("src/util/strings.hpp", "")
        self.assert_fails("check_layers", "util is no room")

    def test_refuses_time_and_chance_in_a_timeless_room(self):
        for text in ("std::chrono::steady_clock::now()", "std::random_device{}", "::time(nullptr)", "std::time(&t)", "time(0)",
                     "std::this_thread::sleep_for(1s)", "usleep(3)", "rand()", "boost::asio::steady_timer t"):
            self.core(f"void f() {{ {text}; }}\n")
            self.assert_fails("check_layers", "core is timeless")

    def test_lets_a_timeless_room_use_times_that_are_handed_in(self):
        self.core("bool f(SteadyTime now, Timer& timer) { timer.random(); return expiry_time(now) < 1'000 && x.time(now); }\n")
        self.assert_passes("check_layers")

    def test_refuses_a_long_file(self):
        self.core("\n" * 401)
        self.assert_fails("check_layers", "src/core/step.cpp:401: longer than 400 lines")


class CheckCoroutines(Tree):
    def body(self, statements):
        self.write("src/amqp/link.cpp", "awaitable<void> Link::run() {\n" + statements + "\n}\n")

    REFUSED = {
        "a lambda": [
            "co_await co_spawn(ex, [x = 1]() -> awaitable<int> { co_return x; }, token);",
            "co_await f([&] { g(); });",
            "auto l = [x = co_await p()] { return x; };",
            "co_await [x = 1]() -> awaitable<int> { co_return x; }();",
        ],
        "a braced value": [
            "co_await f(Params{.a = 1});",
            "co_await f({.a = 1});",
            "co_await channel.async_send(ec, Item{1}, token);",
            "Agg a{.x = co_await p()};",
            "v.push_back({co_await p(), 1});",
            "const std::vector<int> v = {co_await p()};",
        ],
        "?:": [
            "auto x = b ? co_await p() : q;",
            "auto x = (co_await p()) ? a : b;",
        ],
        "two co_await": ["f(co_await p(), co_await q());"],
    }
    FINE = [
        "co_await f(std::move(x), nothrow);",
        "auto [ec, n] = co_await socket.async_read_some(buffer, nothrow);",
        "const auto& [ec, n] = co_await read(buffers[0], 1'000);",
        "if (auto o = co_await f()) { g(Item{1}); }",
        "while (co_await f()) { auto l = [x = 1] { return x ? 1 : 2; }; }",
        "for (auto x : co_await f()) { v.push_back({x}); }",
        "for (;;) { const auto n = co_await f(); }",
        "switch (co_await f()) { case 1: { co_await g(); break; } default: co_await h(); }",
        "Params params{.a = 1}; co_await f(params);",
        "auto l = [x] { return x; }; co_await f(std::move(l));",
        "co_spawn(ex, [this]() -> awaitable<void> { co_await loop(); }, on_exit);",
        "// co_await f({1});\nlog(\"co_await f({1}) ? [x] : {}\");",
        "if (a) { b(); } else { co_await c(); }",
        "try { co_await f(); } catch (const E& e) { g(E{e}); }",
    ]

    def test_lets_pass_what_gcc_compiles_well(self):
        for statement in self.FINE:
            with self.subTest(statement):
                self.body(statement)
                self.assert_passes("check_coroutines")

    def test_refuses_what_gcc_miscompiles(self):
        for reason, statements in self.REFUSED.items():
            for statement in statements:
                with self.subTest(statement):
                    self.body("int before = 1;\n" + statement)
                    self.assert_fails("check_coroutines", "src/amqp/link.cpp:3: ", reason)


class CheckFormat(Tree):
    def setUp(self):
        super().setUp()
        self.write(".clang-format", (TOOLS.parents[1] / ".clang-format").read_text(encoding="utf-8"))

    def test_lets_pass_what_is_formatted(self):
        self.write("src/core/step.cpp", "int f() {\n    return 1;\n}\n")
        self.assert_passes("check_format")

    def test_refuses_what_is_not(self):
        self.write("src/core/step.cpp", "int  f(){return 1;}\n")
        self.assert_fails("check_format", "src/core/step.cpp:1")


if __name__ == "__main__":
    unittest.main()
