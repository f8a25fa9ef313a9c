// What the examples share: buffers on the GPU, and a sum of the result that the program prints.
#pragma once
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

inline void check(hipError_t result) {
  if (result == hipSuccess) return;
  std::fprintf(stderr, "%s\n", hipGetErrorString(result));
  std::exit(1);
}

template <typename T> T *toGpu(const std::vector<T> &values) {
  T *buffer;
  check(hipMalloc(&buffer, values.size() * sizeof(T)));
  check(hipMemcpy(buffer, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice));
  return buffer;
}

template <typename T> void printSum(const T *buffer, size_t count) {
  std::vector<T> values(count);
  check(hipMemcpy(values.data(), buffer, count * sizeof(T), hipMemcpyDeviceToHost));
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += double(values[i]) * double(i % 7 + 1);
  std::printf("%.6g\n", sum);
}

/** Numbers that look random and are the same in every run. */
template <typename T> std::vector<T> numbers(size_t count, int range) {
  std::vector<T> values(count);
  unsigned state = 12345;
  for (T &value : values) value = T((state = state * 1664525u + 1013904223u) >> 8) % range;
  return values;
}

template <> inline std::vector<float> numbers(size_t count, int range) {
  std::vector<float> values(count);
  unsigned state = 12345;
  for (float &value : values) value = float((state = state * 1664525u + 1013904223u) >> 8) / 16777216.0f * range;
  return values;
}
