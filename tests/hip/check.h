// Checks of the HIP test programs: the first that fails says where and ends the program with status 1.
#pragma once
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(condition)                                                            \
  do {                                                                              \
    if (!(condition)) {                                                             \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                   \
      std::exit(1);                                                                 \
    }                                                                               \
  } while (0)

// A HIP call that must give an error (hipSuccess included).
#define GIVES(expected, call)                                                       \
  do {                                                                              \
    const hipError_t given_ = (call);                                               \
    if (given_ != (expected)) {                                                     \
      std::printf("%s:%d: %s gave %d (%s), not %s\n", __FILE__, __LINE__, #call,    \
                  static_cast<int>(given_), hipGetErrorName(given_), #expected);    \
      std::exit(1);                                                                 \
    }                                                                               \
  } while (0)
#define OK(call) GIVES(hipSuccess, call)

inline int Ok() {
  std::printf("ok\n");
  return 0;
}

// Device memory with the content of a vector.
template <typename T>
T* Upload(const std::vector<T>& values) {
  T* device = nullptr;
  OK(hipMalloc(&device, values.size() * sizeof(T)));
  OK(hipMemcpy(device, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice));
  return device;
}
template <typename T>
std::vector<T> Download(const T* device, size_t count) {
  std::vector<T> values(count);
  OK(hipMemcpy(values.data(), device, count * sizeof(T), hipMemcpyDeviceToHost));
  return values;
}
