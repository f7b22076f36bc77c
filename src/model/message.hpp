#pragma once
// A message as the broker sent it: raw and immutable, shared until its copy is confirmed.
//
// Nothing is decoded here. model/properties.hpp reads and writes the property bytes, model/header_table.hpp the
// header table in them.

#include <memory>
#include <string>

namespace retryd::model {

struct Message {
    std::string properties;  // AMQP 0-9-1 content header: the property flags and the property list, as they came
    std::string body;
};
using MessagePtr = std::shared_ptr<const Message>;

// How the message reached the queue that we took it from.
struct Arrival {
    std::string exchange;
    std::string routing_key;
    bool redelivered = false;
};

}  // namespace retryd::model
