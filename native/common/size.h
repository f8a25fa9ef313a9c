// Sizes computed from what a program gives. A sum or product that does not fit stays `!ok()`, whatever is done with it after.
#pragma once
#include <cstddef>

namespace wavesmith {

class Size {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): sizes are written as expressions of plain numbers
  constexpr Size(size_t value) : value_(value) {}

  constexpr bool ok() const { return ok_; }
  // Of no use unless ok().
  constexpr size_t value() const { return value_; }
  // Whether it is at most `limit`.
  constexpr bool Within(size_t limit) const { return ok_ && value_ <= limit; }

  friend constexpr Size operator*(Size a, Size b) {
    Size result(0);
    result.ok_ = !__builtin_mul_overflow(a.value_, b.value_, &result.value_) && a.ok_ && b.ok_;
    return result;
  }
  friend constexpr Size operator+(Size a, Size b) {
    Size result(0);
    result.ok_ = !__builtin_add_overflow(a.value_, b.value_, &result.value_) && a.ok_ && b.ok_;
    return result;
  }
  // The next multiple of `granule`, which is a power of two.
  constexpr Size RoundedUp(size_t granule) const {
    Size result = *this + (granule - 1);
    result.value_ &= ~(granule - 1);
    return result;
  }

 private:
  size_t value_;
  bool ok_ = true;
};

}  // namespace wavesmith
