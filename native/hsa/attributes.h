// How functions that answer with an attribute write it.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>

#include "hsa/abi.h"

namespace wavesmith::hsa {

// Writes an attribute of the type the attribute has.
template <typename T>
hsa_status_t Put(void* value, const T& v) {
  std::memcpy(value, &v, sizeof v);
  return HSA_STATUS_SUCCESS;
}
inline hsa_status_t PutText(void* value, const std::string& text, size_t field) {
  std::memset(value, 0, field);
  std::memcpy(value, text.data(), std::min(text.size(), field - 1));
  return HSA_STATUS_SUCCESS;
}

}  // namespace wavesmith::hsa
