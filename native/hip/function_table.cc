// Every function of HIP by name. The HIP headers are not included: their prototypes would contradict the declarations made here for addresses.
#include "hip/function_table.h"

#include <cstring>
#include <iterator>

#define HIP_FUNCTION(name, since) extern "C" void name();
#include "hip/functions.inc"
#undef HIP_FUNCTION

namespace wavesmith::hip {
namespace {

#define HIP_FUNCTION(name, since) {#name, since, name},
constexpr FunctionEntry kFunctions[] = {
#include "hip/functions.inc"
};
#undef HIP_FUNCTION

}  // namespace

const FunctionEntry* FindFunctionEntry(const char* name) {
  for (const FunctionEntry& entry : kFunctions) {
    if (std::strcmp(entry.name, name) == 0) return &entry;
  }
  return nullptr;
}

const char* FunctionName(unsigned number) { return number < std::size(kFunctions) ? kFunctions[number].name : nullptr; }

}  // namespace wavesmith::hip
