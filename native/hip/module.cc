// Modules: choosing the code object for the device, loading it through the HSA loader, the fat binaries of programs.
// Sources: HIP API documentation, "Module management"; clang's CUDA/HIP registration calls (CGCUDANV.cpp).
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "hip/compressed_bundle.h"
#include "hip/runtime.h"

namespace wavesmith::hip {
namespace {

std::mutex mutex;
// Never destroyed: work that a stream still has ends after the destructors of a program's and of this library's objects.
auto& modules = *new std::set<const Module*>;
auto& functions = *new std::set<const Function*>;

// Whether code for `code` (`gfx942:sramecc+:xnack-`) runs on the device: the same processor and no contrary feature.
bool Runs(const std::string& code, const Device& device) {
  const auto processor = [](const std::string& id) { return id.substr(0, id.find(':')); };
  if (processor(code) != device.target) return false;
  return code.find("xnack+") == std::string::npos && code.find("sramecc-") == std::string::npos;
}

// The code object for the device in an ELF or bundle. What a compressed bundle holds is put into `unpacked`. hipErrorNoBinaryForGpu says on
// stderr what there is.
hipError_t Choose(const void* image, uint64_t limit, const Device& device, std::vector<uint8_t>* unpacked,
                  const uint8_t** bytes, CodeObject* object) {
  const auto* start = static_cast<const uint8_t*>(image);
  if (ReadCodeObject(start, limit, object)) {
    *bytes = start;
    const std::string target = TargetOfFlags(object->e_flags);
    if (target == device.target) return hipSuccess;
    std::fprintf(stderr, "wavesmith: the code object is for %s; the device is %s.\n", target.c_str(),
                 device.target.c_str());
    return hipErrorNoBinaryForGpu;
  }
  if (IsCompressedBundle(start, limit)) {
    std::string why;
    *unpacked = Decompress(start, limit, &why);
    if (unpacked->empty()) {
      std::fprintf(stderr, "wavesmith: the program's code cannot be loaded: %s.\n", why.c_str());
      return hipErrorInvalidImage;
    }
    start = unpacked->data();
    limit = unpacked->size();
  }
  std::vector<BundleEntry> entries;
  if (!ReadBundle(start, limit, &entries)) return hipErrorInvalidImage;
  std::string have;
  for (const BundleEntry& entry : entries) {
    have += (have.empty() ? "" : ", ") + entry.target;
    if (!Runs(entry.target, device)) continue;
    *bytes = entry.bytes;
    *object = {};
    return ReadCodeObject(entry.bytes, entry.size, object) ? hipSuccess : hipErrorInvalidImage;
  }
  std::fprintf(stderr, "wavesmith: the program carries code for %s; the device is %s.\n",
               have.empty() ? "no AMD GPU" : have.c_str(), device.target.c_str());
  return hipErrorNoBinaryForGpu;
}

hsa_status_t AddSymbol(hsa_executable_t, hsa_agent_t, hsa_executable_symbol_t symbol, void* data) {
  auto* const module = static_cast<Module*>(data);
  hsa_symbol_kind_t kind;
  uint32_t length;
  hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind);
  hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &length);
  std::string name(length, '\0');
  hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name.data());
  if (kind == HSA_SYMBOL_KIND_VARIABLE) {
    Variable variable{};
    uint32_t size = 0;
    hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS, &variable.address);
    hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE, &size);
    variable.size = size;
    module->variables[name] = variable;
    return HSA_STATUS_SUCCESS;
  }
  if (name.size() > 3 && name.ends_with(".kd")) name.resize(name.size() - 3);
  const auto found = module->functions.find(name);
  if (found == module->functions.end()) return HSA_STATUS_SUCCESS;
  Function& f = *found->second;
  hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &f.kernel_object);
  hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE, &f.kernarg_size);
  hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &f.group_segment);
  hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &f.private_segment);
  return HSA_STATUS_SUCCESS;
}

void Release(Module* module) {
  if (module->executable.handle != 0) hsa_executable_destroy(module->executable);
  if (module->reader.handle != 0) hsa_code_object_reader_destroy(module->reader);
  delete module;
}

}  // namespace

