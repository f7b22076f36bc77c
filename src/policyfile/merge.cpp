#include "policyfile/merge.hpp"

namespace retryd::policyfile {

namespace {

void lay_value(Node& under, const Node& over, const Node& built_in) {
    if (over.absent()) {
        set_section(under, over.section);  // written, though nothing usable: it is not missing
    } else if (!over.mapping()) {
        under = over;
    } else if (under.mapping()) {
        lay_over(under, over, built_in);
    } else if (built_in.mapping()) {
        under = built_in;
        lay_over(under, over, built_in);
    } else {
        under = over;
    }
}

}  // namespace

void lay_over(Node& under, const Node& over, const Node& built_in) {
    static const Node nothing;
    under.place = over.place;
    under.section = over.section;
    for (const Entry& entry : over.entries) {
        const Node* const standard = built_in.find(entry.key);
        if (Node* const below = under.find(entry.key)) {
            lay_value(*below, entry.value, standard == nullptr ? nothing : *standard);
        } else {
            under.entries.push_back(entry);
        }
    }
}

}  // namespace retryd::policyfile
