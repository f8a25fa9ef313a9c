// Running clang. Sources: posix_spawn(3); clang's HIP documentation (HIPSupport.rst).
#include "hiprtc/compile.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

extern char** environ;

namespace wavesmith::rtc {
namespace {

namespace fs = std::filesystem;

std::string Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}
bool Exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// LLVM's own folder first: the name alone may be another version.
std::string FindTool(const std::string& tool) {
  const std::string folder = Environment("WAVESMITH_LLVM");
  const std::string own = folder.starts_with('/') ? folder + "/" + tool : "";
  for (const std::string& path : {own, "/usr/lib/llvm-22/bin/" + tool, "/usr/bin/" + tool + "-22"}) {
    if (!path.empty() && Exists(path)) return path;
  }
  return "";
}

// The folder of this library.
std::string OwnFolder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&DeviceArch), &info) == 0 || info.dli_fname == nullptr) return "";
  std::error_code error;
  return fs::canonical(info.dli_fname, error).parent_path().string();
}

}  // namespace

Folder::Folder() {
  std::string pattern = Environment("TMPDIR");
  pattern = (pattern.empty() ? "/tmp" : pattern) + "/wavesmith-rtc-XXXXXX";
  if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
}
Folder::~Folder() {
  std::error_code error;
  if (ok()) fs::remove_all(path_, error);
}
bool Folder::Write(const std::string& name, const std::string& content) const {
  const fs::path relative = fs::path(name).lexically_normal();
  if (relative.empty() || relative.is_absolute() || *relative.begin() == "..") return false;
  const fs::path path = fs::path(path_) / relative;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  std::ofstream out(path, std::ios::binary);
  out << content;
  return static_cast<bool>(out.flush());
}

bool ReadFile(const std::string& path, std::string* content) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return false;
  std::ostringstream all;
  all << in.rdbuf();
  *content = all.str();
  return true;
}

bool RunTool(const std::string& tool, const std::vector<std::string>& arguments, std::string* log) {
  const std::string program = FindTool(tool);
  if (program.empty()) {
    *log +=
        "wavesmith: " + tool + " of LLVM 22 was not found; install clang-22, or name its folder in WAVESMITH_LLVM.\n";
    return false;
  }
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
    *log += std::string("wavesmith: pipe: ") + std::strerror(errno) + "\n";
    return false;
  }
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], 2);
  pid_t child = 0;
  const int failed = posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  if (failed != 0) {
    close(pipe_ends[0]);
    *log += "wavesmith: " + program + ": " + std::strerror(failed) + "\n";
    return false;
  }
  char chunk[4096];
  for (ssize_t n; (n = read(pipe_ends[0], chunk, sizeof chunk)) > 0 || (n < 0 && errno == EINTR);) {
    if (n > 0) log->append(chunk, static_cast<size_t>(n));
  }
  close(pipe_ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    // A program that ignores SIGCHLD takes the status away; what was written then says how it went.
    if (errno != EINTR) return true;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

namespace {
// The folder that `include/hip` is in; empty when there is none.
std::string HipRoot() {
  for (const std::string& root : {Environment("HIP_PATH"), Environment("ROCM_PATH"), std::string("/usr")}) {
    if (!root.empty() && Exists(root + "/include/hip/hip_runtime.h")) return root;
  }
  return "";
}
}  // namespace

std::vector<std::string> DeviceLibraryOptions() {
  // Clang looks into HIP_DEVICE_LIB_PATH itself; a checkout has its own libraries beside native/build/lib.
  const std::string libraries = OwnFolder() + "/../../../.wavesmith/hip-device-libs";
  if (!Environment("HIP_DEVICE_LIB_PATH").empty() || !Exists(libraries)) return {};
  return {"--rocm-device-lib-path=" + libraries};
}

std::vector<std::string> HipOptions() {
  std::vector<std::string> options{"-D__HIP_PLATFORM_AMD__", "-D__AMDGCN_WAVEFRONT_SIZE=64"};
  const std::string root = HipRoot();
  if (!root.empty()) options.push_back("--rocm-path=" + root);
  if (!root.empty() && root != "/usr") options.insert(options.end(), {"-isystem", root + "/include"});
  const std::vector<std::string> libraries = DeviceLibraryOptions();
  options.insert(options.end(), libraries.begin(), libraries.end());
  return options;
}

std::vector<std::string> BuiltinHeaders() {
  std::vector<std::string> headers{"hip/hip_runtime.h"};
  for (const char* const header :
       {"hip/hip_fp16.h", "hip/hip_bfloat16.h", "hip/hip_complex.h", "hip/hip_math_constants.h"}) {
    if (Exists(HipRoot() + "/include/" + header)) headers.emplace_back(header);
  }
  return headers;
}

std::string DeviceArch() {
  constexpr size_t kPropertiesBytes = 1472;
  constexpr size_t kArchName = 1160;
  using GetProperties = int (*)(void*, int);
  void* symbol = dlsym(RTLD_DEFAULT, "hipGetDevicePropertiesR0600");
  if (symbol == nullptr) {
    void* const library = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) symbol = dlsym(library, "hipGetDevicePropertiesR0600");
  }
  std::vector<char> properties(kPropertiesBytes);
  if (symbol == nullptr || reinterpret_cast<GetProperties>(symbol)(properties.data(), 0) != 0) return "gfx942";
  return properties.data() + kArchName;
}

}  // namespace wavesmith::rtc
