// printf of kernels: the words a kernel sends become text. Each argument is a 64-bit word; strings are in line, padded to whole words.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace wavesmith::hip {

// The text of a format and the words of its arguments. Words that are missing count as 0.
std::string FormatText(const char* format, const uint64_t* words, size_t count);

// Prints a message: control word (bit 0: stderr), format, arguments. Gives the number of characters, or -1 when the message is damaged.
int PrintMessage(const std::vector<uint64_t>& words);

// The buffer of kernels that print without the host's help (-mprintf-kind=buffered): bytes used, bytes there are, records.
struct PrintfBufferHead {
  uint32_t used;
  uint32_t size;
};
// Prints what kernels left in a buffer, and empties it.
void PrintBuffered(void* buffer, const std::map<uint64_t, std::string>& formats);

}  // namespace wavesmith::hip
