// hiprtc's programs: sources compiled at run time, on clang 22. Source: HIP API documentation, "Runtime Compilation".
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "hiprtc/compile.h"
#include "hiprtc/result.h"

namespace wavesmith::rtc {
namespace {

struct Program {
  std::string source;
  std::string name;
  std::map<std::string, std::string> headers;
  std::vector<std::string> expressions;
  std::map<std::string, std::string> lowered;
  std::string log;
  std::string code;
  std::string bitcode;
  bool compiled = false;
};

std::mutex mutex;
// Never destroyed: work that a stream still has ends after the destructors of a program's and of this library's objects.
auto& programs = *new std::set<Program*>;

Program* Find(void* handle) {
  auto* const program = static_cast<Program*>(handle);
  return programs.contains(program) ? program : nullptr;
}

std::string WithoutSpace(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
  return text;
}

constexpr const char* kMark = "__wavesmith_name_";

// The source and, for each name expression, a variable that holds its address: the compiler's answer to what it is called.
std::string SourceWithNames(const Program& p) {
  std::string text = "#line 1 \"" + p.name + "\"\n" + p.source + "\n#line 1 \"name expressions\"\n";
  for (size_t n = 0; n < p.expressions.size(); n++) {
    const std::string& e = p.expressions[n];
    const std::string address = WithoutSpace(e).starts_with("&") ? e : "&" + e;
    text += "extern \"C\" __device__ __attribute__((used)) const void* const volatile " + std::string(kMark) +
            std::to_string(n) + " = (const void*)(" + address + ");\n";
  }
  return text;
}

// The name after the first `@` behind a variable's definition in LLVM's text.
bool ReadLowered(const std::string& text, size_t n, std::string* name) {
  const std::string definition = "@" + std::string(kMark) + std::to_string(n) + " = ";
  size_t at = text.find(definition);
  if (at == std::string::npos) return false;
  const size_t end = text.find('\n', at);
  at = text.find('@', at + definition.size());
  if (at == std::string::npos || at >= end) return false;
  at++;
  if (text[at] == '"') {
    const size_t close = text.find('"', at + 1);
    *name = text.substr(at + 1, close - at - 1);
    return true;
  }
  const size_t close = text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$-", at);
  *name = text.substr(at, close - at);
  return true;
}

struct Options {
  std::vector<std::string> clang;
  std::string arch;
  bool is_relocatable = false;
};
Options ReadOptions(int count, const char* const* given) {
  Options result;
  for (int n = 0; n < count; n++) {
    const std::string option = given[n] == nullptr ? "" : given[n];
    const auto value_of = [&](const char* prefix) {
      return option.starts_with(prefix) ? option.substr(std::strlen(prefix)) : std::string();
    };
    const std::string arch = value_of("--offload-arch=") + value_of("--gpu-architecture=");
    if (!arch.empty()) {
      result.arch = arch;
    } else if (option == "-fgpu-rdc") {
      result.is_relocatable = true;
      result.clang.push_back(option);
    } else if (!option.empty()) {
      // Programs also give an option and its value as one word: `-I include`.
      const size_t space = option.find(' ');
      const bool is_pair =
          space != std::string::npos && (option.starts_with("-I ") || option.starts_with("-D ") ||
                                         option.starts_with("-mllvm ") || option.starts_with("-include "));
      result.clang.push_back(is_pair ? option.substr(0, space) : option);
      if (is_pair) result.clang.push_back(option.substr(option.find_first_not_of(' ', space)));
    }
  }
  if (result.arch.empty()) result.arch = DeviceArch();
  return result;
}

Result Compile(Program& p, int count, const char* const* given) {
  const Folder folder;
  const Options options = ReadOptions(count, given);
  // Programs see what hiprtc defines, after the headers, which would leave out what clang's own headers need.
  const std::string prelude = "#define __HIPCC_RTC__ 1\n";
  // The half-precision header of HIP 5 expects a compiler that declares these two.
  const std::string half =
      "#if HIP_VERSION_MAJOR < 6\n"
      "typedef _Float16 __wavesmith_half2 __attribute__((ext_vector_type(2)));\n"
      "static inline __device__ _Float16 __llvm_amdgcn_rcp_f16(_Float16 x) { return __builtin_amdgcn_rcph(x); }\n"
      "static inline __device__ __wavesmith_half2 __llvm_amdgcn_rcp_2f16(__wavesmith_half2 x) {\n"
      "  return __wavesmith_half2{__llvm_amdgcn_rcp_f16(x.x), __llvm_amdgcn_rcp_f16(x.y)};\n"
      "}\n"
      "#endif\n";
  bool written = folder.ok() && folder.Write("program.hip", SourceWithNames(p)) && folder.Write("rtc.h", prelude) &&
                 folder.Write("half.h", half);
  for (const auto& [name, text] : p.headers) written = written && folder.Write("include/" + name, text);
  if (!written) {
    p.log += "wavesmith: the sources could not be written for the compiler.\n";
    return Result::kInternal;
  }
  // No name in the code is made of the folder's: the same source gives the same code in every run.
  std::vector<std::string> arguments{
      "-x", "hip",        "--offload-device-only", "--offload-arch=" + options.arch, "-O3", "-std=c++17",
      "-S", "-emit-llvm", "-fuse-cuid=none",       "-I" + folder.Path("include")};
  const std::vector<std::string> hip = HipOptions();
  arguments.insert(arguments.end(), hip.begin(), hip.end());
  for (const std::string& header : BuiltinHeaders()) {
    if (header == "hip/hip_fp16.h") arguments.insert(arguments.end(), {"-include", folder.Path("half.h")});
    arguments.insert(arguments.end(), {"-include", header});
  }
  arguments.insert(arguments.end(), {"-include", folder.Path("rtc.h")});
  arguments.insert(arguments.end(), options.clang.begin(), options.clang.end());
  arguments.insert(arguments.end(), {folder.Path("program.hip"), "-o", folder.Path("program.ll")});
  std::string text;
  const size_t logged = p.log.size();
  const bool compiled = RunTool("clang++", arguments, &p.log);
  // What LLVM is asked to print goes to the program's own stderr, as from a compiler in the process.
  const bool prints = std::any_of(options.clang.begin(), options.clang.end(),
                                  [](const std::string& option) { return option.starts_with("-print-"); });
  if (prints) std::fwrite(p.log.data() + logged, 1, p.log.size() - logged, stderr);
  if (!compiled || !ReadFile(folder.Path("program.ll"), &text)) return Result::kCompilation;
  for (size_t n = 0; n < p.expressions.size(); n++) {
    std::string name;
    if (!ReadLowered(text, n, &name)) return Result::kNameExpressionNotValid;
    p.lowered[WithoutSpace(p.expressions[n])] = name;
  }
  const auto make = [&](const std::vector<std::string>& kind, const std::string& file, std::string* result) {
    std::vector<std::string> back{"--target=amdgcn-amd-amdhsa",
                                  "-mcpu=" + options.arch,
                                  "-nogpulib",
                                  "-O3",
                                  folder.Path("program.ll"),
                                  "-o",
                                  folder.Path(file)};
    back.insert(back.end(), kind.begin(), kind.end());
    return RunTool("clang++", back, &p.log) && ReadFile(folder.Path(file), result);
  };
  if (options.is_relocatable)
    return make({"-c", "-emit-llvm"}, "program.bc", &p.bitcode) ? Result::kSuccess : Result::kCompilation;
  return make({}, "program.hsaco", &p.code) ? Result::kSuccess : Result::kCompilation;
}

Result CopyOut(const std::string& from, char* to, size_t extra) {
  if (to == nullptr) return Result::kInvalidInput;
  // `extra` is 1 where the text's end is wanted, 0 for bytes.
  std::copy_n(from.c_str(), from.size() + extra, to);
  return Result::kSuccess;
}

}  // namespace
}  // namespace wavesmith::rtc

