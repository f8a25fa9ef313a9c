// Snapshots: chunks of memory through hsa_memory_copy, which reaches memory of every kind.
#include "tool/snapshot.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace wavesmith::tool {
namespace {

// Changed bytes that are closer than this are written back together.
constexpr size_t kGap = 8;

const uint8_t kZeros[kChunkBytes] = {};

bool Read(uint64_t address, void* to, size_t size) {
  return original.core.hsa_memory_copy_fn(to, reinterpret_cast<const void*>(address), size) == HSA_STATUS_SUCCESS;
}

bool Write(uint64_t address, const void* from, size_t size) {
  return original.core.hsa_memory_copy_fn(reinterpret_cast<void*>(address), from, size) == HSA_STATUS_SUCCESS;
}

// Index of the allocation that holds an address; `memory.size()` for none.
size_t Holding(const std::vector<Memory>& memory, uint64_t address) {
  const auto after = std::upper_bound(memory.begin(), memory.end(), address,
                                      [](uint64_t a, const Memory& m) { return a < m.record.address; });
  if (after == memory.begin()) return memory.size();
  const AllocationRecord& record = (after - 1)->record;
  return address - record.address < record.size ? static_cast<size_t>(after - 1 - memory.begin()) : memory.size();
}

}  // namespace

std::vector<Memory> Reachable(const std::vector<Memory>& memory, const std::vector<uint8_t>& arguments,
                              const hsa_kernel_dispatch_packet_t& packet) {
  std::vector<bool> reached(memory.size());
  std::vector<size_t> open;
  const auto reach = [&](uint64_t address) {
    const size_t m = Holding(memory, address);
    if (m == memory.size() || reached[m]) return;
    reached[m] = true;
    open.push_back(m);
  };
  const auto scan = [&](const uint8_t* bytes, size_t size) {
    for (size_t at = 0; at + 8 <= size; at += 8) {
      uint64_t word;
      std::memcpy(&word, bytes + at, sizeof word);
      if (word != 0) reach(word);
    }
  };
  reach(reinterpret_cast<uint64_t>(packet.kernarg_address));
  reach(packet.kernel_object);
  scan(arguments.data(), arguments.size());
  const Chunk buffer(new uint8_t[kChunkBytes]);
  while (!open.empty()) {
    const AllocationRecord record = memory[open.back()].record;
    open.pop_back();
    for (uint64_t at = 0; at < record.size; at += kChunkBytes) {
      const auto size = static_cast<size_t>(std::min<uint64_t>(kChunkBytes, record.size - at));
      // The snapshot says what cannot be read.
      if (!Read(record.address + at, buffer.get(), size)) break;
      scan(buffer.get(), size);
    }
  }
  std::vector<Memory> result;
  for (size_t m = 0; m < memory.size(); m++) {
    if (reached[m]) result.push_back(memory[m]);
  }
  return result;
}

Snapshot::Snapshot(const std::vector<Memory>& memory, uint64_t sequence)
    : sequence_(sequence), memory_(memory), chunks_(memory.size()), readable_(memory.size(), true) {
  Chunk buffer(new uint8_t[kChunkBytes]);
  for (size_t m = 0; m < memory_.size(); m++) {
    const uint64_t count = (memory_[m].record.size + kChunkBytes - 1) / kChunkBytes;
    chunks_[m].resize(count);
    for (size_t c = 0; c < count && readable_[m]; c++) {
      const size_t size = SizeOf(m, c);
      if (!Read(AddressOf(m, c), buffer.get(), size)) {
        readable_[m] = false;
        char text[160];
        std::snprintf(text, sizeof text, "The memory at 0x%llx (%llu bytes, %s) cannot be read.",
                      static_cast<unsigned long long>(memory_[m].record.address),
                      static_cast<unsigned long long>(memory_[m].record.size), memory_[m].origin.c_str());
        Note(sequence_, "unreadable", text);
      } else if (std::memcmp(buffer.get(), kZeros, size) != 0) {
        chunks_[m][c] = std::move(buffer);
        buffer.reset(new uint8_t[kChunkBytes]);
      }
    }
  }
}

