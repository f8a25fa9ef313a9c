#include "comgr/elf.h"

#include <cstring>

#include "hip/metadata.h"

namespace wavesmith::comgr {
namespace {

constexpr uint16_t kMachineAmdgpu = 224;
constexpr uint32_t kMetadataNote = 32;  // NT_AMDGPU_METADATA

template <typename T>
T Load(std::string_view bytes, uint64_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// The headers of a table that lies inside the bytes.
template <typename T>
bool ReadTable(std::string_view bytes, uint64_t offset, uint64_t count, uint64_t entry, std::vector<T>* table) {
  if (count == 0) return true;
  if (entry < sizeof(T) || offset > bytes.size() || count * entry > bytes.size() - offset) return false;
  for (uint64_t n = 0; n < count; n++) table->push_back(Load<T>(bytes, offset + n * entry));
  return true;
}

}  // namespace

std::optional<Elf> Elf::Read(std::string_view bytes) {
  Elf elf;
  if (bytes.size() < sizeof elf.header_ || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0) return std::nullopt;
  elf.bytes_ = bytes;
  elf.header_ = Load<Elf64_Ehdr>(bytes, 0);
  const Elf64_Ehdr& h = elf.header_;
  const bool is_ours = h.e_ident[EI_CLASS] == ELFCLASS64 && h.e_machine == kMachineAmdgpu;
  if (!is_ours || !ReadTable(bytes, h.e_shoff, h.e_shnum, h.e_shentsize, &elf.sections_) ||
      !ReadTable(bytes, h.e_phoff, h.e_phnum, h.e_phentsize, &elf.segments_)) {
    return std::nullopt;
  }
  for (const Elf64_Shdr& section : elf.sections_) {
    const bool is_inside = section.sh_offset <= bytes.size() && section.sh_size <= bytes.size() - section.sh_offset;
    if (section.sh_type != SHT_NOBITS && !is_inside) return std::nullopt;
  }
  for (const Elf64_Phdr& segment : elf.segments_) {
    if (segment.p_offset > bytes.size() || segment.p_filesz > bytes.size() - segment.p_offset) return std::nullopt;
  }
  return elf;
}

std::string_view Elf::At(uint64_t offset, uint64_t size) const {
  if (offset > bytes_.size() || size > bytes_.size() - offset) return {};
  return bytes_.substr(offset, size);
}
std::string Elf::TextAt(std::string_view table, uint64_t offset) const {
  if (offset >= table.size()) return {};
  const std::string_view rest = table.substr(offset);
  return std::string(rest.substr(0, rest.find('\0')));
}

std::optional<std::string_view> Elf::Section(const std::string& name) const {
  if (header_.e_shstrndx >= sections_.size()) return std::nullopt;
  const Elf64_Shdr& names = sections_[header_.e_shstrndx];
  const std::string_view table = At(names.sh_offset, names.sh_size);
  for (const Elf64_Shdr& section : sections_) {
    if (section.sh_type == SHT_NOBITS || TextAt(table, section.sh_name) != name) continue;
    return At(section.sh_offset, section.sh_size);
  }
  return std::nullopt;
}

std::vector<ElfSymbol> Elf::Symbols() const {
  std::vector<ElfSymbol> symbols;
  const uint32_t wanted = is_relocatable() ? SHT_SYMTAB : SHT_DYNSYM;
  for (const Elf64_Shdr& section : sections_) {
    if (section.sh_type != wanted || section.sh_link >= sections_.size()) continue;
    const Elf64_Shdr& names = sections_[section.sh_link];
    const std::string_view table = At(names.sh_offset, names.sh_size);
    for (uint64_t at = sizeof(Elf64_Sym); at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
      const auto entry = Load<Elf64_Sym>(bytes_, section.sh_offset + at);
      symbols.push_back({TextAt(table, entry.st_name), entry});
    }
  }
  return symbols;
}

std::optional<std::string> Elf::MetadataNote() const {
  const auto in = [](std::string_view notes) -> std::optional<std::string> {
    const auto padded = [](uint64_t n) { return (n + 3) & ~3ull; };
    for (uint64_t at = 0; at + sizeof(Elf64_Nhdr) <= notes.size();) {
      const auto note = Load<Elf64_Nhdr>(notes, at);
      const uint64_t name = at + sizeof note;
      const uint64_t content = name + padded(note.n_namesz);
      if (content > notes.size() || note.n_descsz > notes.size() - content) return std::nullopt;
      const bool is_amdgpu = note.n_namesz == 7 && notes.substr(name, 6) == "AMDGPU";
      if (is_amdgpu && note.n_type == kMetadataNote) return std::string(notes.substr(content, note.n_descsz));
      at = content + padded(note.n_descsz);
    }
    return std::nullopt;
  };
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type != PT_NOTE) continue;
    if (auto found = in(At(segment.p_offset, segment.p_filesz))) return found;
  }
  for (const Elf64_Shdr& section : sections_) {
    if (section.sh_type != SHT_NOTE) continue;
    if (auto found = in(At(section.sh_offset, section.sh_size))) return found;
  }
  return std::nullopt;
}

std::optional<Elf::Place> Elf::Map(uint64_t address) const {
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
    const uint64_t at = address - segment.p_vaddr;
    if (at >= segment.p_memsz) continue;
    if (at >= segment.p_filesz) return Place{0, segment.p_memsz - at, true};
    return Place{segment.p_offset + at, segment.p_filesz - at, false};
  }
  return std::nullopt;
}

std::string IsaNameOfFlags(uint32_t flags) {
  const std::string target = hip::TargetOfFlags(flags);
  if (target == "?") return "";
  // EF_AMDGPU_FEATURE_XNACK_V4 and EF_AMDGPU_FEATURE_SRAMECC_V4: 1 is any, 2 off, 3 on.
  const auto feature = [](uint32_t value, const std::string& name) {
    if (value < 2) return std::string();
    return ":" + name + (value == 3 ? "+" : "-");
  };
  return "amdgcn-amd-amdhsa--" + target + feature(flags >> 10 & 3, "sramecc") + feature(flags >> 8 & 3, "xnack");
}

}  // namespace wavesmith::comgr
