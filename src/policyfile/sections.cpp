#include "policyfile/sections.hpp"

#include "policyfile/builtin.hpp"
#include "policyfile/faults.hpp"
#include "policyfile/keys.hpp"
#include "policyfile/merge.hpp"
#include "policyfile/queue_names.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace retryd::policyfile {

using model::ProblemCode;

namespace {

constexpr std::size_t most_queues = 1000;  // of queues, and of groups: each makes dozens of queues on the broker

struct Group {
    std::string name;
    Node values;
};

// `key: SCALAR` as short form of `key: {inner: SCALAR}`.
void wrap_scalar(Node& node, const std::string& inner) {
    if (!node.scalar()) return;
    Node mapping;
    mapping.kind = Node::Kind::mapping;
    mapping.place = node.place;
    mapping.entries.push_back({inner, node.place, std::move(node)});
    node = std::move(mapping);
}

class Taker {
public:
    explicit Taker(Faults& faults) : faults_(faults), built_in_(built_in_values()), standard_(take(built_in_, "defaults")) {
        for (const char* key : {"queues", "groups"}) take(built_in_, key);
    }

    Sections sections(Node root) {
        Sections out;
        out.start = root.place;
        Node defaults = take(root, "defaults");
        Node groups = take(root, "groups");
        Node queues = take(root, "queues");
        out.process = process(std::move(root));
        defaults_ = queue_values(std::move(defaults), "defaults", "defaults");
        out.alone.push_back(over_built_in(defaults_));
        take_groups(groups, out);
        take_queues(queues, out);
        for (const auto& [name, place] : group_only_) add_queue(name, place, Node{}, out);
        return out;
    }

private:
    static Node take(Node& root, std::string_view key) {
        const auto found =
            std::find_if(root.entries.begin(), root.entries.end(), [key](const Entry& entry) { return entry.key == key; });
        if (found == root.entries.end()) return {};
        Node node = std::move(found->value);
        root.entries.erase(found);
        return node;
    }

    Node process(Node root) {
        if (Node* const broker = root.find("broker")) wrap_scalar(*broker, "uri");
        Node known = built_in_;
        known.entries.push_back({"defaults", {}, standard_});  // so that a queue key at the top is told where it belongs
        for (const char* key : {"queues", "groups"}) known.entries.push_back({key, {}, {}});
        check_keys(root, known, faults_, process_key_is_later);
        Node merged = built_in_;
        lay_over(merged, root, built_in_);
        if (Node* const dependencies = merged.find("dependencies")) complete_dependencies(*dependencies);
        return merged;
    }

    void complete_dependencies(Node& dependencies) {
        const Node standard = built_in_dependency();
        for (Entry& entry : dependencies.entries) {
            if (!entry.value.mapping() && !entry.value.absent()) {
                faults_.add(entry.value.place, ProblemCode::bad_value,
                            "dependencies." + entry.key + " is not a mapping of keys", "{} for the built-in values");
            }
            check_keys(entry.value, standard, faults_);
            Node complete = standard;
            if (entry.value.mapping()) lay_over(complete, entry.value, standard);
            entry.value = std::move(complete);
        }
    }

    // A section of queue keys, checked; empty when it is not a mapping.
    Node queue_values(Node written, const std::string& what, const std::string& section) {
        if (!written.mapping()) {
            if (!written.absent())
                faults_.add(written.place, ProblemCode::bad_value, what + " is not a mapping of keys", "{} for none");
            return {};
        }
        check_keys(written, standard_, faults_);
        set_section(written, section);
        return written;
    }

    Node over_built_in(const Node& section) const {
        Node merged = standard_;
        if (section.mapping()) lay_over(merged, section, standard_);
        return merged;
    }

