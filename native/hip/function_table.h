// Functions of HIP by name, with the version that has them first (as HIP_VERSION numbers it: 60100000 is 6.1).
#pragma once

namespace wavesmith::hip {

struct FunctionEntry {
  const char* name;
  int since;
  void (*address)();
};

// nullptr for a name that HIP does not have.
const FunctionEntry* FindFunctionEntry(const char* name);
// nullptr behind the last.
const char* FunctionName(unsigned number);

}  // namespace wavesmith::hip
