// Values of a thread that are there as long as anything runs.
#pragma once

namespace wavesmith::hip {

// The calling thread's value of a type: made when first asked for, gone with the thread. Destructors of static objects run after
// those of the main thread's variables and launch kernels too: they find a new value, which is never destroyed.
template <typename T>
T& OfThread() {
  thread_local constinit T* value = nullptr;
  thread_local constinit bool has_guard = false;
  struct Guard {
    ~Guard() {
      T* const last = value;
      value = nullptr;
      delete last;
    }
  };
  if (value == nullptr) {
    value = new T;
    if (!has_guard) {
      has_guard = true;
      thread_local const Guard guard;
    }
  }
  return *value;
}

}  // namespace wavesmith::hip
