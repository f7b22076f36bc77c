#pragma once
// A daemon to ask: it shows what it is given, and counts who drains it.

#include "ports/operator.hpp"

#include <string_view>

namespace fuzz {

class Operator final : public retryd::ports::Operator {
public:
    retryd::model::StatusView view;
    retryd::model::WhyView story;
    retryd::model::Figures numbers;
    int drains = 0;
    int orders = 0;

    [[nodiscard]] retryd::model::StatusView status() const override { return view; }
    [[nodiscard]] retryd::model::WhyView why(std::string_view id) const override {
        auto known = story;
        known.id = id;
        return known;
    }
    [[nodiscard]] const retryd::model::Figures& figures() const override { return numbers; }
    void drain(std::string_view) override { ++drains; }
    [[nodiscard]] bool obey(const retryd::model::Order&, std::string_view) override { return ++orders % 2 == 0; }
};

}  // namespace fuzz
