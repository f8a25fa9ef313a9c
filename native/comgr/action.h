// Actions: what turns one set of data into another.
#pragma once
#include <string>

#include "comgr/objects.h"

namespace wavesmith::comgr {

// Results are added to `result`; what compilers said, and why an action failed, to `log`.
Status Perform(Action action, const ActionInfo& info, const DataSet& input, DataSet* result, std::string* log);

}  // namespace wavesmith::comgr
