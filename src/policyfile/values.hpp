#pragma once
// Reads one value of the merged tree at a time. A getter assigns only what is good; what is not is told with its path.

#include "policyfile/document.hpp"
#include "policyfile/faults.hpp"
#include "policyfile/scalars.hpp"
#include "policyfile/secrets.hpp"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace retryd::policyfile {

// A node and the path that leads to it. `node` is never null: a missing key is an absent node.
struct Field {
    std::reference_wrapper<const Node> node;
    std::string path;

    [[nodiscard]] Field at(std::string_view key) const;
    [[nodiscard]] Field with(const Node& item) const { return {item, path}; }  // an item of this list
    [[nodiscard]] const Node& get() const { return node.get(); }
    [[nodiscard]] bool absent() const { return get().absent(); }
    [[nodiscard]] bool built_in() const { return get().section == "built-in"; }
    [[nodiscard]] bool off() const { return get().scalar() && get().text == "none"; }
};

template <class T>
struct Range {
    T least, most;
};
template <class T>
using Choices = std::initializer_list<std::pair<std::string_view, T>>;

class Values {
public:
    // `queue` stands for {queue}; empty: process-wide keys.
    Values(Faults& faults, Secrets& secrets, std::string queue)
        : faults_(faults), secrets_(secrets), queue_(std::move(queue)) {}

    void fault(const Field& field, const std::string& what, std::string hint = {},
               model::ProblemCode code = model::ProblemCode::bad_value);
    [[nodiscard]] Faults& faults() { return faults_; }

    // The text with everything put in. Nothing when absent, or told already.
    [[nodiscard]] std::optional<std::string> text(const Field& field);
    // What the file holds that the value names, without the newline at its end. Nothing when absent, or told already.
    [[nodiscard]] std::optional<std::string> file(const Field& field, std::size_t longest = longest_secret);
    // The items of a list, or a scalar or mapping as the only one. An empty list is told.
    [[nodiscard]] std::vector<Field> one_or_more(const Field& field);

    void read(const Field& field, Range<std::uint32_t> range, std::uint32_t& out);
    void read(const Field& field, Range<model::Milliseconds> range, model::Milliseconds& out);
    void read(const Field& field, Range<model::ByteCount> range, model::ByteCount& out);
    void read(const Field& field, Range<model::Ratio> range, model::Ratio& out);
    void read(const Field& field, Range<double> range, double& out);
    void read(const Field& field, Range<model::Frequency> range, model::Frequency& out);
    // `none` is off.
    template <class T>
    void read(const Field& field, Range<T> range, std::optional<T>& out) {
        out.reset();
        if (field.off()) return;
        T value = range.least;
        read(field, range, value);
        out = value;
    }

    template <class T>
    void choose(const Field& field, Choices<T> choices, T& out) {
        const std::optional<std::string> chosen = text(field);
        if (!chosen) return;
        std::string words;
        for (const auto& [word, value] : choices) {
            if (*chosen == word) {
                out = value;
                return;
            }
            words += (words.empty() ? "" : ", ") + std::string(word);
        }
        fault(field, shown(field) + " is none of its words", "one of: " + words);
    }

    // The value in quotes for a message: as written, so that no secret is shown.
    [[nodiscard]] static std::string shown(const Field& field) { return quoted(field.get().text); }

private:
    [[nodiscard]] std::optional<std::string> number_text(const Field& field);

    Faults& faults_;
    Secrets& secrets_;
    std::string queue_;
};

}  // namespace retryd::policyfile
