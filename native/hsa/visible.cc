// ROCR_VISIBLE_DEVICES: numbers and identifiers of GPUs between commas. What is none, and a GPU named twice, ends the list.
// Source: ROCR-Runtime, core/runtime/amd_filter_device.cpp.
#include "hsa/visible.h"

#include <strings.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <sstream>

namespace wavesmith::hsa {
namespace {

std::string Trimmed(const std::string& text) {
  constexpr const char* kSpace = " \t\n\r\f\v";
  const size_t first = text.find_first_not_of(kSpace);
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// The one GPU whose identifier begins so, or -1.
int64_t ByUuid(const std::string& beginning, uint32_t devices) {
  int64_t found = -1;
  if (beginning.size() < 5) return -1;
  for (uint32_t n = 0; n < devices; n++) {
    const std::string uuid = UuidOf(n);
    if (beginning.size() > uuid.size() || strncasecmp(beginning.c_str(), uuid.c_str(), beginning.size()) != 0) continue;
    if (found >= 0) return -1;
    found = n;
  }
  return found;
}

int64_t ByNumber(const std::string& text) {
  char* end = nullptr;
  const int64_t number = std::strtol(text.c_str(), &end, 0);
  return text.empty() || *end != '\0' ? -1 : number;
}

}  // namespace

std::string UuidOf(uint32_t number) {
  char text[21];
  std::snprintf(text, sizeof text, "GPU-7761766573696d%02x", number & 0xff);
  return text;
}

std::vector<uint32_t> VisibleGpus(uint32_t devices) {
  std::vector<uint32_t> visible;
  const char* const list = std::getenv("ROCR_VISIBLE_DEVICES");
  if (list == nullptr) {
    visible.resize(devices);
    std::iota(visible.begin(), visible.end(), 0U);
    return visible;
  }
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    const std::string text = Trimmed(word);
    const bool is_uuid = !text.empty() && (text[0] == 'G' || text[0] == 'g');
    const int64_t number = is_uuid ? ByUuid(text, devices) : ByNumber(text);
    if (number < 0 || number >= devices) break;
    if (std::find(visible.begin(), visible.end(), number) != visible.end()) break;
    visible.push_back(static_cast<uint32_t>(number));
  }
  return visible;
}

}  // namespace wavesmith::hsa
