#include "policyfile/keys.hpp"

#include "policyfile/faults.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace retryd::policyfile {

using model::ProblemCode;

namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
        }
    }
    return row[b.size()];
}

std::vector<std::string> keys_of(const Node& mapping) {
    std::vector<std::string> keys;
    for (const Entry& entry : mapping.entries) keys.push_back(entry.key);
    return keys;
}

// Where else in the built-in tree a key of this name stands: "deliver.timeout".
std::string path_elsewhere(const Node& known, std::string_view key, const std::string& prefix) {
    for (const Entry& entry : known.entries) {
        if (entry.key == key) return prefix + entry.key;
        std::string below = path_elsewhere(entry.value, key, prefix + entry.key + ".");
        if (!below.empty()) return below;
    }
    return {};
}

// Whether a sibling is one slip away: then that is meant rather than a key of the same name elsewhere.
bool has_near(std::string_view key, const Node& known) {
    return key.size() <= 64 && std::any_of(known.entries.begin(), known.entries.end(),
                                           [key](const Entry& entry) { return edit_distance(key, entry.key) == 1; });
}

// Mappings that `none` turns off.
bool may_be_off(std::string_view path) {
    static constexpr std::array paths{"breaker", "budgets", "budgets.park", "budgets.dead_letter", "storm", "recover"};
    return std::find(paths.begin(), paths.end(), path) != paths.end();
}

class KeyCheck {
public:
    KeyCheck(const Node& top, IsLater later, Faults& faults) : top_(top), later_(later), faults_(faults) {}

    void walk(Node& written, const Node& known, const std::string& prefix) {
        std::erase_if(written.entries, [&](Entry& entry) { return !may_stay(entry, known, prefix + entry.key); });
    }

private:
    bool may_stay(Entry& entry, const Node& known, const std::string& path) {
        const Node* const counterpart = known.find(entry.key);
        if (counterpart == nullptr) return unknown(entry, known, path);
        if (later_(path)) {
            faults_.add(entry.place, ProblemCode::not_supported, path + " is not supported yet", "leave it out");
            return false;
        }
        if (entry.value.absent() || !counterpart->mapping()) return true;
        if (entry.value.mapping()) {
            if (!counterpart->entries.empty()) walk(entry.value, *counterpart, path + ".");
            return true;
        }
        if (path == "retry.quick" && entry.value.scalar()) return true;  // none; its reader says more of other words
        if (may_be_off(path) && entry.value.word("none")) return true;
        faults_.add(entry.value.place, ProblemCode::bad_value, path + " is not a mapping",
                    std::string("its keys stand below it, or in { }") + (may_be_off(path) ? "; or none" : ""));
        entry.value.kind = Node::Kind::absent;
        return true;
    }

    bool unknown(const Entry& entry, const Node& known, const std::string& path) {
        if (faults_.many()) {
            faults_.add(entry.place, ProblemCode::unknown, "unknown key " + quoted(path));
            return false;
        }
        const std::string elsewhere = has_near(entry.key, known) ? "" : path_elsewhere(top_, entry.key, "");
        const std::string hint = elsewhere.empty() ? closest_key(entry.key, keys_of(known)) : "did you mean " + elsewhere + "?";
        faults_.add(entry.place, ProblemCode::unknown, "unknown key " + quoted(path), hint);
        return false;
    }

    const Node& top_;
    IsLater later_;
    Faults& faults_;
};

}  // namespace

void check_keys(Node& written, const Node& known, Faults& faults, IsLater later) {
    KeyCheck(known, later, faults).walk(written, known, "");
}

std::string closest_key(std::string_view key, const std::vector<std::string>& known) {
    const std::string* closest = nullptr;
    std::size_t distance = std::max<std::size_t>(2, key.size() / 3) + 1;
    for (const std::string& candidate : known) {
        const std::size_t here = key.size() > 64 ? distance : edit_distance(key, candidate);
        if (here < distance && here < candidate.size()) {
            distance = here;
            closest = &candidate;
        }
    }
    if (closest != nullptr) return "did you mean " + *closest + "?";
    std::string list = "known here:";
    for (const std::string& candidate : known) list += (&candidate == known.data() ? " " : ", ") + candidate;
    return list;
}

void check_keys_of(const Node& mapping, const std::vector<std::string>& allowed, const std::string& path, Faults& faults) {
    for (const Entry& entry : mapping.entries) {
        if (std::find(allowed.begin(), allowed.end(), entry.key) != allowed.end()) continue;
        faults.add(entry.place, ProblemCode::unknown, "unknown key " + quoted(path + "." + entry.key),
                   closest_key(entry.key, allowed));
    }
}

}  // namespace retryd::policyfile