using namespace wavesmith::rtc;  // NOLINT: the C API's definitions follow

#define WAVESMITH_RTC extern "C" __attribute__((visibility("default")))

WAVESMITH_RTC const char* hiprtcGetErrorString(Result result) {
  constexpr const char* kNames[] = {
      "HIPRTC_SUCCESS",
      "HIPRTC_ERROR_OUT_OF_MEMORY",
      "HIPRTC_ERROR_PROGRAM_CREATION_FAILURE",
      "HIPRTC_ERROR_INVALID_INPUT",
      "HIPRTC_ERROR_INVALID_PROGRAM",
      "HIPRTC_ERROR_INVALID_OPTION",
      "HIPRTC_ERROR_COMPILATION",
      "HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE",
      "HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
      "HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
      "HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
      "HIPRTC_ERROR_INTERNAL_ERROR",
  };
  const auto n = static_cast<size_t>(result);
  if (result == Result::kLinking) return "HIPRTC_ERROR_LINKING";
  return n < std::size(kNames) ? kNames[n] : "Invalid HIPRTC error code";
}

WAVESMITH_RTC Result hiprtcVersion(int* major, int* minor) {
  if (major == nullptr || minor == nullptr) return Result::kInvalidInput;
  *major = 9;
  *minor = 0;
  return Result::kSuccess;
}

