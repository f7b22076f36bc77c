#pragma once
// Layers of the policy: built-in < defaults < group < queue.

#include "policyfile/document.hpp"

namespace retryd::policyfile {

// Lays `over` on `under`: mappings merge by key, everything else is replaced whole. Where `over` has a mapping and `under`
// something else (`quick: none` in defaults), the mapping is completed from `built_in`, the built-in tree of the same place.
// Places and sections go with the values.
void lay_over(Node& under, const Node& over, const Node& built_in);

}  // namespace retryd::policyfile
