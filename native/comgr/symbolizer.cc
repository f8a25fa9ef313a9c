// Source lines of addresses: llvm-symbolizer of LLVM 22. Source: amd_comgr.h.
#include <cstdio>

#include "comgr/objects.h"
#include "hiprtc/compile.h"

using namespace wavesmith::comgr;  // NOLINT: the C API's definitions follow

namespace {

struct SymbolizerInfo {
  wavesmith::rtc::Folder folder;
  void (*print)(const char* symbol, void* context) = nullptr;
};

Registry<SymbolizerInfo>& Infos() {
  static auto& infos = *new Registry<SymbolizerInfo>;
  return infos;
}
constexpr const char* kFile = "code.o";

}  // namespace

WAVESMITH_COMGR Status amd_comgr_create_symbolizer_info(Handle code, void (*print)(const char*, void*), Handle* info) {
  const auto found = FindData(code);
  if (found == nullptr || !found->bytes || print == nullptr || info == nullptr ||
      (found->kind != DataKind::kRelocatable && found->kind != DataKind::kExecutable &&
       found->kind != DataKind::kBytes)) {
    return Status::kInvalidArgument;
  }
  auto made = std::make_shared<SymbolizerInfo>();
  made->print = print;
  if (!made->folder.ok() || !made->folder.Write(kFile, *found->bytes)) return Status::kError;
  *info = Infos().Add(std::move(made));
  return Status::kSuccess;
}
WAVESMITH_COMGR Status amd_comgr_destroy_symbolizer_info(Handle info) {
  return Infos().Remove(info) ? Status::kSuccess : Status::kInvalidArgument;
}
WAVESMITH_COMGR Status amd_comgr_symbolize(Handle info, uint64_t address, bool is_code, void* context) {
  const auto found = Infos().Find(info);
  if (found == nullptr) return Status::kInvalidArgument;
  char text[40];
  std::snprintf(text, sizeof text, "%s 0x%llx", is_code ? "CODE" : "DATA", static_cast<unsigned long long>(address));
  std::string answer;
  if (!wavesmith::rtc::RunTool("llvm-symbolizer", {"--obj=" + found->folder.Path(kFile), text}, &answer)) {
    return Status::kError;
  }
  found->print(answer.c_str(), context);
  return Status::kSuccess;
}
