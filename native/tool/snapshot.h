// A copy of all memory, what changed since, and putting it back.
#pragma once
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "tool/memory.h"

namespace wavesmith::tool {

using Chunk = std::unique_ptr<uint8_t[]>;
// What chunks hold that differ from a snapshot, by index of memory and of chunk.
using Changes = std::map<std::pair<size_t, size_t>, Chunk>;

// Of `memory`, in the order of addresses, what a dispatch can reach: where its arguments lie, its code object, and every allocation that one of
// their aligned 8-byte words points into, and so on. A word that only looks like a pointer counts as one.
std::vector<Memory> Reachable(const std::vector<Memory>& memory, const std::vector<uint8_t>& arguments,
                              const hsa_kernel_dispatch_packet_t& packet);

class Snapshot {
 public:
  // Copies everything. Memory that cannot be read becomes a note and counts as zero.
  Snapshot(const std::vector<Memory>& memory, uint64_t sequence);

  // Sends the first chunk of each allocation, and all others that are not zero.
  void Send() const;
  // What is different now.
  Changes Compare() const;
  // Writes back what a change changed, byte by byte: what others wrote beside it stays.
  void Restore(const Changes& changes) const;
  // Sends what changed.
  void SendAfter(const Changes& after) const;
  // Sends, of every chunk that either run changed, what it was before, after the original and after the other.
  void SendCompared(const Changes& original_run, const Changes& after) const;

 private:
  size_t SizeOf(size_t memory, size_t chunk) const;
  uint64_t AddressOf(size_t memory, size_t chunk) const;
  // The bytes of a chunk in this snapshot.
  const uint8_t* BytesOf(size_t memory, size_t chunk) const;
  void Send(size_t memory, size_t chunk, Phase phase, const uint8_t* bytes) const;

  uint64_t sequence_;
  std::vector<Memory> memory_;
  // nullptr: all zero.
  std::vector<std::vector<Chunk>> chunks_;
  std::vector<bool> readable_;
};

}  // namespace wavesmith::tool
