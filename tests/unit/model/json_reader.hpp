#pragma once
// Tells whether a text is one JSON value, so that what the room writes is judged by other code than its own.

#include <cctype>
#include <cstddef>
#include <string_view>

namespace samples {

class JsonReader {
public:
    [[nodiscard]] static bool is_json(std::string_view text) {
        JsonReader reader(text);
        return reader.value() && reader.rest_.empty();
    }

private:
    explicit JsonReader(std::string_view text) : rest_(text) {}

    bool take(std::string_view expected) {
        if (!rest_.starts_with(expected)) return false;
        rest_.remove_prefix(expected.size());
        return true;
    }

    bool value() {
        if (rest_.empty()) return false;
        if (rest_[0] == '{') return list('{', '}', true);
        if (rest_[0] == '[') return list('[', ']', false);
        if (rest_[0] == '"') return string();
        return take("true") || take("false") || take("null") || number();
    }

    bool list(char open, char close, bool keys) {
        if (!take({&open, 1})) return false;
        if (take({&close, 1})) return true;
        do {
            if (keys && !(string() && take(":"))) return false;
            if (!value()) return false;
        } while (take(","));
        return take({&close, 1});
    }

    bool string() {
        if (!take("\"")) return false;
        while (!rest_.empty() && rest_[0] != '"') {
            if (static_cast<unsigned char>(rest_[0]) < 0x20) return false;
            if (rest_[0] == '\\' ? !escape() : !take(rest_.substr(0, 1))) return false;
        }
        return take("\"");
    }

    bool escape() {
        if (take("\\\"") || take("\\\\")) return true;
        if (!take("\\u") || rest_.size() < 4) return false;
        for (std::size_t i = 0; i < 4; ++i) {
            if (std::isxdigit(static_cast<unsigned char>(rest_[i])) == 0) return false;
        }
        rest_.remove_prefix(4);
        return true;
    }

    std::size_t digits() {
        std::size_t n = 0;
        while (n < rest_.size() && rest_[n] >= '0' && rest_[n] <= '9') ++n;
        rest_.remove_prefix(n);
        return n;
    }

    bool number() {
        take("-");
        if (!take("0") && digits() == 0) return false;
        if (take(".") && digits() == 0) return false;
        if (take("e")) {
            if (!take("+")) take("-");
            return digits() > 0;
        }
        return true;
    }

    std::string_view rest_;
};

}  // namespace samples
