#include "policyfile/document_text.hpp"

#include "policyfile/document.hpp"
#include "policyfile/faults.hpp"

#include <cstdint>

namespace retryd::policyfile {

namespace {

// The length of the character at the start of `text`; 0: not UTF-8 (overlong forms and surrogates are not).
std::size_t character_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) return 1;
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0U) != 0x80U) return 0;
    }
    const unsigned char second = byte(1);
    const bool wrong = (lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) || (lead == 0xF0 && second < 0x90) ||
                       (lead == 0xF4 && second > 0x8F);
    return wrong ? 0 : length;
}

bool is_control(char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t') || c == 0x7F;
}

}  // namespace

bool check_text(std::string_view text, Faults& faults) {
    if (text.size() > longest_document) {
        faults.add({}, model::ProblemCode::too_large, "the file is larger than 1 MiB", "is it a policy file?");
        return false;
    }
    Place place;
    while (!text.empty()) {
        const std::size_t length = character_length(text);
        if (length == 0) {
            faults.add(place, model::ProblemCode::bad_syntax, "a byte that is not UTF-8", "save the file as UTF-8");
            return false;
        }
        if (is_control(text[0])) {
            faults.add(place, model::ProblemCode::bad_syntax, "a control character", "write it as \\xNN in double quotes");
            return false;
        }
        place = text[0] == '\n' ? Place{place.line + 1, 1} : Place{place.line, place.column + static_cast<int>(length)};
        text.remove_prefix(length);
    }
    return true;
}

}  // namespace retryd::policyfile
