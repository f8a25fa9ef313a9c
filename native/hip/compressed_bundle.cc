// Header: clang's OffloadBundler.cpp. Versions 2 and 3 begin with the bundle's whole size, of 4 and 8 bytes; version 1 has none.
// The decompressors are the system's libz and libzstd, which are opened when a program needs them: a program without compressed code runs
// without them.
#include "hip/compressed_bundle.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>

namespace wavesmith::hip {
namespace {

constexpr char kMagic[] = "CCOB";
constexpr size_t kMagicSize = sizeof kMagic - 1;
// More than any program has: a larger size is damage.
constexpr uint64_t kMostBytes = 1ull << 32;
// What compressed bytes of `n` plain ones take at most, in either method.
constexpr uint64_t MostCompressed(uint64_t n) { return n + n / 100 + 65536; }

enum class Method : uint16_t { kZlib = 0, kZstd = 1 };

struct Header {
  uint16_t version = 0;
  Method method = Method::kZlib;
  uint64_t size = 0;
  uint64_t total = 0;
  uint64_t plain = 0;
};

template <typename Number>
uint64_t ReadNumber(const uint8_t* at) {
  Number number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

bool ReadHeader(const uint8_t* image, uint64_t limit, Header* header) {
  if (limit < kMagicSize + 4) return false;
  header->version = static_cast<uint16_t>(ReadNumber<uint16_t>(image + 4));
  header->method = static_cast<Method>(ReadNumber<uint16_t>(image + 6));
  const uint64_t sizes[] = {20, 24, 32};
  if (header->version < 1 || header->version > 3 || header->method > Method::kZstd) return false;
  header->size = sizes[header->version - 1];
  if (limit < header->size) return false;
  if (header->version == 1) {
    header->plain = ReadNumber<uint32_t>(image + 8);
    header->total = std::min(limit, header->size + MostCompressed(header->plain));
  } else if (header->version == 2) {
    header->total = ReadNumber<uint32_t>(image + 8);
    header->plain = ReadNumber<uint32_t>(image + 12);
  } else {
    header->total = ReadNumber<uint64_t>(image + 8);
    header->plain = ReadNumber<uint64_t>(image + 16);
  }
  return header->plain > 0 && header->plain <= kMostBytes && header->total > header->size && header->total <= limit;
}

// A function of a library that stays open; null when the system does not have it.
template <typename Function>
Function* Find(const char* library, const char* name) {
  void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  return handle == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(handle, name));
}

std::string Missing(const char* library) {
  return std::string("its compressed code needs ") + library + ", which this system does not have";
}

// Bytes that were written; anything but `to.size()` is damage.
uint64_t InflateZlib(const uint8_t* from, uint64_t size, std::vector<uint8_t>& to, std::string* why) {
  auto* const uncompress =
      Find<int(uint8_t*, unsigned long*, const uint8_t*, unsigned long)>("libz.so.1", "uncompress");
  if (uncompress == nullptr) {
    *why = Missing("libz.so.1");
    return 0;
  }
  unsigned long written = to.size();
  return uncompress(to.data(), &written, from, size) == 0 ? written : 0;
}

uint64_t InflateZstd(const uint8_t* from, uint64_t size, std::vector<uint8_t>& to, std::string* why) {
  constexpr const char* kLibrary = "libzstd.so.1";
  auto* const frame = Find<size_t(const void*, size_t)>(kLibrary, "ZSTD_findFrameCompressedSize");
  auto* const decompress = Find<size_t(void*, size_t, const void*, size_t)>(kLibrary, "ZSTD_decompress");
  auto* const is_error = Find<unsigned(size_t)>(kLibrary, "ZSTD_isError");
  if (frame == nullptr || decompress == nullptr || is_error == nullptr) {
    *why = Missing(kLibrary);
    return 0;
  }
  // What follows the frame of a bundle of version 1 is not its own.
  const size_t own = frame(from, size);
  if (is_error(own) != 0) return 0;
  const size_t written = decompress(to.data(), to.size(), from, own);
  return is_error(written) != 0 ? 0 : written;
}

}  // namespace

bool IsCompressedBundle(const uint8_t* image, uint64_t limit) {
  return limit >= kMagicSize && std::memcmp(image, kMagic, kMagicSize) == 0;
}

std::vector<uint8_t> Decompress(const uint8_t* image, uint64_t limit, std::string* why) {
  Header header;
  if (!ReadHeader(image, limit, &header)) {
    *why = "the header of its compressed code is damaged or of a version that is not known";
    return {};
  }
  std::vector<uint8_t> plain(header.plain);
  auto* const inflate = header.method == Method::kZstd ? InflateZstd : InflateZlib;
  if (inflate(image + header.size, header.total - header.size, plain, why) == plain.size()) return plain;
  if (why->empty()) *why = "its compressed code is damaged";
  return {};
}

}  // namespace wavesmith::hip
