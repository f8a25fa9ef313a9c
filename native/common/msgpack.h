// A bounded reader of MessagePack that walks values in order. Source: MessagePack specification.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>

namespace wavesmith {

class MessagePack {
 public:
  enum class Kind { kNothing, kScalar, kMap, kArray };

  MessagePack(const uint8_t* at, uint64_t size) : at_(at), end_(at + size) {}

  // False once a length led outside the bytes; later reads then give nothing.
  bool ok() const { return ok_; }

  // What the next value is; a nil, or the end of the bytes, is nothing.
  Kind Next() const {
    const uint8_t tag = Peek();
    if ((tag & 0xf0) == 0x80 || tag == 0xde || tag == 0xdf) return Kind::kMap;
    if ((tag & 0xf0) == 0x90 || tag == 0xdc || tag == 0xdd) return Kind::kArray;
    return tag == 0xc0 || tag == 0xc1 ? Kind::kNothing : Kind::kScalar;
  }

  // Number of entries when the next value is a map (or an array); otherwise 0, and the value is skipped.
  uint64_t Map() { return Container(0x80, 0xde); }
  uint64_t Array() { return Container(0x90, 0xdc); }

  std::string Text() {
    const uint8_t tag = Peek();
    uint64_t size;
    if ((tag & 0xe0) == 0xa0) {
      Byte();
      size = tag & 0x1f;
    } else if (tag >= 0xd9 && tag <= 0xdb) {
      Byte();
      size = Big(1u << (tag - 0xd9));
    } else {
      Skip();
      return {};
    }
    const uint8_t* const p = Take(size);
    return p == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(p), size);
  }

  uint64_t Number() {
    const uint8_t tag = Peek();
    if (tag < 0x80) return Byte();
    if (tag >= 0xcc && tag <= 0xcf) {
      Byte();
      return Big(1u << (tag - 0xcc));
    }
    if (tag >= 0xd0 && tag <= 0xd3) {
      Byte();
      return Big(1u << (tag - 0xd0));
    }
    Skip();
    return 0;
  }

  // A scalar as text: a string as it is, integers in decimal, `true` and `false`. Floating-point numbers and bytes are skipped.
  std::string ScalarText() {
    const uint8_t tag = Peek();
    if ((tag & 0xe0) == 0xa0 || (tag >= 0xd9 && tag <= 0xdb)) return Text();
    if (tag == 0xc2 || tag == 0xc3) {
      Byte();
      return tag == 0xc3 ? "true" : "false";
    }
    if (tag >= 0xe0) return std::to_string(static_cast<int8_t>(Byte()));
    if (tag >= 0xd0 && tag <= 0xd3) {
      const unsigned unused = 64 - (8u << (tag - 0xd0));
      return std::to_string(static_cast<int64_t>(Number() << unused) >> unused);
    }
    if (tag < 0x80 || (tag >= 0xcc && tag <= 0xcf)) return std::to_string(Number());
    Skip();
    return {};
  }

  void Skip(int depth = 0) {
    if (depth > kMaxDepth) {
      ok_ = false;
      return;
    }
    const uint8_t tag = Byte();
    if (tag < 0x80 || tag >= 0xe0 || tag == 0xc0 || tag == 0xc2 || tag == 0xc3) return;
    if (tag < 0x90) return SkipMany(2ull * (tag & 15), depth);
    if (tag < 0xa0) return SkipMany(tag & 15, depth);
    if (tag < 0xc0) return (void)Take(tag & 31);
    if (tag >= 0xc4 && tag <= 0xc6) return (void)Take(Big(1u << (tag - 0xc4)));
    if (tag >= 0xc7 && tag <= 0xc9) return (void)Take(Big(1u << (tag - 0xc7)) + 1);
    if (tag == 0xca) return (void)Take(4);
    if (tag == 0xcb) return (void)Take(8);
    if (tag >= 0xcc && tag <= 0xcf) return (void)Take(1u << (tag - 0xcc));
    if (tag >= 0xd0 && tag <= 0xd3) return (void)Take(1u << (tag - 0xd0));
    if (tag >= 0xd4 && tag <= 0xd8) return (void)Take((1u << (tag - 0xd4)) + 1);
    if (tag >= 0xd9 && tag <= 0xdb) return (void)Take(Big(1u << (tag - 0xd9)));
    if (tag == 0xdc || tag == 0xdd) return SkipMany(Big(tag == 0xdc ? 2 : 4), depth);
    if (tag == 0xde || tag == 0xdf) return SkipMany(2 * Big(tag == 0xde ? 2 : 4), depth);
    ok_ = false;
  }

 private:
  static constexpr int kMaxDepth = 16;

  uint8_t Peek() const { return ok_ && at_ < end_ ? *at_ : 0xc1; }
  uint8_t Byte() {
    const uint8_t* const p = Take(1);
    return p == nullptr ? 0xc1 : *p;
  }
  const uint8_t* Take(uint64_t size) {
    if (!ok_ || size > static_cast<uint64_t>(end_ - at_)) {
      ok_ = false;
      return nullptr;
    }
    const uint8_t* const p = at_;
    at_ += size;
    return p;
  }
  uint64_t Big(uint32_t bytes) {
    const uint8_t* const p = Take(bytes);
    uint64_t value = 0;
    for (uint32_t n = 0; p != nullptr && n < bytes; n++) value = value << 8 | p[n];
    return value;
  }
  void SkipMany(uint64_t count, int depth) {
    for (uint64_t n = 0; n < count && ok_; n++) Skip(depth + 1);
  }
  uint64_t Container(uint8_t small, uint8_t wide) {
    const uint8_t tag = Peek();
    uint64_t count;
    if ((tag & 0xf0) == small) {
      Byte();
      count = tag & 15;
    } else if (tag == wide || tag == wide + 1) {
      Byte();
      count = Big(tag == wide ? 2 : 4);
    } else {
      Skip();
      return 0;
    }
    // Each entry has at least one byte: a longer count is damage.
    if (count > static_cast<uint64_t>(end_ - at_)) ok_ = false;
    return ok_ ? count : 0;
  }

  const uint8_t* at_;
  const uint8_t* end_;
  bool ok_ = true;
};

}  // namespace wavesmith