hipError_t LoadModule(const void* image, Module** result, uint64_t limit) {
  if (image == nullptr || result == nullptr) return hipErrorInvalidValue;
  hipError_t error;
  const Device* const device = GetDevice(&error);
  if (device == nullptr) return error;
  const uint8_t* bytes = nullptr;
  CodeObject object;
  std::vector<uint8_t> unpacked;
  error = Choose(image, limit, *device, &unpacked, &bytes, &object);
  if (error != hipSuccess) return error;
  auto* const module = new Module;
  module->unpacked = std::move(unpacked);
  module->printf_formats = std::move(object.printf_formats);
  for (KernelInfo& info : object.kernels) {
    auto function = std::make_unique<Function>();
    function->name = info.name;
    function->info = std::move(info);
    function->module = module;
    const std::string name = function->name;
    module->functions[name] = std::move(function);
  }
  const bool loaded =
      hsa_code_object_reader_create_from_memory(bytes, object.size, &module->reader) == HSA_STATUS_SUCCESS &&
      hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr,
                                &module->executable) == HSA_STATUS_SUCCESS &&
      hsa_executable_load_agent_code_object(module->executable, device->gpu, module->reader, nullptr, nullptr) ==
          HSA_STATUS_SUCCESS &&
      hsa_executable_freeze(module->executable, nullptr) == HSA_STATUS_SUCCESS &&
      hsa_executable_iterate_agent_symbols(module->executable, device->gpu, AddSymbol, module) == HSA_STATUS_SUCCESS;
  if (!loaded) {
    Release(module);
    return hipErrorSharedObjectInitFailed;
  }
  for (const auto& [name, variable] : module->variables) {
    RecordMemory(reinterpret_cast<void*>(variable.address), variable.size, MemoryKind::kVariable, 0, device->number);
  }
  const std::lock_guard lock(mutex);
  modules.insert(module);
  for (const auto& [name, function] : module->functions) functions.insert(function.get());
  *result = module;
  return hipSuccess;
}

hipError_t LoadProgramModule(const void* image, Module** result, uint64_t limit) {
  hipError_t error = LoadModule(image, result, limit);
  if (error != hipSuccess) return error;
  Module& module = **result;
  // A managed variable NAME is a pointer to memory that both sides see; NAME.managed holds what is in it at first.
  constexpr std::string_view kSuffix = ".managed";
  for (auto& [name, variable] : module.variables) {
    const auto initial = module.variables.find(name + std::string(kSuffix));
    if (initial == module.variables.end() || variable.size != sizeof(void*)) continue;
    void* memory = nullptr;
    error = AllocateMemory(initial->second.size, MemoryKind::kManaged, 0, &memory);
    if (error != hipSuccess) {
      (void)UnloadModule(*result);
      return error;
    }
    std::memcpy(memory, reinterpret_cast<const void*>(initial->second.address), initial->second.size);
    std::memcpy(reinterpret_cast<void*>(variable.address), &memory, sizeof memory);
    ForgetMemory(reinterpret_cast<void*>(variable.address));
    // To the program the variable is that memory.
    variable = {reinterpret_cast<uint64_t>(memory), initial->second.size};
    module.managed.push_back(memory);
  }
  return hipSuccess;
}

hipError_t UnloadModule(Module* module) {
  {
    const std::lock_guard lock(mutex);
    if (modules.erase(module) == 0) return hipErrorNotFound;
    for (const auto& [name, function] : module->functions) functions.erase(function.get());
  }
  const hipError_t error = SynchronizeAll();
  for (const auto& [name, variable] : module->variables) ForgetMemory(reinterpret_cast<void*>(variable.address));
  for (void* const memory : module->managed) FreeNow(memory);
  Release(module);
  return error;
}

bool IsModule(const Module* module) {
  const std::lock_guard lock(mutex);
  return modules.contains(module);
}
bool IsFunction(const Function* function) {
  const std::lock_guard lock(mutex);
  return functions.contains(function);
}

// Fat binaries -----------------------------------------------------------------------------------------------------------------------------

