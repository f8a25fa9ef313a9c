// The C interface of AMD's code object manager as programs call it. Source: amd_comgr.h of ROCm 6.3 (version 3) and Debian 12 (version 2).
#pragma once
#include <cstddef>
#include <cstdint>

#define WAVESMITH_COMGR extern "C" __attribute__((visibility("default")))

namespace wavesmith::comgr {

enum class Status : int { kSuccess = 0, kError = 1, kInvalidArgument = 2, kOutOfResources = 3 };

// Handles are passed by value as structures of one word.
struct Handle {
  uint64_t handle;
};

enum class DataKind : int {
  kUndefined = 0,
  kSource = 1,
  kInclude = 2,
  kPrecompiledHeader = 3,
  kDiagnostic = 4,
  kLog = 5,
  kBitcode = 6,
  kRelocatable = 7,
  kExecutable = 8,
  kBytes = 9,
  kFatbin = 16,
  kArchive = 17,
  kBitcodeBundle = 18,
  kArchiveBundle = 19,
  kObjectBundle = 20,
  kSpirv = 21,
};

enum class Language { kNone, kOpenCl12, kOpenCl20, kHip, kLlvmIr };

// What do_action does. The numbers of programs are those of their version (version.cc).
enum class Action {
  kPreprocess,
  kAddPrecompiledHeaders,
  kCompileToBitcode,
  kLinkBitcode,
  kOptimizeBitcode,
  kBitcodeToRelocatable,
  kBitcodeToAssembly,
  kLinkToRelocatable,
  kLinkToExecutable,
  kAssemble,
  kDisassembleRelocatable,
  kDisassembleExecutable,
  kDisassembleBytes,
  kCompileWithDeviceLibraries,
  kCompileToRelocatable,
  kCompileToExecutable,
  kUnbundle,
  kUnsupported,
};

}  // namespace wavesmith::comgr
