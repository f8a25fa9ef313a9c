// What code objects hold: symbols, names, the code objects of bundles. Source: amd_comgr.h.
#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <sstream>

#include "comgr/elf.h"
#include "comgr/isa.h"
#include "comgr/objects.h"
#include "hip/metadata.h"
#include "hiprtc/compile.h"

using namespace wavesmith::comgr;  // NOLINT: the C API's definitions follow

namespace {

// amd_comgr_symbol_type_t beside the ELF types, and amd_comgr_symbol_info_t.
constexpr int kUnknownType = -1;
constexpr int kKernelType = 10;
enum class SymbolInfo { kNameLength, kName, kType, kSize, kIsUndefined, kValue };

Registry<const ElfSymbol>& Symbols() {
  static auto& symbols = *new Registry<const ElfSymbol>;
  return symbols;
}

// The bytes of an object that holds code; null for another one.
const std::string* CodeOf(const std::shared_ptr<Data>& data) {
  const bool is_code = data != nullptr && (data->kind == DataKind::kRelocatable || data->kind == DataKind::kExecutable);
  return is_code && data->bytes.has_value() ? &data->bytes.value() : nullptr;
}

int TypeOf(const ElfSymbol& symbol) {
  const int type = ELF64_ST_TYPE(symbol.entry.st_info);
  // STT_AMDGPU_HSA_KERNEL of the second version of code objects.
  return type <= STT_COMMON || type == kKernelType ? type : kUnknownType;
}

template <typename T>
Status Put(void* value, T content) {
  std::memcpy(value, &content, sizeof content);
  return Status::kSuccess;
}

std::string Demangled(const std::string& name) {
  int status = 0;
  char* const text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  const std::string result = status == 0 && text != nullptr ? text : name;
  std::free(text);
  return result;
}

struct CodeObjectInfo {
  const char* isa;
  size_t size;
  uint64_t offset;
};

}  // namespace

WAVESMITH_COMGR Status amd_comgr_get_data_isa_name(Handle data, size_t* size, char* name) {
  const auto found = FindData(data);
  const std::string* const code = CodeOf(found);
  if (code == nullptr) return Status::kInvalidArgument;
  const auto elf = Elf::Read(*code);
  const std::string isa = elf ? IsaNameOfFlags(elf->flags()) : "";
  return isa.empty() ? Status::kError : Answer(WithEnd(isa), size, name);
}

WAVESMITH_COMGR Status amd_comgr_iterate_symbols(Handle data, Status (*callback)(Handle, void*), void* context) {
  const auto found = FindData(data);
  const std::string* const code = CodeOf(found);
  if (code == nullptr || callback == nullptr) return Status::kInvalidArgument;
  const auto elf = Elf::Read(*code);
  if (!elf) return Status::kError;
  for (const ElfSymbol& symbol : elf->Symbols()) {
    const Handle handle = Symbols().Add(std::make_shared<const ElfSymbol>(symbol));
    const Status status = callback(handle, context);
    Symbols().Remove(handle);
    if (status != Status::kSuccess) return status;
  }
  return Status::kSuccess;
}
// The interface has no way to give the symbol back: its handle stays.
WAVESMITH_COMGR Status amd_comgr_symbol_lookup(Handle data, const char* name, Handle* symbol) {
  const auto found = FindData(data);
  const std::string* const code = CodeOf(found);
  if (code == nullptr || name == nullptr || symbol == nullptr) return Status::kInvalidArgument;
  const auto elf = Elf::Read(*code);
  if (!elf) return Status::kError;
  const std::vector<ElfSymbol> all = elf->Symbols();
  const auto wanted = std::find_if(all.begin(), all.end(), [&](const ElfSymbol& s) { return s.name == name; });
  if (wanted == all.end()) return Status::kError;
  *symbol = Symbols().Add(std::make_shared<const ElfSymbol>(*wanted));
  return Status::kSuccess;
}
WAVESMITH_COMGR Status amd_comgr_symbol_get_info(Handle symbol, int attribute, void* value) {
  const auto found = Symbols().Find(symbol);
  if (found == nullptr || value == nullptr) return Status::kInvalidArgument;
  switch (static_cast<SymbolInfo>(attribute)) {
    case SymbolInfo::kNameLength:
      return Put<size_t>(value, found->name.size());
    case SymbolInfo::kName:
      std::memcpy(value, found->name.c_str(), found->name.size() + 1);
      return Status::kSuccess;
    case SymbolInfo::kType:
      return Put<int>(value, TypeOf(*found));
    case SymbolInfo::kSize:
      return Put<uint64_t>(value, found->entry.st_size);
    case SymbolInfo::kIsUndefined:
      return Put<bool>(value, found->entry.st_shndx == SHN_UNDEF);
    case SymbolInfo::kValue:
      return Put<uint64_t>(value, found->entry.st_value);
  }
  return Status::kInvalidArgument;
}

