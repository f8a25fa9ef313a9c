// LLVM-C's disassembler, loaded when it is first asked for. Source: llvm-c/Disassembler.h of LLVM 22.
#include "comgr/disassembler.h"

#include <dlfcn.h>

#include <array>
#include <cstring>

#include "comgr/objects.h"

namespace wavesmith::comgr {
namespace {

struct Functions {
  void* (*create)(const char* triple, const char* cpu, const char* features, void*, int, void*, void*) = nullptr;
  size_t (*read)(void*, uint8_t*, uint64_t size, uint64_t address, char*, size_t) = nullptr;
  void (*dispose)(void*) = nullptr;
  bool ok = false;
};

Functions Load() {
  Functions functions;
  void* library = nullptr;
  for (const char* const name : {"libLLVM.so.22.1", "libLLVM-22.so", "/usr/lib/llvm-22/lib/libLLVM.so"}) {
    // What it needs is its own, whichever LLVM the program has.
    if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  }
  if (library == nullptr) return functions;
  bool is_whole = true;
  const auto find = [&]<typename T>(const char* name, T* function) {
    *function = reinterpret_cast<T>(dlsym(library, name));
    is_whole = is_whole && *function != nullptr;
  };
  std::array<void (*)(), 4> start{};
  find("LLVMInitializeAMDGPUTargetInfo", &start[0]);
  find("LLVMInitializeAMDGPUTarget", &start[1]);
  find("LLVMInitializeAMDGPUTargetMC", &start[2]);
  find("LLVMInitializeAMDGPUDisassembler", &start[3]);
  find("LLVMCreateDisasmCPUFeatures", &functions.create);
  find("LLVMDisasmInstruction", &functions.read);
  find("LLVMDisasmDispose", &functions.dispose);
  if (!is_whole) return functions;
  for (const auto function : start) function();
  functions.ok = true;
  return functions;
}

const Functions& Llvm() {
  static const Functions functions = Load();
  return functions;
}

}  // namespace

std::unique_ptr<Disassembler> Disassembler::Make(const IsaName& isa) {
  if (!Llvm().ok) return nullptr;
  std::string features;
  for (const auto& [name, is_on] : isa.features) {
    features += std::string(features.empty() ? "" : ",") + (is_on ? "+" : "-") + name;
  }
  void* const context =
      Llvm().create("amdgcn-amd-amdhsa", isa.processor.c_str(), features.c_str(), nullptr, 0, nullptr, nullptr);
  return context == nullptr ? nullptr : std::unique_ptr<Disassembler>(new Disassembler(context));
}
Disassembler::~Disassembler() { Llvm().dispose(context_); }

size_t Disassembler::Read(const uint8_t* bytes, size_t size, uint64_t address, std::string* text) const {
  std::array<uint8_t, kMaxInstructionBytes> copy{};
  std::array<char, 512> line{};
  const size_t given = std::min(size, copy.size());
  std::memcpy(copy.data(), bytes, given);
  const size_t length = Llvm().read(context_, copy.data(), given, address, line.data(), line.size());
  *text = line.data();
  return length;
}

}  // namespace wavesmith::comgr

using namespace wavesmith::comgr;  // NOLINT: the C API's definitions follow

namespace {

struct DisassemblyInfo {
  uint64_t (*read)(uint64_t address, char* to, uint64_t size, void* context);
  void (*print)(const char* instruction, void* context);
  void (*annotate)(uint64_t address, void* context);
  std::unique_ptr<Disassembler> disassembler;
};

Registry<DisassemblyInfo>& Infos() {
  static auto& infos = *new Registry<DisassemblyInfo>;
  return infos;
}

// SOPP branches and s_call have a signed offset in words from the next instruction in their low half.
bool IsBranch(const std::string& text) {
  for (const char* const name : {"s_branch", "s_cbranch_", "s_call_"}) {
    if (text.find(name) != std::string::npos) return text.find("_fork") == std::string::npos;
  }
  return false;
}

}  // namespace

WAVESMITH_COMGR Status amd_comgr_create_disassembly_info(const char* isa,
                                                         uint64_t (*read)(uint64_t, char*, uint64_t, void*),
                                                         void (*print)(const char*, void*),
                                                         void (*annotate)(uint64_t, void*), Handle* info) {
  const auto name = ReadIsaName(isa == nullptr ? "" : isa);
  if (!name || read == nullptr || print == nullptr || annotate == nullptr || info == nullptr) {
    return Status::kInvalidArgument;
  }
  auto disassembler = Disassembler::Make(*name);
  if (disassembler == nullptr) return Status::kError;
  auto made = std::make_shared<DisassemblyInfo>();
  *made = {read, print, annotate, std::move(disassembler)};
  *info = Infos().Add(std::move(made));
  return Status::kSuccess;
}
WAVESMITH_COMGR Status amd_comgr_destroy_disassembly_info(Handle info) {
  return Infos().Remove(info) ? Status::kSuccess : Status::kInvalidArgument;
}
WAVESMITH_COMGR Status amd_comgr_disassemble_instruction(Handle info, uint64_t address, void* context, uint64_t* size) {
  const auto found = Infos().Find(info);
  if (found == nullptr || size == nullptr) return Status::kInvalidArgument;
  std::array<char, kMaxInstructionBytes> bytes{};
  const uint64_t given = std::min<uint64_t>(found->read(address, bytes.data(), bytes.size(), context), bytes.size());
  const auto* const begin = reinterpret_cast<const uint8_t*>(bytes.data());
  std::string text;
  *size = given == 0 ? 0 : found->disassembler->Read(begin, given, address, &text);
  if (*size == 0) return Status::kError;
  found->print(text.c_str(), context);
  if (IsBranch(text)) {
    int16_t words;
    std::memcpy(&words, begin, sizeof words);
    found->annotate(address + 4 + static_cast<uint64_t>(int64_t{words} * 4), context);
  }
  return Status::kSuccess;
}
