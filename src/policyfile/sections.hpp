#pragma once
// The file taken apart: what the process has, and for each queue its complete values, merged from all layers.

#include "policyfile/document.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace retryd::policyfile {

class Faults;

struct QueueSection {
    std::string name;
    Place place;  // where it is named
    Node values;  // complete: every queue key is there
};
struct Sections {
    Place start;                       // of the file's first key
    Node process;                      // complete: every process-wide key
    std::vector<QueueSection> queues;  // those of `queues:`, then those that only a group names; in the file's order
    std::vector<Node> alone;           // defaults and each group over the built-in values: read for their faults alone
};

// Unknown keys, keys due later and misshapen sections are told and left out. Nothing usable in `text`: no queues.
[[nodiscard]] Sections read_sections(std::string_view text, Faults& faults);

}  // namespace retryd::policyfile
