// What a code object says about its kernels: the msgpack note of LLVM AMDGPUUsage, "Code Object V3 and Above Metadata", as far as launches need it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace wavesmith::hip {

struct Argument {
  std::string kind;  // `.value_kind`
  uint32_t offset = 0;
  uint32_t size = 0;
  bool hidden() const { return kind.rfind("hidden_", 0) == 0; }
};

struct KernelInfo {
  std::string name;    // `.name`
  std::string symbol;  // `.symbol`, `name.kd`
  std::vector<Argument> arguments;
  uint32_t kernarg_size = 0;
  uint32_t group_segment = 0;
  uint32_t private_segment = 0;
  uint32_t max_workgroup_size = 1024;
  uint32_t sgprs = 0;
  uint32_t vgprs = 0;
  uint32_t agprs = 0;

  // Whether a caller gives arguments.
  bool HasExplicit() const {
    return std::any_of(arguments.begin(), arguments.end(), [](const Argument& a) { return !a.hidden(); });
  }
};

struct CodeObject {
  std::vector<KernelInfo> kernels;
  // Formats of `amdhsa.printf` by the number that kernels name them with.
  std::map<uint64_t, std::string> printf_formats;
  uint32_t e_flags = 0;
  uint64_t size = 0;  // bytes of the ELF file, worked out from its headers
};

// Reads an ELF code object whose length is not known (HIP passes images without one) but is at most `limit`. False when it is none.
bool ReadCodeObject(const uint8_t* image, uint64_t limit, CodeObject* result);

// `gfx942` for EF_AMDGPU_MACH of e_flags; `?` when it is none of this tool's targets.
std::string TargetOfFlags(uint32_t e_flags);

// The code objects of a clang offload bundle: target id (after `hip…-amdgcn-amd-amdhsa--`) and bytes. False when it is not a plain bundle.
struct BundleEntry {
  std::string target;
  const uint8_t* bytes;
  uint64_t size;
};
bool ReadBundle(const uint8_t* image, uint64_t limit, std::vector<BundleEntry>* entries);

}  // namespace wavesmith::hip
