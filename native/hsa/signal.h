// Signals inside the runtime: objects in shared memory, doorbells, waiting for several.
#pragma once
#include "hsa/runtime.h"

namespace wavesmith::hsa {

// What a store to a doorbell signal does.
class Doorbell {
 public:
  virtual ~Doorbell() = default;
  virtual void Ring(int64_t value) = 0;
};

inline Signal* SignalOf(hsa_signal_t signal) { return reinterpret_cast<Signal*>(signal.handle); }

// A signal in shared memory; nullptr when there is no memory left. `doorbell` makes it a doorbell.
Signal* NewSignal(Runtime& runtime, int64_t value, Doorbell* doorbell = nullptr);
void DeleteSignal(Signal* signal);

int64_t LoadSignal(const Signal* signal);
// Stores and tells everybody who waits.
void StoreSignal(Runtime& runtime, Signal* signal, int64_t value);
void SubtractSignal(Runtime& runtime, Signal* signal, int64_t value);

struct Condition {
  Signal* signal;
  hsa_signal_condition_t condition;
  int64_t value;
};
inline constexpr uint64_t kForever = UINT64_MAX;
// Index of the first condition that holds, or `count` after `nanoseconds`. `wake` is an optional futex of this process that ends the wait too.
size_t WaitAny(const Condition* conditions, size_t count, uint64_t nanoseconds, bool spin,
               std::atomic<uint32_t>* wake = nullptr);

// Now, in ticks of the system clock (the clock of signals' times).
uint64_t NowTicks();

}  // namespace wavesmith::hsa
