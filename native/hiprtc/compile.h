// Clang 22 as the compiler behind hiprtc: runs its command line in a folder of its own that is gone afterwards.
#pragma once
#include <string>
#include <vector>

namespace wavesmith::rtc {

// A folder that lives as long as this.
class Folder {
 public:
  Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder();
  bool ok() const { return !path_.empty(); }
  std::string Path(const std::string& name) const { return path_ + "/" + name; }
  // Writes a file, and the folders its name asks for. False for a name that leads out of the folder.
  bool Write(const std::string& name, const std::string& content) const;

 private:
  std::string path_;
};

bool ReadFile(const std::string& path, std::string* content);

// Runs a program of LLVM 22 (`clang++`, `llvm-link`); what it prints is appended to `log`. False when it failed or is absent.
bool RunTool(const std::string& tool, const std::vector<std::string>& arguments, std::string* log);

// Options that make clang find the device libraries, where it does not find them itself.
std::vector<std::string> DeviceLibraryOptions();

// Options that make clang find HIP's headers and device libraries.
std::vector<std::string> HipOptions();

// Headers that programs see without including them, of those that there are.
std::vector<std::string> BuiltinHeaders();

// `gfx942:sramecc+:xnack-` of the device; `gfx942` without one.
std::string DeviceArch();

}  // namespace wavesmith::rtc
