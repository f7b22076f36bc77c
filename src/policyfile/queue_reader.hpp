#pragma once
// The queue keys: one merged mapping in, one QueuePolicy out. Split by the sections of the file.

#include "model/policy.hpp"
#include "policyfile/queue_names.hpp"
#include "policyfile/sections.hpp"
#include "policyfile/values.hpp"

#include <optional>
#include <vector>

namespace retryd::policyfile {

// Everything but names and destinations: what can be judged of defaults or a group alone, too.
// `dependencies`: those that a queue may need.
void read_queue_values(const Field& queue, const std::vector<model::DependencyPolicy>& dependencies, Values& values,
                       model::QueuePolicy& policy);

// Where messages go, and what only a whole queue must have (a consumer). `names` knows every queue of the file.
void read_queue_whole(const QueueSection& section, const OwnNames& names, Values& values, model::QueuePolicy& policy);

// The parts, each in a file of its own.
void read_deliver(const Field& deliver, Values& values, model::DeliverPolicy& out);
void read_ready(const Field& ready, Values& values, std::optional<model::ReadyPolicy>& out);
void read_stream(const Field& deliver, Values& values, std::optional<model::StreamTarget>& out);
void read_classify(const Field& classify, Values& values, std::vector<model::ClassifyRule>& out);
void read_retry(const Field& retry, Values& values, model::RetryPolicy& out);
void read_hold(const Field& hold, Values& values, model::HoldPolicy& out);

// Of several of them.
void read_patterns(const Field& field, Values& values, std::vector<model::Pattern>& out);
void read_message_match(const Field& mapping, Values& values, model::MessageMatch& out);

}  // namespace retryd::policyfile
