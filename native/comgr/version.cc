// The numbers of version WAVESMITH_COMGR_MAJOR. Sources: amd_comgr.h of Debian 12 (version 2.4) and of ROCm 6.3 (version 3.0).
#include "comgr/version.h"

#include <algorithm>
#include <iterator>

namespace wavesmith::comgr {
namespace {

#if WAVESMITH_COMGR_MAJOR == 2
constexpr size_t kMinor = 8;
// HC, which had number 3, was the language of a compiler that is gone: NONE stands for it, which no action compiles.
constexpr Language kLanguages[] = {Language::kNone, Language::kOpenCl12, Language::kOpenCl20,
                                   Language::kNone, Language::kHip,      Language::kLlvmIr};
constexpr Action kActions[] = {
    Action::kPreprocess,
    Action::kAddPrecompiledHeaders,
    Action::kCompileToBitcode,
    Action::kUnsupported,  // ADD_DEVICE_LIBRARIES: COMPILE_SOURCE_WITH_DEVICE_LIBS_TO_BC took its place
    Action::kLinkBitcode,
    Action::kOptimizeBitcode,
    Action::kBitcodeToRelocatable,
    Action::kBitcodeToAssembly,
    Action::kLinkToRelocatable,
    Action::kLinkToExecutable,
    Action::kAssemble,
    Action::kDisassembleRelocatable,
    Action::kDisassembleExecutable,
    Action::kDisassembleBytes,
    Action::kUnsupported,  // COMPILE_SOURCE_TO_FATBIN: code for a host is not made here
    Action::kCompileWithDeviceLibraries,
    Action::kCompileToRelocatable,
    Action::kCompileToExecutable,
    Action::kUnbundle,
};
#else
constexpr size_t kMinor = 1;
constexpr Language kLanguages[] = {Language::kNone, Language::kOpenCl12, Language::kOpenCl20, Language::kHip,
                                   Language::kLlvmIr};
constexpr Action kActions[] = {
    Action::kPreprocess,
    Action::kAddPrecompiledHeaders,
    Action::kCompileToBitcode,
    Action::kLinkBitcode,
    Action::kBitcodeToRelocatable,
    Action::kBitcodeToAssembly,
    Action::kLinkToRelocatable,
    Action::kLinkToExecutable,
    Action::kAssemble,
    Action::kDisassembleRelocatable,
    Action::kDisassembleExecutable,
    Action::kDisassembleBytes,
    Action::kCompileWithDeviceLibraries,
    Action::kCompileToRelocatable,
    Action::kCompileToExecutable,
    Action::kUnbundle,
    Action::kUnsupported,  // COMPILE_SPIRV_TO_RELOCATABLE: LLVM 22 has no reader of SPIR-V
    Action::kUnsupported,
    Action::kUnsupported,
    Action::kUnsupported,  // TRANSLATE_SPIRV_TO_BC
};
#endif

}  // namespace

bool ReadLanguage(int number, Language* language) {
  if (number < 0 || static_cast<size_t>(number) >= std::size(kLanguages)) return false;
  *language = kLanguages[number];
  return true;
}
bool ReadAction(int number, Action* action) {
  if (number < 0 || static_cast<size_t>(number) >= std::size(kActions)) return false;
  *action = kActions[number];
  return true;
}
int NumberOf(Language language) {
  return static_cast<int>(std::find(std::begin(kLanguages), std::end(kLanguages), language) - std::begin(kLanguages));
}

}  // namespace wavesmith::comgr

WAVESMITH_COMGR void amd_comgr_get_version(size_t* major, size_t* minor) {
  if (major != nullptr) *major = WAVESMITH_COMGR_MAJOR;
  if (minor != nullptr) *minor = wavesmith::comgr::kMinor;
}
