#include "policyfile/document_builder.hpp"

#include "policyfile/faults.hpp"

#include <yaml-cpp/mark.h>
#include <utility>

namespace retryd::policyfile {

using model::ProblemCode;

namespace {

Place place_of(const YAML::Mark& mark) {
    return {mark.line + 1, mark.column + 1};
}

}  // namespace

void DocumentBuilder::OnDocumentStart(const YAML::Mark& mark) {
    if (started_) {
        faults_.add(place_of(mark), ProblemCode::duplicate, "a second document begins here", "a policy file holds one");
        throw Stop{};
    }
    started_ = true;
}

void DocumentBuilder::OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) {
    Node node;
    node.place = place_of(mark);
    if (!open_.empty()) {
        const Level& level = open_.back();
        const bool value = level.node.mapping() && level.key;
        const std::string what = value ? quoted(level.key->text) + " has no value" : "nothing stands here";
        const std::string hint = "write a value, or leave it out for the built-in one; {} is an empty mapping";
        if (!value || level.key->usable) faults_.add(value ? level.key->place : node.place, ProblemCode::missing, what, hint);
    }
    put(std::move(node));
}

void DocumentBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) {
    faults_.add(place_of(mark), ProblemCode::bad_syntax, "YAML aliases are not read",
                "write the value out, or use defaults or a group");
    Node node;
    node.place = place_of(mark);
    put(std::move(node));
}

void DocumentBuilder::OnAnchor(const YAML::Mark& mark, const std::string& /*name*/) {
    faults_.add(place_of(mark), ProblemCode::bad_syntax, "YAML anchors are not read",
                "write the value out, or use defaults or a group");
}

void DocumentBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                               const std::string& value) {
    check_tag(mark, tag);
    Node node;
    node.kind = Node::Kind::scalar;
    node.place = place_of(mark);
    node.text = value;
    node.plain = tag == "?";
    put(std::move(node));
}

void DocumentBuilder::OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                                      YAML::EmitterStyle::value /*style*/) {
    open(Node::Kind::list, mark, tag);
}

void DocumentBuilder::OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                                 YAML::EmitterStyle::value /*style*/) {
    open(Node::Kind::mapping, mark, tag);
}

void DocumentBuilder::open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag) {
    check_tag(mark, tag);
    if (open_.size() == deepest_document) {
        faults_.add(place_of(mark), ProblemCode::too_large, "nested deeper than 32 levels", "a policy needs six");
        throw Stop{};
    }
    Level level;
    level.node.kind = kind;
    level.node.place = place_of(mark);
    open_.push_back(std::move(level));
}

void DocumentBuilder::close() {
    Node node = std::move(open_.back().node);
    open_.pop_back();
    put(std::move(node));
}

void DocumentBuilder::put(Node node) {
    if (open_.empty()) {
        root_ = std::move(node);
        return;
    }
    Level& level = open_.back();
    if (level.node.list()) {
        level.node.items.push_back(std::move(node));
    } else if (!level.key) {
        put_key(level, node);
    } else {
        if (level.key->usable) level.node.entries.push_back({level.key->text, level.key->place, std::move(node)});
        level.key.reset();
    }
}

void DocumentBuilder::put_key(Level& level, const Node& node) {
    level.key = Key{node.text, node.place, node.scalar()};
    if (!node.absent() && !node.scalar()) {
        faults_.add(node.place, ProblemCode::bad_syntax, "a key that is a list or a mapping", "keys are plain text");
    }
    if (!node.scalar()) return;
    if (node.plain && node.text == "<<") {
        faults_.add(node.place, ProblemCode::bad_syntax, "YAML merge keys are not read", "use defaults or a group");
        level.key->usable = false;
        return;
    }
    const auto [first, fresh] = level.seen.try_emplace(node.text, node.place);
    if (fresh) return;
    level.key->usable = false;
    faults_.add(node.place, ProblemCode::duplicate,
                quoted(node.text) + " stands here a second time, the first is in line " + std::to_string(first->second.line),
                "keep one of them");
}

void DocumentBuilder::check_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    faults_.add(place_of(mark), ProblemCode::bad_syntax, "YAML tags are not read", "leave the tag out; quotes make a string");
}

}  // namespace retryd::policyfile
