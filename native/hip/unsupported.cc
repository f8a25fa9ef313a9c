// Functions of HIP that this runtime does not have (tools/gen-hip/functions.tsv says why). Each gives hipErrorNotSupported, so that programs
// that only link them run. Those of images look at their pointers first, as AMD's runtime does on chips without images.
namespace wavesmith::hip {
int RememberNotSupported();
int RememberInvalidValue();
}  // namespace wavesmith::hip
#define WAVESMITH_REFUSED(name)                                 \
  extern "C" __attribute__((visibility("default"))) int name(); \
  extern "C" int name() { return wavesmith::hip::RememberNotSupported(); }
#define WAVESMITH_REFUSED_1(name)                                          \
  extern "C" __attribute__((visibility("default"))) int name(const void*); \
  extern "C" int name(const void* first) {                                 \
    if (first == nullptr) return wavesmith::hip::RememberInvalidValue();   \
    return wavesmith::hip::RememberNotSupported();                         \
  }
#define WAVESMITH_REFUSED_2(name)                                                             \
  extern "C" __attribute__((visibility("default"))) int name(const void*, const void*);       \
  extern "C" int name(const void* first, const void* second) {                                \
    if (first == nullptr || second == nullptr) return wavesmith::hip::RememberInvalidValue(); \
    return wavesmith::hip::RememberNotSupported();                                            \
  }
#include "hip/refused.inc"