    void take_groups(Node& groups, Sections& out) {
        if (!groups.mapping() && !groups.absent()) {
            faults_.add(groups.place, ProblemCode::bad_value, "groups is not a mapping",
                        "write NAME: {queues: [...], ...} for each");
        }
        if (groups.entries.size() > most_queues) {
            faults_.add(groups.place, ProblemCode::too_large, "more than 1000 groups",
                        "one for queues that have values in common");
            return;
        }
        for (Entry& entry : groups.entries) {
            if (const auto trouble = queue_name_trouble(entry.key)) {
                faults_.add(entry.place, trouble->code, "a group's name has the limits of a queue's: " + trouble->what,
                            trouble->hint);
            }
            const bool shaped = entry.value.mapping();
            const Node members = take(entry.value, "queues");
            groups_.push_back(
                {entry.key, queue_values(std::move(entry.value), "group " + quoted(entry.key), "group " + entry.key)});
            out.alone.push_back(over_built_in(groups_.back().values));
            if (shaped) take_members(members, entry);
        }
    }

    void take_members(const Node& members, const Entry& group) {
        if (!members.list() || members.items.empty()) {
            const Place place = members.absent() ? group.place : members.place;
            faults_.add(place, ProblemCode::missing, "group " + quoted(group.key) + " names no queues", "queues: [NAME, ...]");
        }
        for (const Node& member : members.items) {
            if (!member.scalar()) {
                if (!member.absent())
                    faults_.add(member.place, ProblemCode::bad_value, "a queue's name is due here", "plain text");
                continue;
            }
            const auto [first, fresh] = group_of_.try_emplace(member.text, groups_.size() - 1);
            if (fresh) {
                group_only_.emplace_back(member.text, member.place);
                continue;
            }
            const std::string other = groups_[first->second].name;
            faults_.add(member.place, ProblemCode::duplicate,
                        "queue " + quoted(member.text) + " is in group " + quoted(group.key) +
                            (other == group.key ? " twice" : " and in group " + quoted(other)),
                        "a queue belongs to one group");
        }
    }

    void take_queues(Node& queues, Sections& out) {
        if (!queues.mapping() && !queues.absent()) {
            faults_.add(queues.place, ProblemCode::bad_value, "queues is not a mapping", "write NAME: {...} for each");
        }
        for (Entry& entry : queues.entries) {
            std::erase_if(group_only_, [&](const auto& member) { return member.first == entry.key; });
            if (entry.value.scalar()) {
                wrap_scalar(entry.value, "http");
                Node wrapped;
                wrapped.kind = Node::Kind::mapping;
                wrapped.place = entry.value.place;
                wrapped.entries.push_back({"deliver", entry.value.place, std::move(entry.value)});
                entry.value = std::move(wrapped);
            }
            add_queue(entry.key, entry.place, queue_values(std::move(entry.value), "queue " + quoted(entry.key), "queue"), out);
        }
    }

    void add_queue(const std::string& name, Place place, const Node& own, Sections& out) {
        if (out.queues.size() == most_queues) {
            faults_.add(out.start, ProblemCode::too_large, "more than 1000 queues", "another file, for another daemon");
            return;
        }
        if (const auto trouble = queue_name_trouble(name)) faults_.add(place, trouble->code, trouble->what, trouble->hint);
        Node merged = over_built_in(defaults_);
        const auto group = group_of_.find(name);
        if (group != group_of_.end() && groups_[group->second].values.mapping())
            lay_over(merged, groups_[group->second].values, standard_);
        if (own.mapping()) lay_over(merged, own, standard_);
        out.queues.push_back({name, place, std::move(merged)});
    }

    Faults& faults_;
    Node built_in_;  // process-wide keys
    Node standard_;  // queue keys
    Node defaults_;
    std::vector<Group> groups_;
    std::map<std::string, std::size_t> group_of_;
    std::vector<std::pair<std::string, Place>> group_only_;
};

}  // namespace

Sections read_sections(std::string_view text, Faults& faults) {
    Node root = parse_document(text, faults);
    if (!root.mapping()) return {};
    Sections sections = Taker(faults).sections(std::move(root));
    if (sections.queues.empty()) {
        faults.add(sections.start, ProblemCode::missing, "no queue is named",
                   "queues: {orders: \"http://127.0.0.1:8080/orders\"}");
    }
    return sections;
}

}  // namespace retryd::policyfile
