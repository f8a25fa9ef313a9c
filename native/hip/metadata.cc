// ELF, notes and offload bundles as far as launches need them. Every length is checked. Sources: ELF gABI; LLVM AMDGPUUsage; clang's ClangOffloadBundler documentation.
#include "hip/metadata.h"

#include <elf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "common/msgpack.h"

namespace wavesmith::hip {
namespace {

constexpr uint32_t kMetadataNote = 32;  // NT_AMDGPU_METADATA

Argument ReadArgument(MessagePack& m) {
  Argument argument;
  for (uint64_t n = m.Map(); n > 0 && m.ok(); n--) {
    const std::string key = m.Text();
    if (key == ".value_kind") {
      argument.kind = m.Text();
    } else if (key == ".offset") {
      argument.offset = static_cast<uint32_t>(m.Number());
    } else if (key == ".size") {
      argument.size = static_cast<uint32_t>(m.Number());
    } else {
      m.Skip();
    }
  }
  return argument;
}

KernelInfo ReadKernel(MessagePack& m) {
  KernelInfo kernel;
  const std::map<std::string, uint32_t*> numbers = {
      {".kernarg_segment_size", &kernel.kernarg_size},
      {".group_segment_fixed_size", &kernel.group_segment},
      {".private_segment_fixed_size", &kernel.private_segment},
      {".max_flat_workgroup_size", &kernel.max_workgroup_size},
      {".sgpr_count", &kernel.sgprs},
      {".vgpr_count", &kernel.vgprs},
      {".agpr_count", &kernel.agprs},
  };
  for (uint64_t n = m.Map(); n > 0 && m.ok(); n--) {
    const std::string key = m.Text();
    if (key == ".name") {
      kernel.name = m.Text();
    } else if (key == ".symbol") {
      kernel.symbol = m.Text();
    } else if (key == ".args") {
      for (uint64_t k = m.Array(); k > 0 && m.ok(); k--) kernel.arguments.push_back(ReadArgument(m));
    } else if (const auto number = numbers.find(key); number != numbers.end()) {
      *number->second = static_cast<uint32_t>(m.Number());
    } else {
      m.Skip();
    }
  }
  // What points outside the segment is damage, and later code writes there.
  std::erase_if(kernel.arguments, [&](const Argument& a) {
    return a.size > kernel.kernarg_size || a.offset > kernel.kernarg_size - a.size;
  });
  return kernel;
}

// `0:0:HASH,FORMAT` of kernels that print into a buffer.
void ReadPrintfFormat(const std::string& text, std::map<uint64_t, std::string>* formats) {
  const size_t first = text.find(':');
  const size_t second = first == std::string::npos ? first : text.find(':', first + 1);
  const size_t comma = second == std::string::npos ? second : text.find(',', second + 1);
  if (comma == std::string::npos) return;
  const std::string hash = text.substr(second + 1, comma - second - 1);
  (*formats)[std::strtoull(hash.c_str(), nullptr, 16)] = text.substr(comma + 1);
}

void ReadMetadata(const uint8_t* bytes, uint64_t size, CodeObject* result) {
  MessagePack m(bytes, size);
  for (uint64_t n = m.Map(); n > 0 && m.ok(); n--) {
    const std::string key = m.Text();
    if (key == "amdhsa.kernels") {
      for (uint64_t k = m.Array(); k > 0 && m.ok(); k--) result->kernels.push_back(ReadKernel(m));
    } else if (key == "amdhsa.printf") {
      for (uint64_t k = m.Array(); k > 0 && m.ok(); k--) ReadPrintfFormat(m.Text(), &result->printf_formats);
    } else {
      m.Skip();
    }
  }
  if (!m.ok()) result->kernels.clear();
}

void ReadNotes(const uint8_t* bytes, uint64_t size, CodeObject* result) {
  const auto padded = [](uint64_t n) { return (n + 3) & ~3ull; };
  uint64_t at = 0;
  while (at + sizeof(Elf64_Nhdr) <= size) {
    Elf64_Nhdr note;
    std::memcpy(&note, bytes + at, sizeof note);
    const uint64_t name = at + sizeof note;
    const uint64_t content = name + padded(note.n_namesz);
    const uint64_t next = content + padded(note.n_descsz);
    if (content > size || note.n_descsz > size - content) return;
    const bool amdgpu = note.n_namesz == 7 && std::memcmp(bytes + name, "AMDGPU", 7) == 0;
    if (amdgpu && note.n_type == kMetadataNote) ReadMetadata(bytes + content, note.n_descsz, result);
    at = next;
  }
}

}  // namespace

bool ReadCodeObject(const uint8_t* image, uint64_t limit, CodeObject* result) {
  Elf64_Ehdr header;
  if (limit < sizeof header || std::memcmp(image, ELFMAG, SELFMAG) != 0) return false;
  std::memcpy(&header, image, sizeof header);
  constexpr uint16_t kMachineAmdgpu = 224;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kMachineAmdgpu) return false;
  result->e_flags = header.e_flags;
  uint64_t end = sizeof header;
  const auto extend = [&](uint64_t offset, uint64_t size) {
    if (offset > limit || size > limit - offset) return false;
    end = std::max(end, offset + size);
    return true;
  };
  if (!extend(header.e_shoff, uint64_t{header.e_shnum} * header.e_shentsize)) return false;
  if (!extend(header.e_phoff, uint64_t{header.e_phnum} * header.e_phentsize)) return false;
  for (uint32_t n = 0; n < header.e_shnum && header.e_shentsize >= sizeof(Elf64_Shdr); n++) {
    Elf64_Shdr section;
    std::memcpy(&section, image + header.e_shoff + uint64_t{n} * header.e_shentsize, sizeof section);
    if (section.sh_type != SHT_NOBITS && !extend(section.sh_offset, section.sh_size)) return false;
  }
  for (uint32_t n = 0; n < header.e_phnum && header.e_phentsize >= sizeof(Elf64_Phdr); n++) {
    Elf64_Phdr segment;
    std::memcpy(&segment, image + header.e_phoff + uint64_t{n} * header.e_phentsize, sizeof segment);
    if (!extend(segment.p_offset, segment.p_filesz)) return false;
    if (segment.p_type == PT_NOTE) ReadNotes(image + segment.p_offset, segment.p_filesz, result);
  }
  result->size = end;
  return true;
}