WAVESMITH_COMGR Status amd_comgr_demangle_symbol_name(Handle mangled, Handle* demangled) {
  const auto found = FindData(mangled);
  if (found == nullptr || !found->bytes || found->kind != DataKind::kBytes || demangled == nullptr) {
    return Status::kInvalidArgument;
  }
  auto made = std::make_shared<Data>(DataKind::kBytes);
  made->bytes = Demangled(*found->bytes);
  *demangled = Refer(made);
  return Status::kSuccess;
}

WAVESMITH_COMGR Status amd_comgr_populate_mangled_names(Handle data, size_t* count) {
  const auto found = FindData(data);
  if (found == nullptr || !found->bytes || count == nullptr ||
      (found->kind != DataKind::kBitcode && found->kind != DataKind::kExecutable)) {
    return Status::kInvalidArgument;
  }
  std::vector<std::string> names;
  if (found->kind == DataKind::kExecutable) {
    const auto elf = Elf::Read(*found->bytes);
    if (!elf) return Status::kError;
    for (const ElfSymbol& symbol : elf->Symbols()) names.push_back(symbol.name);
  } else {
    const wavesmith::rtc::Folder folder;
    std::string text;
    if (!folder.ok() || !folder.Write("input.bc", *found->bytes) ||
        !wavesmith::rtc::RunTool("llvm-nm", {"--format=just-symbols", "--no-sort", folder.Path("input.bc")}, &text)) {
      return Status::kError;
    }
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) names.push_back(line);
  }
  found->mangled_names = std::move(names);
  *count = found->mangled_names.size();
  return Status::kSuccess;
}
WAVESMITH_COMGR Status amd_comgr_get_mangled_name(Handle data, size_t index, size_t* size, char* name) {
  const auto found = FindData(data);
  if (found == nullptr) return Status::kInvalidArgument;
  return index < found->mangled_names.size() ? Answer(WithEnd(found->mangled_names[index]), size, name)
                                             : Status::kError;
}

// Name expressions are variables that only AMD's own hiprtc makes; this project's libhiprtc answers for itself.
WAVESMITH_COMGR Status amd_comgr_populate_name_expression_map(Handle data, size_t* count) {
  const auto found = FindData(data);
  return found == nullptr || count == nullptr ? Status::kInvalidArgument : Status::kError;
}
WAVESMITH_COMGR Status amd_comgr_map_name_expression_to_symbol_name(Handle data, size_t* size, char*, char*) {
  const auto found = FindData(data);
  return found == nullptr || size == nullptr ? Status::kInvalidArgument : Status::kError;
}

// For each target asked for, where its code is: the file itself, or an entry of a bundle. Without one, the size is 0.
WAVESMITH_COMGR Status amd_comgr_lookup_code_object(Handle data, CodeObjectInfo* list, size_t count) {
  const auto found = FindData(data);
  if (found == nullptr || !found->bytes || list == nullptr || count == 0) return Status::kInvalidArgument;
  const auto* const image = reinterpret_cast<const uint8_t*>(found->bytes->data());
  std::vector<wavesmith::hip::BundleEntry> entries;
  if (const auto elf = Elf::Read(*found->bytes)) {
    const std::string isa = IsaNameOfFlags(elf->flags());
    const auto named = ReadIsaName(isa);
    if (named) entries.push_back({named->TargetId(), image, found->bytes->size()});
  } else if (!wavesmith::hip::ReadBundle(image, found->bytes->size(), &entries)) {
    return Status::kError;
  }
  for (size_t n = 0; n < count; n++) {
    const auto wanted = ReadIsaName(list[n].isa == nullptr ? "" : list[n].isa);
    if (!wanted) return Status::kInvalidArgument;
    // Code that leaves a feature open runs whatever the target has it set to.
    const auto fits = [&](const wavesmith::hip::BundleEntry& entry) {
      const auto has = ReadIsaName("amdgcn-amd-amdhsa--" + entry.target);
      return has && has->processor == wanted->processor &&
             std::all_of(has->features.begin(), has->features.end(), [&](const auto& feature) {
               return std::find(wanted->features.begin(), wanted->features.end(), feature) != wanted->features.end();
             });
    };
    const auto entry = std::find_if(entries.begin(), entries.end(), fits);
    list[n].size = entry == entries.end() ? 0 : entry->size;
    list[n].offset = entry == entries.end() ? 0 : static_cast<uint64_t>(entry->bytes - image);
  }
  return Status::kSuccess;
}

WAVESMITH_COMGR Status amd_comgr_map_elf_virtual_address_to_code_object_offset(Handle data, uint64_t address,
                                                                               uint64_t* offset, uint64_t* size,
                                                                               bool* is_zero) {
  const auto found = FindData(data);
  if (found == nullptr || !found->bytes || found->kind != DataKind::kExecutable || offset == nullptr ||
      size == nullptr || is_zero == nullptr) {
    return Status::kInvalidArgument;
  }
  const auto elf = Elf::Read(*found->bytes);
  const auto place = elf ? elf->Map(address) : std::nullopt;
  if (!place) return Status::kError;
  *offset = place->offset;
  *size = place->size;
  *is_zero = place->is_zero;
  return Status::kSuccess;
}
