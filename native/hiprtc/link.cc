// hiprtc's linker: bitcode of several programs becomes one code object. Source: HIP API documentation, "Runtime Compilation", hiprtcLinkCreate.
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "hiprtc/compile.h"
#include "hiprtc/result.h"

namespace wavesmith::rtc {
namespace {

// hiprtcJITInputType.
constexpr int kBitcode = 100;
constexpr int kBundledBitcode = 101;

struct Link {
  std::vector<std::string> inputs;
  std::string code;
};

std::mutex mutex;
// Never destroyed: work that a stream still has ends after the destructors of a program's and of this library's objects.
auto& links = *new std::map<void*, std::unique_ptr<Link>>;

Link* Find(void* handle) {
  const auto found = links.find(handle);
  return found == links.end() ? nullptr : found->second.get();
}

Result Add(void* handle, int type, std::string bytes) {
  if (type != kBitcode && type != kBundledBitcode) return Result::kInvalidInput;
  const std::lock_guard lock(mutex);
  Link* const link = Find(handle);
  if (link == nullptr) return Result::kInvalidInput;
  link->inputs.push_back(std::move(bytes));
  return Result::kSuccess;
}

Result Complete(Link& link) {
  const Folder folder;
  if (!folder.ok() || link.inputs.empty()) return Result::kLinking;
  const std::string arch = DeviceArch();
  std::string log;
  std::vector<std::string> arguments;
  for (size_t n = 0; n < link.inputs.size(); n++) {
    const std::string name = "input-" + std::to_string(n) + ".bc";
    if (!folder.Write(name, link.inputs[n])) return Result::kInternal;
    arguments.push_back(folder.Path(name));
  }
  arguments.insert(arguments.end(), {"-o", folder.Path("all.bc")});
  const std::vector<std::string> compile{
      "--target=amdgcn-amd-amdhsa", "-mcpu=" + arch, "-nogpulib", "-O3", folder.Path("all.bc"), "-o",
      folder.Path("all.hsaco")};
  const bool linked = RunTool("llvm-link", arguments, &log) && RunTool("clang++", compile, &log) &&
                      ReadFile(folder.Path("all.hsaco"), &link.code);
  if (!linked) std::fprintf(stderr, "%s", log.c_str());
  return linked ? Result::kSuccess : Result::kLinking;
}

}  // namespace
}  // namespace wavesmith::rtc

using namespace wavesmith::rtc;  // NOLINT: the C API's definitions follow

#define WAVESMITH_RTC extern "C" __attribute__((visibility("default")))

WAVESMITH_RTC Result hiprtcLinkCreate(unsigned count, int* options, void** values, void** state) {
  if (state == nullptr || (count != 0 && (options == nullptr || values == nullptr))) return Result::kInvalidInput;
  auto made = std::make_unique<Link>();
  *state = made.get();
  const std::lock_guard lock(mutex);
  links[made.get()] = std::move(made);
  return Result::kSuccess;
}
WAVESMITH_RTC Result hiprtcLinkAddData(void* state, int type, void* bytes, size_t size, const char*, unsigned, int*,
                                       void**) {
  if (bytes == nullptr || size == 0) return Result::kInvalidInput;
  return Add(state, type, std::string(static_cast<const char*>(bytes), size));
}
WAVESMITH_RTC Result hiprtcLinkAddFile(void* state, int type, const char* path, unsigned, int*, void**) {
  std::string bytes;
  if (state == nullptr || path == nullptr || (type != kBitcode && type != kBundledBitcode)) {
    return Result::kInvalidInput;
  }
  if (!ReadFile(path, &bytes)) return Result::kProgramCreation;
  return Add(state, type, std::move(bytes));
}
WAVESMITH_RTC Result hiprtcLinkComplete(void* state, void** code, size_t* size) {
  if (code == nullptr || size == nullptr) return Result::kInvalidInput;
  const std::lock_guard lock(mutex);
  Link* const link = Find(state);
  if (link == nullptr) return Result::kInvalidInput;
  const Result result = Complete(*link);
  if (result != Result::kSuccess) return result;
  *code = link->code.data();
  *size = link->code.size();
  return Result::kSuccess;
}
WAVESMITH_RTC Result hiprtcLinkDestroy(void* state) {
  const std::lock_guard lock(mutex);
  return links.erase(state) == 1 ? Result::kSuccess : Result::kInvalidInput;
}