WAVESMITH_RTC Result hiprtcCreateProgram(void** program, const char* source, const char* name, int count,
                                         const char* const* headers, const char* const* names) {
  if (program == nullptr || source == nullptr || count < 0) return Result::kInvalidInput;
  if (count > 0 && (headers == nullptr || names == nullptr)) return Result::kInvalidInput;
  auto* const made = new Program;
  made->source = source;
  made->name = name == nullptr || *name == '\0' ? "CompileSourceXXXXXX" : name;
  std::erase_if(made->name, [](char c) { return c == '"' || c == '\\' || c == '\n'; });
  for (int n = 0; n < count; n++) {
    if (headers[n] != nullptr && names[n] != nullptr) made->headers[names[n]] = headers[n];
  }
  const std::lock_guard lock(mutex);
  programs.insert(made);
  *program = made;
  return Result::kSuccess;
}
WAVESMITH_RTC Result hiprtcDestroyProgram(void** program) {
  if (program == nullptr) return Result::kInvalidInput;
  const std::lock_guard lock(mutex);
  Program* const found = Find(*program);
  if (found == nullptr) return Result::kInvalidProgram;
  programs.erase(found);
  delete found;
  *program = nullptr;
  return Result::kSuccess;
}

WAVESMITH_RTC Result hiprtcAddNameExpression(void* program, const char* expression) {
  if (expression == nullptr) return Result::kInvalidInput;
  const std::lock_guard lock(mutex);
  Program* const p = Find(program);
  if (p == nullptr) return Result::kInvalidProgram;
  if (p->compiled) return Result::kNoNamesAfterCompilation;
  p->expressions.emplace_back(expression);
  return Result::kSuccess;
}
WAVESMITH_RTC Result hiprtcGetLoweredName(void* program, const char* expression, const char** name) {
  if (expression == nullptr || name == nullptr) return Result::kInvalidInput;
  const std::lock_guard lock(mutex);
  const Program* const p = Find(program);
  if (p == nullptr) return Result::kInvalidProgram;
  if (!p->compiled) return Result::kNoLoweredNames;
  const auto found = p->lowered.find(WithoutSpace(expression));
  if (found == p->lowered.end()) return Result::kNameExpressionNotValid;
  *name = found->second.c_str();
  return Result::kSuccess;
}

WAVESMITH_RTC Result hiprtcCompileProgram(void* program, int count, const char** options) {
  if (count < 0 || (count > 0 && options == nullptr)) return Result::kInvalidInput;
  // The compiler runs without the lock: programs compile in several threads.
  Program* p;
  {
    const std::lock_guard lock(mutex);
    p = Find(program);
    if (p == nullptr) return Result::kInvalidProgram;
    p->log.clear();
  }
  const Result result = Compile(*p, count, options);
  p->compiled = result == Result::kSuccess;
  return result;
}

#define WAVESMITH_RTC_BYTES(what, member, extra)                                      \
  WAVESMITH_RTC Result hiprtcGet##what##Size(void* program, size_t* size) {           \
    if (size == nullptr) return Result::kInvalidInput;                                \
    const std::lock_guard lock(mutex);                                                \
    const Program* const p = Find(program);                                           \
    if (p == nullptr) return Result::kInvalidProgram;                                 \
    *size = p->member.empty() ? 0 : p->member.size() + (extra);                       \
    return Result::kSuccess;                                                          \
  }                                                                                   \
  WAVESMITH_RTC Result hiprtcGet##what(void* program, char* bytes) {                  \
    if (bytes == nullptr) return Result::kInvalidInput;                               \
    const std::lock_guard lock(mutex);                                                \
    const Program* const p = Find(program);                                           \
    return p == nullptr ? Result::kInvalidProgram : CopyOut(p->member, bytes, extra); \
  }
WAVESMITH_RTC_BYTES(ProgramLog, log, 1)
WAVESMITH_RTC_BYTES(Code, code, 0)
WAVESMITH_RTC_BYTES(Bitcode, bitcode, 0)
