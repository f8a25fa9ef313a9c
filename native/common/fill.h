// Fills of GPU memory. Zeros over many pages take none of the host's memory: the pages go back to the file, where they read as zero.
// Other values take as much of it as they cover; a fill that the host cannot hold is refused before it begins.
// Sources: madvise(2), MADV_REMOVE; mincore(2); proc(5), meminfo.
#pragma once
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace wavesmith {

// A range of at least this size is given back. Below it writing is the faster way to zeros: pages that went back are faulted in again.
constexpr size_t kGivenBack = 256U << 20;

template <typename T>
void Fill(T* to, size_t count, T value) {
  constexpr uintptr_t kPage = 4096;
  T* const end = to + count;
  if (value == T{} && count >= kGivenBack / sizeof(T)) {
    const uintptr_t first = (reinterpret_cast<uintptr_t>(to) + kPage - 1) & ~(kPage - 1);
    const uintptr_t last = reinterpret_cast<uintptr_t>(end) & ~(kPage - 1);
    if (madvise(reinterpret_cast<void*>(first), last - first, MADV_REMOVE) == 0) {
      std::fill(to, reinterpret_cast<T*>(first), value);
      to = reinterpret_cast<T*>(last);
    }
  }
  std::fill(to, end, value);
}

// Bytes that programs of this host may still take; none when it does not say.
inline uint64_t AvailableOnHost() {
  FILE* const file = std::fopen("/proc/meminfo", "re");
  if (file == nullptr) return UINT64_MAX;
  char line[128];
  unsigned long long kilobytes = UINT64_MAX >> 10;
  while (std::fgets(line, sizeof line, file) != nullptr) {
    constexpr char kName[] = "MemAvailable:";
    if (std::strncmp(line, kName, sizeof kName - 1) != 0) continue;
    kilobytes = std::strtoull(line + sizeof kName - 1, nullptr, 10);
    break;
  }
  std::fclose(file);
  return kilobytes << 10;
}

// Whether the host can hold a range full of something else than zeros. When it cannot, stderr says so.
inline bool HostHolds(const void* pointer, size_t size) {
  if (size < kGivenBack) return true;
  const uint64_t available = AvailableOnHost();
  if (size < available) return true;
  // Pages of the range that the host has already are no new ones.
  constexpr size_t kPart = 1U << 30;
  constexpr size_t kPage = 4096;
  std::vector<unsigned char> pages(kPart / kPage);
  uint64_t wanted = 0;
  const uintptr_t end = reinterpret_cast<uintptr_t>(pointer) + size;
  for (uintptr_t at = reinterpret_cast<uintptr_t>(pointer) & ~(kPage - 1); at < end; at += kPart) {
    const size_t part = std::min<size_t>(kPart, end - at);
    if (mincore(reinterpret_cast<void*>(at), part, pages.data()) != 0) return true;
    const auto last = pages.begin() + static_cast<ptrdiff_t>((part + kPage - 1) / kPage);
    wanted += kPage * static_cast<uint64_t>(std::count_if(pages.begin(), last, [](auto p) { return (p & 1) == 0; }));
    if (wanted >= available) break;
  }
  if (wanted < available) return true;
  std::fprintf(
      stderr,
      "wavesmith: a fill of %.1f GiB of device memory needs more than the %.1f GiB that this machine has left.\n",
      static_cast<double>(size) / kPart, static_cast<double>(available) / kPart);
  return false;
}

}  // namespace wavesmith
