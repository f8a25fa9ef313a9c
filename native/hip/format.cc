// printf of kernels. Sources: C standard, 7.23.6.1 (fprintf); LLVM AMDGPUEmitPrintf.cpp for how arguments become words: integers are
// widened with zeros, floating point is double, strings are copied with their terminator.
#include "hip/format.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

namespace wavesmith::hip {
namespace {

constexpr size_t kMaxField = 1 << 16;

// Takes arguments word by word.
class Arguments {
 public:
  Arguments(const uint64_t* words, size_t count) : words_(words), count_(count) {}

  uint64_t Word() { return at_ < count_ ? words_[at_++] : 0; }
  std::string Text() {
    const char* const begin = reinterpret_cast<const char*>(words_ + at_);
    const size_t limit = (count_ - std::min(at_, count_)) * sizeof(uint64_t);
    const size_t length = strnlen(begin, limit);
    at_ += std::min(length / sizeof(uint64_t) + 1, count_ - std::min(at_, count_));
    return std::string(begin, length);
  }

 private:
  const uint64_t* words_;
  size_t count_;
  size_t at_ = 0;
};

// One conversion specification: `%-+5.3lld`.
struct Specification {
  std::string flags;
  int width = -1;
  int precision = -1;
  std::string length;
  char conversion = 0;
};

const char* ReadNumber(const char* at, int* number, Arguments& arguments) {
  if (*at == '*') {
    *number = static_cast<int>(static_cast<uint32_t>(arguments.Word()));
    return at + 1;
  }
  int64_t value = 0;
  for (; *at >= '0' && *at <= '9'; at++) value = std::min<int64_t>(value * 10 + (*at - '0'), kMaxField);
  *number = static_cast<int>(value);
  return at;
}

const char* ReadSpecification(const char* at, Specification* s, Arguments& arguments) {
  for (; *at != '\0' && std::strchr("-+ #0", *at) != nullptr; at++) s->flags += *at;
  if (*at == '*' || (*at >= '1' && *at <= '9')) at = ReadNumber(at, &s->width, arguments);
  if (s->width < -1) {
    s->flags += '-';
    s->width = -s->width;
  }
  if (*at == '.') at = ReadNumber(at + 1, &s->precision, arguments);
  for (; *at != '\0' && std::strchr("hlLjzt", *at) != nullptr; at++) s->length += *at;
  s->conversion = *at;
  return *at == '\0' ? at : at + 1;
}

template <typename T>
std::string Write(const Specification& s, const char* length, T value) {
  std::string format(1, '%');
  format += s.flags;
  if (s.width >= 0) format += std::to_string(std::min<int>(s.width, kMaxField));
  if (s.precision >= 0) {
    format += '.';
    format += std::to_string(std::min<int>(s.precision, kMaxField));
  }
  format += length;
  format += s.conversion;
  const int size = std::snprintf(nullptr, 0, format.c_str(), value);
  if (size <= 0) return {};
  std::string text(static_cast<size_t>(size) + 1, '\0');
  std::snprintf(text.data(), text.size(), format.c_str(), value);
  text.pop_back();
  return text;
}

// The word as an integer of the length modifier's size.
long long Signed(const std::string& length, uint64_t word) {
  if (length == "hh") return static_cast<signed char>(word);
  if (length == "h") return static_cast<short>(word);
  if (length.empty()) return static_cast<int>(word);
  return static_cast<long long>(word);
}
unsigned long long Unsigned(const std::string& length, uint64_t word) {
  if (length == "hh") return static_cast<unsigned char>(word);
  if (length == "h") return static_cast<unsigned short>(word);
  if (length.empty()) return static_cast<unsigned>(word);
  return word;
}

std::string Convert(const Specification& s, Arguments& arguments) {
  switch (s.conversion) {
    case 'd':
    case 'i':
      return Write(s, "ll", Signed(s.length, arguments.Word()));
    case 'o':
    case 'u':
    case 'x':
    case 'X':
      return Write(s, "ll", Unsigned(s.length, arguments.Word()));
    case 'c':
      return Write(s, "", static_cast<int>(arguments.Word()));
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
      return Write(s, "", std::bit_cast<double>(arguments.Word()));
    case 's':
      return Write(s, "", arguments.Text().c_str());
    case 'p':
      return Write(s, "", reinterpret_cast<void*>(arguments.Word()));
    case 'n':
      arguments.Word();
      return {};
    default:
      return {};
  }
}

}  // namespace

std::string FormatText(const char* format, const uint64_t* words, size_t count) {
  Arguments arguments(words, count);
  std::string text;
  while (*format != '\0') {
    if (*format != '%') {
      const size_t run = std::strcspn(format, "%");
      text.append(format, run);
      format += run;
    } else if (format[1] == '%') {
      text += '%';
      format += 2;
    } else {
      const char* const begin = format;
      Specification specification;
      format = ReadSpecification(format + 1, &specification, arguments);
      const bool known =
          specification.conversion != '\0' && std::strchr("diouxXcaAeEfFgGspn", specification.conversion) != nullptr;
      // What is no conversion is printed as it stands.
      if (known) {
        text += Convert(specification, arguments);
      } else {
        text.append(begin, format);
      }
    }
  }
  return text;
}

int PrintMessage(const std::vector<uint64_t>& words) {
  if (words.size() < 2) return -1;
  std::FILE* const stream = words[0] & 1 ? stderr : stdout;
  const char* const format = reinterpret_cast<const char*>(&words[1]);
  const size_t limit = (words.size() - 1) * sizeof(uint64_t);
  const size_t length = strnlen(format, limit);
  if (length == limit) return -1;
  const size_t first = 1 + length / sizeof(uint64_t) + 1;
  const std::string text = FormatText(format, words.data() + first, words.size() - first);
  std::fwrite(text.data(), 1, text.size(), stream);
  return static_cast<int>(text.size());
}

// A record is a control word of 4 bytes (bit 0: stderr, bit 1: the format is a number, its bytes above), the format, the arguments.
void PrintBuffered(void* buffer, const std::map<uint64_t, std::string>& formats) {
  auto* const head = static_cast<PrintfBufferHead*>(buffer);
  const uint8_t* const records = static_cast<const uint8_t*>(buffer) + sizeof *head;
  const uint32_t used = std::min(head->used, head->size - static_cast<uint32_t>(sizeof *head));
  for (uint32_t at = 0; at + sizeof(uint32_t) <= used;) {
    uint32_t control;
    std::memcpy(&control, records + at, sizeof control);
    const uint32_t size = control >> 2;
    if (size < sizeof control || size > used - at) break;
    std::vector<uint64_t> words((size - sizeof control) / sizeof(uint64_t));
    std::memcpy(words.data(), records + at + sizeof control, words.size() * sizeof(uint64_t));
    at += size;
    if ((control & 2) == 0) {
      words.insert(words.begin(), control & 1);
      PrintMessage(words);
      continue;
    }
    const auto format = words.empty() ? formats.end() : formats.find(words[0]);
    if (format == formats.end()) continue;
    const std::string text = FormatText(format->second.c_str(), words.data() + 1, words.size() - 1);
    std::fwrite(text.data(), 1, text.size(), control & 1 ? stderr : stdout);
  }
  head->used = 0;
}

}  // namespace wavesmith::hip