std::string TargetOfFlags(uint32_t e_flags) {
  switch (e_flags & 0xff) {
    case 0x3f:
      return "gfx90a";
    case 0x4c:
      return "gfx942";
    case 0x4f:
      return "gfx950";
    default:
      return "?";
  }
}

bool ReadBundle(const uint8_t* image, uint64_t limit, std::vector<BundleEntry>* entries) {
  static constexpr char kMagic[] = "__CLANG_OFFLOAD_BUNDLE__";
  constexpr size_t kMagicSize = sizeof kMagic - 1;
  if (limit < kMagicSize || std::memcmp(image, kMagic, kMagicSize) != 0) return false;
  uint64_t at = kMagicSize;
  const auto number = [&](uint64_t* value) {
    if (limit - at < sizeof *value) return false;
    std::memcpy(value, image + at, sizeof *value);
    at += sizeof *value;
    return true;
  };
  // A bundle has no length of its own; clang writes one entry for the host and one for each target.
  uint64_t count;
  if (!number(&count) || count > 256) return false;
  for (uint64_t n = 0; n < count; n++) {
    uint64_t offset, size, length;
    if (!number(&offset) || !number(&size) || !number(&length) || length > 256 || length > limit - at) return false;
    if (offset > limit || size > limit - offset) return false;
    const std::string id(reinterpret_cast<const char*>(image + at), length);
    at += length;
    const size_t target = id.find("amdgcn-amd-amdhsa-");
    if (id.rfind("hip", 0) != 0 || target == std::string::npos || size == 0) continue;
    // `hip-amdgcn-amd-amdhsa--gfx90a` and `hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-`; older clang writes one dash less.
    std::string name = id.substr(target + std::strlen("amdgcn-amd-amdhsa-"));
    if (!name.empty() && name[0] == '-') name.erase(0, 1);
    entries->push_back({name, image + offset, size});
  }
  return true;
}

}  // namespace wavesmith::hip
