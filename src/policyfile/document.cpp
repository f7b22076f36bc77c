#include "policyfile/document.hpp"

#include "policyfile/document_builder.hpp"
#include "policyfile/document_text.hpp"
#include "policyfile/faults.hpp"

#include <yaml-cpp/yaml.h>
#include <algorithm>
#include <sstream>

namespace retryd::policyfile {

using model::ProblemCode;

namespace {

// yaml-cpp's words, where they can be said plainer.
std::string plainer(const std::string& message) {
    static constexpr std::pair<std::string_view, std::string_view> words[] = {
        {"end of map flow not found", "a { is not closed, or a comma is missing"},
        {"end of sequence flow not found", "a [ is not closed, or a comma is missing"},
        {"illegal EOF in scalar", "a quote is not closed"},
        {"illegal map value", "a second \": \" on one line, or an indentation that does not fit"},
        {"end of map not found", "an indentation that does not fit the lines above"},
        {"end of sequence not found", "an indentation that does not fit the lines above"},
        {"illegal tab when looking for indentation", "a tab; indent with spaces"},
    };
    for (const auto& [theirs, ours] : words) {
        if (message == theirs) return std::string(ours);
    }
    return message;
}

// Feeds the builder; whatever the parser thinks of the text ends here.
void run_parser(const std::string& text, DocumentBuilder& builder, Faults& faults) {
    try {
        std::istringstream stream(text);
        YAML::Parser parser(stream);
        while (parser.HandleNextDocument(builder)) {
        }
    } catch (const DocumentBuilder::Stop&) {
    } catch (const YAML::Exception& error) {
        const bool placed = error.mark.line > 0 || error.mark.column > 0;  // at the end of the file it is not
        const Place place = placed ? Place{error.mark.line + 1, error.mark.column + 1} : builder.innermost();
        faults.add(place, ProblemCode::bad_syntax, "not readable as YAML: " + plainer(error.msg));
    } catch (const std::exception&) {
        faults.add({}, ProblemCode::bad_syntax, "not readable as YAML");
    }
}

}  // namespace

const Node* Node::find(std::string_view key) const {
    const auto found = std::find_if(entries.begin(), entries.end(), [key](const Entry& entry) { return entry.key == key; });
    return found == entries.end() ? nullptr : &found->value;
}

Node* Node::find(std::string_view key) {
    const auto found = std::find_if(entries.begin(), entries.end(), [key](const Entry& entry) { return entry.key == key; });
    return found == entries.end() ? nullptr : &found->value;
}

Node parse_document(std::string_view text, Faults& faults) {
    if (!check_text(text, faults)) return {};
    DocumentBuilder builder(faults);
    const std::string owned(text);
    run_parser(owned, builder, faults);
    Node root = builder.take();
    if (root.mapping()) return root;
    if (!faults.any()) {
        const std::string what = builder.started() ? "the file is not a mapping of keys" : "the file holds no policy";
        faults.add(root.place, ProblemCode::missing, what, "a policy begins with keys such as broker: and queues:");
    }
    return {};
}

void set_section(Node& node, const std::string& section) {
    node.section = section;
    for (Node& item : node.items) set_section(item, section);
    for (Entry& entry : node.entries) set_section(entry.value, section);
}

std::string quoted(std::string_view text) {
    static constexpr std::size_t limit = 60;
    std::size_t end = std::min(text.size(), limit);
    while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    std::string out = "\"";
    for (const char c : text.substr(0, end)) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
    return out + (end < text.size() ? "…\"" : "\"");
}

}  // namespace retryd::policyfile
