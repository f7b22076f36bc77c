#include "policyfile/effective.hpp"

#include "policyfile/broker_uri.hpp"
#include "policyfile/builtin.hpp"
#include "policyfile/keys.hpp"
#include "policyfile/secrets.hpp"

#include <array>
#include <cstdint>
#include <cstdio>

namespace retryd::policyfile {

namespace {

// Values of these may be secrets even when they are written out.
enum class Shown { plainly, without_password, never };
Shown how_to_show(const std::string& key) {
    if (key == "broker.uri") return Shown::without_password;
    return key.starts_with("deliver.headers.") ? Shown::never : Shown::plainly;
}

class Flattener {
public:
    Flattener(std::string queue, std::string file, IsLater later)
        : queue_(std::move(queue)), file_(std::move(file)), later_(later) {}

    void walk(const Node& node, const std::string& key) {
        if (node.mapping() && !node.entries.empty()) {
            for (const Entry& entry : node.entries) walk(entry.value, key.empty() ? entry.key : key + "." + entry.key);
            return;
        }
        lines_.push_back({key, value(node, key), origin(node), later_(key)});
    }
    [[nodiscard]] std::vector<EffectiveValue> take() { return std::move(lines_); }

private:
    std::string value(const Node& node, const std::string& key) const {
        if (node.absent() && key == "retry.max") return "(one for each delay)";
        if (node.absent() && key == "admin.listen") return "(admin.sock in the runtime directory)";
        if (node.absent()) return "(none)";
        return flow(node, how_to_show(key));
    }

    // As YAML in one line. Secrets stay as written: `${env:NAME}`.
    std::string flow(const Node& node, Shown shown) const {
        if (node.scalar()) {
            if (shown == Shown::never) return "***";
            const std::string text = with_queue(node.text, queue_);
            return shown == Shown::without_password ? without_password(text) : text;
        }
        std::string out;
        for (const Node& item : node.items) out += (out.empty() ? "" : ", ") + flow(item, shown);
        for (const Entry& entry : node.entries) out += (out.empty() ? "" : ", ") + entry.key + ": " + flow(entry.value, shown);
        return node.list() ? "[" + out + "]" : "{" + out + "}";
    }

    std::string origin(const Node& node) const {
        if (node.section == "built-in") return node.section;
        const std::string place = file_ + ":" + std::to_string(node.place.line);
        return node.section.empty() ? place : node.section + ", " + place;
    }

    std::string queue_, file_;
    IsLater later_;
    std::vector<EffectiveValue> lines_;
};

// FNV-1a
class Hash {
public:
    void add(std::string_view text) {
        for (const char c : text) value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
        value_ = (value_ ^ 0xFFU) * 0x100000001b3U;  // no byte of UTF-8: "ab", "c" is not "a", "bc"
    }
    [[nodiscard]] std::string text() const {
        std::array<char, 17> digits{};
        std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(value_));
        return digits.data();
    }

private:
    std::uint64_t value_ = 0xcbf29ce484222325U;
};

void add_lines(Hash& hash, const std::vector<EffectiveValue>& lines) {
    for (const EffectiveValue& line : lines) {
        hash.add(line.key);
        hash.add(line.value);
    }
}

}  // namespace

std::vector<EffectiveValue> process_values(const Sections& sections, const std::string& file) {
    Flattener flattener("", file, process_key_is_later);
    flattener.walk(sections.process, "");
    return flattener.take();
}

std::vector<EffectiveValue> queue_values(const QueueSection& queue, const std::string& file) {
    Flattener flattener(queue.name, file, none_is_later);
    flattener.walk(queue.values, "");
    return flattener.take();
}

std::string hash_of(const Sections& sections) {
    Hash hash;
    add_lines(hash, process_values(sections, ""));
    for (const QueueSection& queue : sections.queues) {
        hash.add(queue.name);
        add_lines(hash, queue_values(queue, ""));
    }
    return hash.text();
}

}  // namespace retryd::policyfile
