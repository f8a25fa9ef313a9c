// A code object as the interface asks about it. Every length is checked. Sources: ELF gABI; LLVM AMDGPUUsage.
#pragma once
#include <elf.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wavesmith::comgr {

struct ElfSymbol {
  std::string name;
  Elf64_Sym entry;
};

class Elf {
 public:
  // Nothing for bytes that are not a whole ELF file of an AMD GPU. The bytes must outlive the result.
  static std::optional<Elf> Read(std::string_view bytes);

  uint32_t flags() const { return header_.e_flags; }
  bool is_relocatable() const { return header_.e_type == ET_REL; }

  // Content of a section; nothing when there is none of this name.
  std::optional<std::string_view> Section(const std::string& name) const;
  // The dynamic symbols, or all of a relocatable file; the first, empty one is left out.
  std::vector<ElfSymbol> Symbols() const;
  // MessagePack bytes of the note with the kernels.
  std::optional<std::string> MetadataNote() const;

  struct Place {
    uint64_t offset;  // in the file
    uint64_t size;    // bytes left in the segment
    bool is_zero;     // not in the file: zeros
  };
  // Where the byte of an address is.
  std::optional<Place> Map(uint64_t address) const;

 private:
  std::string_view At(uint64_t offset, uint64_t size) const;
  std::string TextAt(std::string_view table, uint64_t offset) const;

  std::string_view bytes_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Shdr> sections_;
  std::vector<Elf64_Phdr> segments_;
};

// `amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-` of e_flags; empty for other targets.
std::string IsaNameOfFlags(uint32_t flags);

}  // namespace wavesmith::comgr