namespace {

constexpr uint32_t kFatBinaryMagic = 0x48495046;  // HIPF

struct FatBinaryWrapper {
  uint32_t magic;
  uint32_t version;
  const void* binary;
  void* reserved;
};

// One fat binary of the program; loaded for a device when something of it is first used there.
struct FatBinary {
  struct Loaded {
    Module* module = nullptr;
    hipError_t error = hipSuccess;
  };
  const void* image;
  std::map<int, Loaded> by_device;
};
struct HostFunction {
  FatBinary* binary;
  std::string name;
};
struct HostVariable {
  FatBinary* binary;
  std::string name;
  size_t size;
  // `__managed__`: the program's pointer to it and its initial value.
  void** managed = nullptr;
};

std::recursive_mutex registry_mutex;
auto& host_functions = *new std::map<const void*, HostFunction>;
auto& host_variables = *new std::map<const void*, HostVariable>;

// The module of the calling thread's device.
Module* ModuleOf(FatBinary& binary, hipError_t* error) {
  const auto [at, is_new] = binary.by_device.try_emplace(CurrentDevice());
  FatBinary::Loaded& loaded = at->second;
  if (is_new) {
    loaded.error = LoadModule(binary.image, &loaded.module);
    // Managed variables that were made for another device are this one's, too.
    for (const auto& [symbol, variable] : host_variables) {
      if (loaded.module == nullptr || variable.binary != &binary || variable.managed == nullptr) continue;
      const auto found = loaded.module->variables.find(variable.name);
      if (*variable.managed == nullptr || found == loaded.module->variables.end()) continue;
      std::memcpy(reinterpret_cast<void*>(found->second.address), variable.managed, sizeof *variable.managed);
    }
  }
  *error = loaded.error;
  return loaded.module;
}

}  // namespace

Function* FunctionOf(const void* host_function, hipStream_t handle, hipError_t* error) {
  const Stream* const stream = FindStream(handle, error);
  if (stream == nullptr) return nullptr;
  const OnDevice there(stream->device());
  return FunctionOf(host_function, error);
}

Function* FunctionOf(const void* host_function, hipError_t* error) {
  const std::lock_guard lock(registry_mutex);
  const auto found = host_functions.find(host_function);
  if (found == host_functions.end()) {
    *error = hipErrorInvalidDeviceFunction;
    return nullptr;
  }
  const Module* const module = ModuleOf(*found->second.binary, error);
  if (module == nullptr) return nullptr;
  const auto function = module->functions.find(found->second.name);
  if (function == module->functions.end()) {
    *error = hipErrorInvalidDeviceFunction;
    return nullptr;
  }
  return function->second.get();
}

hipError_t VariableOf(const void* symbol, Variable* variable) {
  const std::lock_guard lock(registry_mutex);
  const auto found = host_variables.find(symbol);
  if (found == host_variables.end()) return hipErrorInvalidSymbol;
  hipError_t error;
  const Module* const module = ModuleOf(*found->second.binary, &error);
  if (module == nullptr) return error;
  const auto device = module->variables.find(found->second.name);
  if (device == module->variables.end()) return hipErrorInvalidSymbol;
  *variable = device->second;
  return hipSuccess;
}

}  // namespace wavesmith::hip

// What clang's generated constructors call ------------------------------------------------------------------------------------------------------

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

