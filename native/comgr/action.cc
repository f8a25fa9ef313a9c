// Actions on the command lines of clang 22, llvm-link, llvm-objdump and clang-offload-bundler. Sources: amd_comgr.h; clang's HIPSupport.rst.
#include "comgr/action.h"

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "comgr/disassembler.h"
#include "comgr/isa.h"
#include "hiprtc/compile.h"

namespace wavesmith::comgr {
namespace {

using Arguments = std::vector<std::string>;

Arguments Target(const ActionInfo& info) {
  const auto isa = ReadIsaName(info.isa_name);
  if (!isa) return {"--target=amdgcn-amd-amdhsa", "-nogpulib"};
  return {"--target=amdgcn-amd-amdhsa", "-mcpu=" + isa->TargetId(), "-nogpulib"};
}

void Append(Arguments* to, const Arguments& more) { to->insert(to->end(), more.begin(), more.end()); }

// One action under way: its files are in a folder that is gone afterwards.
class Performance {
 public:
  Performance(const ActionInfo& info, const DataSet& input, DataSet* result, std::string* log)
      : info_(info), input_(input), result_(result), log_(log) {}

  Status Compile(const Arguments& kind, bool has_libraries, DataKind made, const std::string& suffix);
  // Each input of a kind by itself.
  Status Each(DataKind from, const Arguments& kind, DataKind made, const std::string& suffix);
  // All inputs of a kind to one result.
  Status LinkObjects(const Arguments& kind, DataKind made, const std::string& name);
  Status LinkBitcode();
  Status Disassemble(DataKind from);
  Status DisassembleBytes();
  Status Unbundle();

 private:
  Status Refuse(const std::string& why) {
    *log_ += "wavesmith: " + why + "\n";
    return Status::kInvalidArgument;
  }
  bool Run(const std::string& tool, const Arguments& arguments) {
    if (std::getenv("AMD_COMGR_EMIT_VERBOSE_LOGS") != nullptr) {
      *log_ += tool;
      for (const std::string& argument : arguments) *log_ += " " + argument;
      *log_ += "\n";
    }
    std::string said;
    const bool has_worked = rtc::RunTool(tool, arguments, &said);
    // Programs know their inputs by name, not by the place they were written to.
    *log_ += WithoutFolder(said);
    return has_worked;
  }
  std::string WithoutFolder(const std::string& text) const;
  // The path of a file with the data; empty when it cannot be written.
  std::string Write(const Data& data, const std::string& suffix);
  Status Add(DataKind kind, const std::string& name, const std::string& path);
  Status UnbundleOne(const Data& data, const std::string& type, const Arguments& entries, DataKind made);

