#include "programs/options.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace retryd::bench {

void give_up(const std::string& what, const std::string& why) {
    std::fprintf(stderr, "%s%s%s\n", what.c_str(), why.empty() ? "" : ": ", why.c_str());
    std::exit(1);
}

Options::Options(int count, char** words) {
    const std::vector<std::string> all(words + 1, words + count);
    for (std::size_t i = 0; i < all.size(); i += 2) {
        if (all[i].rfind("--", 0) != 0 || i + 1 == all.size()) give_up("expected --name value, not " + all[i]);
        values_[all[i].substr(2)] = all[i + 1];
    }
}

std::string Options::text(const std::string& name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) give_up("missing: --" + name);
    return found->second;
}

std::uint64_t Options::number(const std::string& name) const {
    const auto word = text(name);
    const char* const end = word.data() + word.size();
    std::uint64_t value = 0;
    const auto [stopped, error] = std::from_chars(word.data(), end, value);
    if (error != std::errc{} || stopped != end) give_up("--" + name + " wants a number, not " + word);
    return value;
}

std::uint64_t Options::number(const std::string& name, std::uint64_t otherwise) const {
    return has(name) ? number(name) : otherwise;
}

std::vector<std::string> Options::list(const std::string& name) const {
    std::vector<std::string> parts;
    if (!has(name)) return parts;
    std::istringstream words(text(name));
    for (std::string part; std::getline(words, part, ',');) parts.push_back(part);
    return parts;
}

}  // namespace retryd::bench
