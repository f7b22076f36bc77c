#pragma once
// What a program of the benchmark is told: `--name value`, any number of them. One that is missing, or is no number where
// one is wanted, ends the program with a sentence.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace retryd::bench {

class Options {
public:
    Options(int count, char** words);

    [[nodiscard]] std::string text(const std::string& name) const;
    [[nodiscard]] std::uint64_t number(const std::string& name) const;
    [[nodiscard]] std::uint64_t number(const std::string& name, std::uint64_t otherwise) const;
    [[nodiscard]] bool has(const std::string& name) const { return values_.count(name) > 0; }
    // The parts of `a,b,c`; none where the option is missing.
    [[nodiscard]] std::vector<std::string> list(const std::string& name) const;

private:
    std::map<std::string, std::string> values_;
};

// Ends the program: "what: why" on standard error, where there is a why.
[[noreturn]] void give_up(const std::string& what, const std::string& why = {});

}  // namespace retryd::bench
