// Functions of HIP that this runtime does not have (tools/gen-hip/functions.tsv says why). Each gives hipErrorNotSupported, so that programs
// that only link them run.
namespace wavesmith::hip {
int RememberNotSupported(const char* function);
}  // namespace wavesmith::hip
#define WAVESMITH_REFUSED(name)                                 \
  extern "C" __attribute__((visibility("default"))) int name(); \
  extern "C" int name() { return wavesmith::hip::RememberNotSupported(#name); }
#include "hip/refused.inc"