extern "C" {

void** __hipRegisterFatBinary(const void* data) {
  const auto* const wrapper = static_cast<const FatBinaryWrapper*>(data);
  if (wrapper == nullptr || wrapper->magic != kFatBinaryMagic || wrapper->version != 1) {
    std::fprintf(stderr, "wavesmith: the program's fat binary is damaged.\n");
    return nullptr;
  }
  auto* const binary = new FatBinary;
  binary->image = wrapper->binary;
  return reinterpret_cast<void**>(binary);
}

void __hipRegisterFunction(void** handle, const void* host_function, char*, const char* device_name, unsigned, void*,
                           void*, void*, void*, int*) {
  if (handle == nullptr) return;
  const std::lock_guard lock(registry_mutex);
  host_functions[host_function] = {reinterpret_cast<FatBinary*>(handle), device_name};
}

void __hipRegisterVar(void** handle, void* variable, char*, char* device_name, int, size_t size, int, int) {
  if (handle == nullptr) return;
  const std::lock_guard lock(registry_mutex);
  host_variables[variable] = {reinterpret_cast<FatBinary*>(handle), device_name, size};
}

// A managed variable lives in memory that both sides see; the device's variable `NAME` is a pointer to it.
void __hipRegisterManagedVar(void* handle, void** pointer, void* initial, const char* name, size_t size, unsigned) {
  if (handle == nullptr) return;
  const std::lock_guard lock(registry_mutex);
  auto* const binary = static_cast<FatBinary*>(handle);
  host_variables[pointer] = {binary, name, size, pointer};
  hipError_t error;
  const Module* const module = ModuleOf(*binary, &error);
  if (module == nullptr || AllocateMemory(size, MemoryKind::kManaged, 0, pointer) != hipSuccess) return;
  std::memcpy(*pointer, initial, size);
  const auto device = module->variables.find(name);
  if (device != module->variables.end()) {
    std::memcpy(reinterpret_cast<void*>(device->second.address), pointer, sizeof *pointer);
  }
}

void __hipRegisterSurface(void** handle, void* variable, char* host_name, char* device_name, int, int external) {
  __hipRegisterVar(handle, variable, host_name, device_name, external, sizeof(hipSurfaceObject_t), 0, 0);
}
void __hipRegisterTexture(void** handle, void* variable, char* host_name, char* device_name, int, int, int external) {
  __hipRegisterVar(handle, variable, host_name, device_name, external, sizeof(textureReference), 0, 0);
}

void __hipUnregisterFatBinary(void** handle) {
  if (handle == nullptr) return;
  const std::lock_guard lock(registry_mutex);
  auto* const binary = reinterpret_cast<FatBinary*>(handle);
  std::erase_if(host_functions, [&](const auto& entry) { return entry.second.binary == binary; });
  std::erase_if(host_variables, [&](const auto& entry) { return entry.second.binary == binary; });
  // The device process frees what a program leaves when it ends: nothing to unload here, where other destructors may still run kernels.
  delete binary;
}

// Modules ------------------------------------------------------------------------------------------------------------------------------------

hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
  return Done(LoadProgramModule(image, reinterpret_cast<Module**>(module), kImageLimit));
}
hipError_t hipModuleLoadDataEx(hipModule_t* module, const void* image, unsigned, hipJitOption*, void**) {
  return Done(LoadProgramModule(image, reinterpret_cast<Module**>(module), kImageLimit));
}
hipError_t hipModuleLoadFatBinary(hipModule_t* module, const void* image) { return hipModuleLoadData(module, image); }
hipError_t hipModuleGetFunctionCount(unsigned* count, hipModule_t handle) {
  const auto* const module = reinterpret_cast<const Module*>(handle);
  if (count == nullptr) return Done(hipErrorInvalidValue);
  if (!IsModule(module)) return Done(hipErrorInvalidResourceHandle);
  *count = static_cast<unsigned>(module->functions.size());
  return Done(hipSuccess);
}
hipError_t hipModuleLoad(hipModule_t* module, const char* path) {
  if (module == nullptr || path == nullptr || *path == '\0') return Done(hipErrorInvalidValue);
  std::FILE* const file = std::fopen(path, "rb");
  if (file == nullptr) return Done(hipErrorFileNotFound);
  std::vector<uint8_t> bytes;
  uint8_t chunk[65536];
  while (std::feof(file) == 0 && std::ferror(file) == 0) {
    const size_t n = std::fread(chunk, 1, sizeof chunk, file);
    bytes.insert(bytes.end(), chunk, chunk + n);
  }
  const bool complete = std::ferror(file) == 0;
  std::fclose(file);
  if (!complete || bytes.empty()) return Done(hipErrorInvalidImage);
  return Done(LoadProgramModule(bytes.data(), reinterpret_cast<Module**>(module), bytes.size()));
}
hipError_t hipModuleUnload(hipModule_t module) {
  return Done(module == nullptr ? hipErrorInvalidResourceHandle : UnloadModule(reinterpret_cast<Module*>(module)));
}

hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t handle, const char* name) {
  if (function == nullptr || name == nullptr || *name == '\0') return Done(hipErrorInvalidValue);
  auto* const module = reinterpret_cast<Module*>(handle);
  if (!IsModule(module)) return Done(hipErrorInvalidResourceHandle);
  const auto found = module->functions.find(name);
  if (found == module->functions.end() || found->second->kernel_object == 0) return Done(hipErrorNotFound);
  *function = reinterpret_cast<hipFunction_t>(found->second.get());
  return Done(hipSuccess);
}
hipError_t hipModuleGetGlobal(hipDeviceptr_t* pointer, size_t* size, hipModule_t handle, const char* name) {
  if (name == nullptr) return Done(hipErrorInvalidValue);
  auto* const module = reinterpret_cast<Module*>(handle);
  if (!IsModule(module)) return Done(hipErrorInvalidResourceHandle);
  const auto found = module->variables.find(name);
  if (found == module->variables.end()) return Done(hipErrorNotFound);
  if (pointer != nullptr) *pointer = reinterpret_cast<hipDeviceptr_t>(found->second.address);
  if (size != nullptr) *size = found->second.size;
  return Done(hipSuccess);
}

}  // extern "C"
