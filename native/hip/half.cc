// Half precision for host code of compilers whose own library has no conversions: they find them in the HIP runtime.
#include <bit>
#include <cstdint>

extern "C" {
float __gnu_h2f_ieee(uint16_t half) { return static_cast<float>(std::bit_cast<_Float16>(half)); }
uint16_t __gnu_f2h_ieee(float value) { return std::bit_cast<uint16_t>(static_cast<_Float16>(value)); }
}
