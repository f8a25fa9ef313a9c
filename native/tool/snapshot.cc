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

}  // namespace

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
      if (chunks_[m][c] != nullptr) Send(m, c, Phase::kBefore, chunks_[m][c].get());
    }
  }
}

Changes Snapshot::Compare() const {
  Changes changes;
  Chunk buffer(new uint8_t[kChunkBytes]);
  for (size_t m = 0; m < memory_.size(); m++) {
    if (!readable_[m]) continue;
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