  const ActionInfo& info_;
  const DataSet& input_;
  DataSet* result_;
  std::string* log_;
  rtc::Folder folder_;
  int files_ = 0;
};

// The last part of a name, which programs also give as a path or as `<null>`.
std::string BaseName(const Data& data) {
  const std::string name = data.name.value_or("");
  const std::string base = name.substr(name.rfind('/') == std::string::npos ? 0 : name.rfind('/') + 1);
  return base.empty() || base == "." || base == ".." ? "input" : base;
}

std::string Performance::WithoutFolder(const std::string& text) const {
  const std::string start = folder_.Path("input-");
  std::string result;
  size_t at = 0;
  for (size_t found = text.find(start); found != std::string::npos; found = text.find(start, at)) {
    result += text.substr(at, found - at);
    const size_t end = text.find('/', found + start.size());
    at = end == std::string::npos ? text.size() : end + 1;
  }
  return result + text.substr(at);
}

std::string Performance::Write(const Data& data, const std::string& suffix) {
  std::string base = BaseName(data);
  if (!suffix.empty() && !base.ends_with(suffix)) base += suffix;
  const std::string name = "input-" + std::to_string(files_++) + "/" + base;
  return data.bytes && folder_.Write(name, *data.bytes) ? folder_.Path(name) : "";
}

Status Performance::Add(DataKind kind, const std::string& name, const std::string& path) {
  std::string bytes;
  if (!rtc::ReadFile(path, &bytes)) return Status::kError;
  result_->members.push_back(std::make_shared<Data>(kind, name, std::move(bytes)));
  return Status::kSuccess;
}

Status Performance::Compile(const Arguments& kind, bool has_libraries, DataKind made, const std::string& suffix) {
  Arguments arguments{"-O3"};
  const auto isa = ReadIsaName(info_.isa_name);
  const Arguments plain = isa ? Arguments{"--target=amdgcn-amd-amdhsa", "-mcpu=" + isa->TargetId()}
                              : Arguments{"--target=amdgcn-amd-amdhsa"};
  switch (info_.language) {
    case Language::kHip:
      Append(&arguments, {"-x", "hip", "--offload-device-only", "-fuse-cuid=none"});
      if (isa) arguments.push_back("--offload-arch=" + isa->TargetId());
      // clang bundles what it makes for one target too, when it is to be linked.
      if (made == DataKind::kExecutable) arguments.push_back("--no-gpu-bundle-output");
      break;
    case Language::kOpenCl12:
    case Language::kOpenCl20:
      Append(&arguments, {"-x", "cl", info_.language == Language::kOpenCl12 ? "-cl-std=CL1.2" : "-cl-std=CL2.0"});
      Append(&arguments, plain);
      break;
    case Language::kLlvmIr:
      Append(&arguments, {"-x", "ir"});
      Append(&arguments, plain);
      break;
    default:
      return Refuse("the action compiles HIP, OpenCL and LLVM's language; none of them was set.");
  }
  Append(&arguments,
         has_libraries || info_.links_device_libraries ? rtc::DeviceLibraryOptions() : Arguments{"-nogpulib"});
  if (!info_.path.empty()) arguments.push_back("-I" + info_.path);
  for (const auto& header : input_.OfKind(DataKind::kInclude)) {
    if (!header->bytes || !folder_.Write("include/" + header->name.value_or(""), *header->bytes)) {
      return Refuse("an include has no content, or a name that leads out of its folder.");
    }
  }
  arguments.push_back("-I" + folder_.Path("include"));
  for (const auto& header : input_.OfKind(DataKind::kPrecompiledHeader)) {
    const std::string path = Write(*header, ".pch");
    if (path.empty()) return Refuse("a precompiled header has no content.");
    Append(&arguments, {"-include-pch", path, "-Xclang", "-fno-validate-pch"});
  }
  Append(&arguments, kind);
  return Each(DataKind::kSource, arguments, made, suffix);
}

Status Performance::Each(DataKind from, const Arguments& kind, DataKind made, const std::string& suffix) {
  const auto inputs = input_.OfKind(from);
  if (inputs.empty()) return Refuse("the action has no input of its kind.");
  for (const auto& data : inputs) {
    const std::string path = Write(*data, "");
    if (path.empty()) return Refuse("an input has no content.");
    Arguments arguments = kind;
    Append(&arguments, info_.options);
    Append(&arguments, {path, "-o", path + suffix});
    if (!Run("clang++", arguments)) return Status::kError;
    const Status status = Add(made, BaseName(*data) + suffix, path + suffix);
    if (status != Status::kSuccess) return status;
  }
  return Status::kSuccess;
}

Status Performance::LinkObjects(const Arguments& kind, DataKind made, const std::string& name) {
  Arguments arguments = Target(info_);
  Append(&arguments, kind);
  Append(&arguments, info_.options);
  bool has_input = false;
  for (const auto& data : input_.members) {
    if (data->kind != DataKind::kRelocatable && data->kind != DataKind::kBitcode) continue;
    const std::string path = Write(*data, data->kind == DataKind::kBitcode ? ".bc" : ".o");
    if (path.empty()) return Refuse("an input has no content.");
    arguments.push_back(path);
    has_input = true;
  }
  if (!has_input) return Refuse("there is nothing to link.");
  Append(&arguments, {"-o", folder_.Path(name)});
  return Run("clang++", arguments) ? Add(made, name, folder_.Path(name)) : Status::kError;
}

Status Performance::LinkBitcode() {
  Arguments arguments;
  DataSet unbundled;
  const auto isa = ReadIsaName(info_.isa_name);
  for (const auto& data : input_.members) {
    if (data->kind == DataKind::kBitcode) {
      unbundled.members.push_back(data);
    } else if (data->kind == DataKind::kBitcodeBundle) {
      if (!isa) return Refuse("a bundle is linked for the instruction set of the action, and it has none.");
      DataSet* const whole = result_;
      result_ = &unbundled;
      const Status status = UnbundleOne(*data, "bc", {"hip-amdgcn-amd-amdhsa--" + isa->TargetId()}, DataKind::kBitcode);
      result_ = whole;
      if (status != Status::kSuccess) return status;
    }
  }
  for (const auto& data : unbundled.members) {
    const std::string path = Write(*data, ".bc");
    if (path.empty()) return Refuse("an input has no content.");
    arguments.push_back(path);
  }
  if (arguments.empty()) return Refuse("there is no bitcode to link.");
  Append(&arguments, {"-o", folder_.Path("linked.bc")});
  return Run("llvm-link", arguments) ? Add(DataKind::kBitcode, "linked.bc", folder_.Path("linked.bc")) : Status::kError;
}

Status Performance::Disassemble(DataKind from) {
  const auto inputs = input_.OfKind(from);
  if (inputs.empty()) return Refuse("the action has no input of its kind.");
  for (const auto& data : inputs) {
    const std::string path = Write(*data, ".o");
    Arguments arguments{"--disassemble"};
    Append(&arguments, info_.options);
    arguments.push_back(path);
    // What the tool prints is the result, except when it fails.
    std::string text;
    if (path.empty() || !rtc::RunTool("llvm-objdump", arguments, &text)) {
      *log_ += text;
      return Status::kError;
    }
    result_->members.push_back(std::make_shared<Data>(DataKind::kSource, BaseName(*data) + ".s", std::move(text)));
  }
  return Status::kSuccess;
}

Status Performance::DisassembleBytes() {
  const auto isa = ReadIsaName(info_.isa_name);
  if (!isa) return Refuse("bytes are disassembled for the instruction set of the action, and it has none.");
  const auto disassembler = Disassembler::Make(*isa);
  if (disassembler == nullptr) {
    *log_ += "wavesmith: libLLVM.so.22.1 was not found; install libllvm22.\n";
    return Status::kError;
  }
  for (const auto& data : input_.OfKind(DataKind::kBytes)) {
    std::string text;
    const std::string bytes = data->bytes.value_or("");
    for (size_t at = 0; at < bytes.size();) {
      std::string line;
      const size_t left = bytes.size() - at;
      const size_t length = disassembler->Read(reinterpret_cast<const uint8_t*>(bytes.data()) + at, left, at, &line);
      text += (length == 0 ? "\t<unknown>" : line) + "\n";
      at += length == 0 ? std::min<size_t>(4, left) : length;
    }
    result_->members.push_back(std::make_shared<Data>(DataKind::kSource, BaseName(*data) + ".s", std::move(text)));
  }
  return Status::kSuccess;
}

Status Performance::UnbundleOne(const Data& data, const std::string& type, const Arguments& entries, DataKind made) {
  const std::string path = Write(data, "." + type);
  if (path.empty() || entries.empty()) return Refuse("a bundle has no content, or no entry of it was named.");
  std::string targets;
  Arguments arguments{"--unbundle", "--allow-missing-bundles", "--type=" + type, "--input=" + path};
  for (size_t n = 0; n < entries.size(); n++) {
    targets += (n == 0 ? "" : ",") + entries[n];
    arguments.push_back("--output=" + path + "-" + std::to_string(n));
  }
  arguments.push_back("--targets=" + targets);
  if (!Run("clang-offload-bundler", arguments)) return Status::kError;
  const std::string base = BaseName(data);
  for (size_t n = 0; n < entries.size(); n++) {
    const std::string name = base.substr(0, base.rfind('.')) + "-" + entries[n] + "." + type;
    const Status status = Add(made, name, path + "-" + std::to_string(n));
    if (status != Status::kSuccess) return status;
  }
  return Status::kSuccess;
}

Status Performance::Unbundle() {
  for (const auto& data : input_.members) {
    Status status = Status::kInvalidArgument;
    if (data->kind == DataKind::kBitcodeBundle) {
      status = UnbundleOne(*data, "bc", info_.bundle_entries, DataKind::kBitcode);
    } else if (data->kind == DataKind::kArchiveBundle) {
      status = UnbundleOne(*data, "a", info_.bundle_entries, DataKind::kArchive);
    } else if (data->kind == DataKind::kObjectBundle) {
      status = UnbundleOne(*data, "o", info_.bundle_entries, DataKind::kExecutable);
    } else {
      return Refuse("an input is not a bundle.");
    }
    if (status != Status::kSuccess) return status;
  }
  return Status::kSuccess;
}

// Functions that nothing calls are left out; LLVM takes the option once.
Arguments Internalizing(const ActionInfo& info) {
  constexpr const char* kOption = "-amdgpu-internalize-symbols";
  const bool is_given = std::any_of(info.options.begin(), info.options.end(), [&](const std::string& option) {
    return option.find(kOption) != std::string::npos;
  });
  return is_given ? Arguments{"-c"} : Arguments{"-c", "-mllvm", kOption};
}

}  // namespace

Status Perform(Action action, const ActionInfo& info, const DataSet& input, DataSet* result, std::string* log) {
  Performance performance(info, input, result, log);
  const auto with = [&](Arguments more) {
    Append(&more, Target(info));
    return more;
  };
  switch (action) {
    case Action::kPreprocess:
      return performance.Compile({"-E"}, true, DataKind::kSource, ".i");
    case Action::kAddPrecompiledHeaders:
      result->members.insert(result->members.end(), input.members.begin(), input.members.end());
      return Status::kSuccess;
    case Action::kCompileToBitcode:
      return performance.Compile({"-c", "-emit-llvm"}, false, DataKind::kBitcode, ".bc");
    case Action::kCompileWithDeviceLibraries:
      return performance.Compile({"-c", "-emit-llvm"}, true, DataKind::kBitcode, ".bc");
    case Action::kCompileToRelocatable:
      return performance.Compile({"-c", "-fhip-emit-relocatable"}, true, DataKind::kRelocatable, ".o");
    case Action::kCompileToExecutable:
      return performance.Compile({}, true, DataKind::kExecutable, ".so");
    case Action::kLinkBitcode:
      return performance.LinkBitcode();
    case Action::kOptimizeBitcode:
      return performance.Each(DataKind::kBitcode, with({"-x", "ir", "-c", "-emit-llvm", "-O3"}), DataKind::kBitcode,
                              ".opt.bc");
    case Action::kBitcodeToRelocatable: {
      Arguments kind = Internalizing(info);
      kind.insert(kind.begin(), {"-x", "ir"});
      return performance.Each(DataKind::kBitcode, with(kind), DataKind::kRelocatable, ".o");
    }
    case Action::kBitcodeToAssembly:
      return performance.Each(DataKind::kBitcode, with({"-x", "ir", "-S"}), DataKind::kSource, ".s");
    case Action::kAssemble:
      return performance.Each(DataKind::kSource, with({"-x", "assembler", "-c"}), DataKind::kRelocatable, ".o");
    case Action::kLinkToRelocatable:
      return performance.LinkObjects({"-Wl,-r"}, DataKind::kRelocatable, "a.o");
    case Action::kLinkToExecutable:
      return performance.LinkObjects({}, DataKind::kExecutable, "a.so");
    case Action::kDisassembleRelocatable:
      return performance.Disassemble(DataKind::kRelocatable);
    case Action::kDisassembleExecutable:
      return performance.Disassemble(DataKind::kExecutable);
    case Action::kDisassembleBytes:
      return performance.DisassembleBytes();
    case Action::kUnbundle:
      return performance.Unbundle();
    case Action::kUnsupported:
      break;
  }
  *log +=
      "wavesmith: this action is not supported: code for a host, SPIR-V and the actions of comgr 1 are not made "
      "here.\n";
  return Status::kInvalidArgument;
}

}  // namespace wavesmith::comgr
