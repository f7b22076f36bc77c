#pragma once
// Builds the tree from yaml-cpp's events. Used by document.cpp alone: no other file sees yaml-cpp.
// Events rather than YAML::Node: the library's own tree keeps the first of two equal keys and says nothing.

#include "policyfile/document.hpp"

#include <yaml-cpp/eventhandler.h>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace retryd::policyfile {

class DocumentBuilder final : public YAML::EventHandler {
public:
    struct Stop {};  // thrown through the parser when reading on makes no sense; the fault has been told

    explicit DocumentBuilder(Faults& faults) : faults_(faults) {}
    [[nodiscard]] bool started() const { return started_; }
    // Where the innermost list or mapping that is still open begins.
    [[nodiscard]] Place innermost() const { return open_.empty() ? Place{} : open_.back().node.place; }
    [[nodiscard]] Node take() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark& mark) override;
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
    void OnAnchor(const YAML::Mark& mark, const std::string& name) override;
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override;
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value style) override;
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value style) override;
    void OnMapEnd() override { close(); }

private:
    struct Key {
        std::string text;
        Place place;
        bool usable = true;  // its value is kept
    };
    struct Level {  // an open list or mapping
        Node node;
        std::optional<Key> key;  // read, its value not yet
        std::unordered_map<std::string, Place> seen;
    };
    void open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag);
    void close();
    void put(Node node);
    void put_key(Level& level, const Node& node);
    void check_tag(const YAML::Mark& mark, const std::string& tag);

    Faults& faults_;
    bool started_ = false;
    std::vector<Level> open_;
    Node root_;
};

}  // namespace retryd::policyfile
