// The log of calls: AMD_LOG_LEVEL, AMD_LOG_MASK, hipExtSetLoggingParams. Sources: HIP documentation, "Logging HIP activity"; ROCm/clr,
// rocclr/utils/debug.hpp (levels and masks).
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "hip/runtime.h"

namespace wavesmith::hip {
namespace {

constexpr size_t kErrors = 1;  // LOG_ERROR: calls that fail
constexpr size_t kCalls = 3;   // LOG_INFO: all
constexpr size_t kApi = 1;     // the mask's bit of calls

size_t FromEnvironment(const char* name, size_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<size_t>(std::strtoull(text, nullptr, 0));
}

// Level 0 logs nothing. What is configured counts from hipExtEnableLogging on; the environment's from the start.
std::atomic<size_t> configured{FromEnvironment("AMD_LOG_LEVEL", 0)};
std::atomic<size_t> mask{FromEnvironment("AMD_LOG_MASK", SIZE_MAX)};
std::atomic<size_t> level{configured.load()};

}  // namespace

void Log(const char* function, hipError_t error) {
  const size_t wanted = level.load(std::memory_order_relaxed);
  if (wanted < (error == hipSuccess ? kCalls : kErrors) || (mask.load(std::memory_order_relaxed) & kApi) == 0) return;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  std::fprintf(stderr, ":%d:wavesmith: %lld us: [pid:%d tid:%d] %s: Returned %s\n", error == hipSuccess ? 3 : 1,
               static_cast<long long>(microseconds), getpid(), gettid(), function, hipGetErrorName(error));
}

}  // namespace wavesmith::hip

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

extern "C" {

// The size is of a log file, which there is none of: the log goes to stderr.
hipError_t hipExtSetLoggingParams(size_t log_level, size_t, size_t log_mask) {
  configured = log_level;
  mask = log_mask;
  return Done(hipSuccess);
}
hipError_t hipExtEnableLogging() {
  level = configured.load();
  return Done(hipSuccess);
}
hipError_t hipExtDisableLogging() {
  level = 0;
  return Done(hipSuccess);
}

}  // extern "C"
