#pragma once
// A YAML text as a tree with positions: the only thing that the rest of this room sees of YAML.
//
// Stricter than YAML: one document, UTF-8, at most 1 MiB and 32 levels, keys are plain text and stand once, no anchors,
// aliases or tags, no key without a value. Scalars stay text; nothing is converted here.

#include <compare>
#include <string>
#include <string_view>
#include <vector>

namespace retryd::policyfile {

class Faults;

// Counted from 1; columns in bytes.
struct Place {
    int line = 1;
    int column = 1;
    auto operator<=>(const Place&) const = default;
};

struct Entry;
struct Node {
    enum class Kind { absent, scalar, list, mapping };  // absent: no value, or one whose fault has been told already
    Kind kind = Kind::absent;
    Place place;
    std::string text;     // scalars: as written, without quotes
    bool plain = false;   // scalars: without quotes
    std::string section;  // where it was written: "built-in", "defaults", "group partner" …; empty at the file's top level
    std::vector<Node> items;
    std::vector<Entry> entries;  // in the file's order

    [[nodiscard]] bool absent() const { return kind == Kind::absent; }
    [[nodiscard]] bool scalar() const { return kind == Kind::scalar; }
    [[nodiscard]] bool list() const { return kind == Kind::list; }
    [[nodiscard]] bool mapping() const { return kind == Kind::mapping; }
    // Whether it is this very word, unquoted.
    [[nodiscard]] bool word(std::string_view expected) const { return scalar() && plain && text == expected; }
    [[nodiscard]] const Node* find(std::string_view key) const;
    [[nodiscard]] Node* find(std::string_view key);
};
struct Entry {
    std::string key;
    Place place;
    Node value;
};

inline constexpr std::size_t longest_document = 1024 * 1024;
inline constexpr std::size_t deepest_document = 32;

// The root mapping; absent when the text can't be read as one. Every fault is told to `faults`; never throws.
[[nodiscard]] Node parse_document(std::string_view text, Faults& faults);

// Marks a whole subtree as written in `section`.
void set_section(Node& node, const std::string& section);

// A text in quotes for a message: cut where it is long, control characters as '?'.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace retryd::policyfile
