// LLVM 22's disassembler in its shared library, which clang-22 brings along.
#pragma once
#include <memory>
#include <string>

#include "comgr/isa.h"

namespace wavesmith::comgr {

class Disassembler {
 public:
  // Nothing when libLLVM 22 is not to be had.
  static std::unique_ptr<Disassembler> Make(const IsaName& isa);
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;
  ~Disassembler();

  // Bytes of the instruction at `bytes`, 0 when it is none; `text` is LLVM's, with a tab before it.
  size_t Read(const uint8_t* bytes, size_t size, uint64_t address, std::string* text) const;

 private:
  explicit Disassembler(void* context) : context_(context) {}
  void* context_;
};

// The longest instruction.
constexpr size_t kMaxInstructionBytes = 20;

}  // namespace wavesmith::comgr