size_t Snapshot::SizeOf(size_t memory, size_t chunk) const {
  const uint64_t from = uint64_t{chunk} * kChunkBytes;
  return static_cast<size_t>(std::min<uint64_t>(kChunkBytes, memory_[memory].record.size - from));
}

uint64_t Snapshot::AddressOf(size_t memory, size_t chunk) const {
  return memory_[memory].record.address + uint64_t{chunk} * kChunkBytes;
}

const uint8_t* Snapshot::BytesOf(size_t memory, size_t chunk) const {
  const Chunk& bytes = chunks_[memory][chunk];
  return bytes == nullptr ? kZeros : bytes.get();
}

void Snapshot::Send(size_t memory, size_t chunk, Phase phase, const uint8_t* bytes) const {
  const MemoryChunk head{sequence_, memory_[memory].record.id, uint64_t{chunk} * kChunkBytes,
                         static_cast<uint32_t>(phase), 0};
  const auto size = static_cast<uint32_t>(SizeOf(memory, chunk));
  Tell(ToolMessage::kMemory, {{&head, sizeof head}, {&size, sizeof size}, {bytes, size}});
}

void Snapshot::Send() const {
  for (size_t m = 0; m < memory_.size(); m++) {
    for (size_t c = 0; c < chunks_[m].size(); c++) {
      if (c == 0 || chunks_[m][c] != nullptr) Send(m, c, Phase::kBefore, BytesOf(m, c));
    }
  }
}

Changes Snapshot::Compare() const {
  Changes changes;
  Chunk buffer(new uint8_t[kChunkBytes]);
  for (size_t m = 0; m < memory_.size(); m++) {
    if (!readable_[m] || !IsLive(memory_[m].record.id)) continue;
    for (size_t c = 0; c < chunks_[m].size(); c++) {
      const size_t size = SizeOf(m, c);
      if (!Read(AddressOf(m, c), buffer.get(), size)) continue;
      if (std::memcmp(buffer.get(), BytesOf(m, c), size) == 0) continue;
      changes.emplace(std::make_pair(m, c), std::move(buffer));
      buffer.reset(new uint8_t[kChunkBytes]);
    }
  }
  return changes;
}

void Snapshot::Restore(const Changes& changes) const {
  for (const auto& [at, changed] : changes) {
    const auto& [m, c] = at;
    const uint8_t* const before = BytesOf(m, c);
    const size_t size = SizeOf(m, c);
    for (size_t from = 0; from < size; from++) {
      if (before[from] == changed[from]) continue;
      size_t end = from + 1;
      for (size_t next = end; next < size && next < end + kGap; next++) {
        if (before[next] != changed[next]) end = next + 1;
      }
      Write(AddressOf(m, c) + from, before + from, end - from);
      from = end;
    }
  }
}

void Snapshot::SendAfter(const Changes& after) const {
  for (const auto& [at, bytes] : after) Send(at.first, at.second, Phase::kAfter, bytes.get());
}

void Snapshot::SendCompared(const Changes& original_run, const Changes& after) const {
  const auto send = [&](std::pair<size_t, size_t> at) {
    const auto bytes = [&](const Changes& changes) {
      const auto found = changes.find(at);
      return found == changes.end() ? BytesOf(at.first, at.second) : found->second.get();
    };
    Send(at.first, at.second, Phase::kBefore, BytesOf(at.first, at.second));
    Send(at.first, at.second, Phase::kOriginal, bytes(original_run));
    Send(at.first, at.second, Phase::kAfter, bytes(after));
  };
  for (const auto& [at, bytes] : original_run) send(at);
  for (const auto& [at, bytes] : after) {
    if (!original_run.contains(at)) send(at);
  }
}

}  // namespace wavesmith::tool
