// Code object readers, executables, symbols, the loader extension. The device process loads code; this side keeps what callers ask about.
// Sources: HSA Runtime Specification 1.2, sections 2.10 to 2.12; hsa_ven_amd_loader.h.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <set>

#include "hsa/debug_map.h"
#include "hsa/loader.h"
#include "hsa/runtime.h"

namespace wavesmith::hsa {
namespace {

struct CodeReader {
  Bytes bytes;
  // Where the caller's bytes are; nullptr for a file.
  const void* memory = nullptr;
  int file = -1;
};

struct Executable;

struct LoadedCodeObject {
  Executable* executable = nullptr;
  hsa_agent_t agent{};
  uint64_t module = 0;
  uint64_t base = 0;
  uint64_t size = 0;
  // A copy, so that the reader may go.
  Bytes bytes;
  std::string uri;
  // Published when the executable is frozen.
  DebugEntry debug;
};

struct Symbol {
  std::string name;
  hsa_agent_t agent;
  SymbolRecord record;
};

struct Executable {
  bool frozen = false;
  hsa_profile_t profile = HSA_PROFILE_BASE;
  std::deque<LoadedCodeObject> objects;
  std::deque<Symbol> symbols;
};

std::mutex mutex;
// Never destroyed: tools are unloaded, and the runtime is shut down, after the destructors of a program's and of these libraries' objects.
auto& readers = *new std::set<CodeReader*>;
auto& executables = *new std::set<Executable*>;
auto& live_symbols = *new std::set<const Symbol*>;

Executable* Find(hsa_executable_t handle) {
  auto* const e = reinterpret_cast<Executable*>(handle.handle);
  return executables.contains(e) ? e : nullptr;
}
CodeReader* Find(hsa_code_object_reader_t handle) {
  auto* const r = reinterpret_cast<CodeReader*>(handle.handle);
  return readers.contains(r) ? r : nullptr;
}
const Symbol* Find(hsa_executable_symbol_t handle) {
  const auto* const s = reinterpret_cast<const Symbol*>(handle.handle);
  return live_symbols.contains(s) ? s : nullptr;
}
hsa_executable_symbol_t HandleOf(const Symbol& symbol) { return {reinterpret_cast<uint64_t>(&symbol)}; }

hsa_status_t MakeReader(Bytes bytes, const void* memory, int file, hsa_code_object_reader_t* handle) {
  auto* const reader = new CodeReader{std::move(bytes), memory, file};
  const std::lock_guard lock(mutex);
  readers.insert(reader);
  handle->handle = reinterpret_cast<uint64_t>(reader);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t ReadFile(int file, size_t offset, size_t size, hsa_code_object_reader_t* handle) {
  struct stat info{};
  if (fstat(file, &info) != 0) return static_cast<hsa_status_t>(HSA_STATUS_ERROR_INVALID_FILE);
  const size_t length = static_cast<size_t>(info.st_size);
  if (offset > length) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (size == 0) size = length - offset;
  if (size > length - offset) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  Bytes bytes(size);
  size_t done = 0;
  while (done < size) {
    const ssize_t n = pread(file, bytes.data() + done, size - done, static_cast<off_t>(offset + done));
    if (n <= 0) return static_cast<hsa_status_t>(HSA_STATUS_ERROR_INVALID_FILE);
    done += static_cast<size_t>(n);
  }
  return MakeReader(std::move(bytes), nullptr, file, handle);
}

std::string UriOf(const CodeReader& reader) {
  char text[512];
  if (reader.memory != nullptr) {
    std::snprintf(text, sizeof text, "memory://%d#offset=0x%llx&size=%zu", getpid(),
                  static_cast<unsigned long long>(reinterpret_cast<uint64_t>(reader.memory)), reader.bytes.size());
    return text;
  }
  char link[64];
  char path[400];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", reader.file);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  return "file://" + std::string(path, length > 0 ? static_cast<size_t>(length) : 0);
}

// Loads on the device and takes over the symbols. Called with the lock held.
hsa_status_t Load(Runtime& runtime, Executable& executable, hsa_agent_t agent, const CodeReader& reader,
                  LoadedCodeObject** loaded) {
  const Answer answer = runtime.client().Request(MessageType::kLoad, reader.bytes);
  if (!answer.ok) {
    // The status has no room for the reason.
    std::fprintf(stderr, "wavesmith: %s\n", answer.text.c_str());
    switch (answer.error) {
      case ErrorCode::kOutOfMemory:
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
      case ErrorCode::kWrongTarget:
        return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
      default:
        return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
    }
  }
  Reader r(answer.payload);
  const auto reply = r.Get<LoadReply>();
  for (uint32_t n = 0; n < reply.count && r.ok(); n++) {
    Symbol symbol;
    symbol.agent = agent;
    symbol.record = r.Get<SymbolRecord>();
    symbol.name = r.Text();
    executable.symbols.push_back(std::move(symbol));
    live_symbols.insert(&executable.symbols.back());
  }
  LoadedCodeObject& object = executable.objects.emplace_back();
  object.executable = &executable;
  object.agent = agent;
  object.module = reply.module;
  object.base = reply.load_address;
  object.size = reply.load_size;
  object.bytes = reader.bytes;
  object.uri = UriOf(reader);
  *loaded = &object;
  return r.ok() ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
}

void Drop(Runtime* runtime, Executable* executable) {
  for (const Symbol& symbol : executable->symbols) live_symbols.erase(&symbol);
  if (runtime != nullptr) {
    for (const LoadedCodeObject& object : executable->objects) {
      runtime->client().Request(MessageType::kUnload, Writer().Put(object.module).bytes());
    }
  }
  executables.erase(executable);
  delete executable;
}

// Of one agent, or with nullptr of all.
hsa_status_t IterateSymbols(hsa_executable_t handle, const hsa_agent_t* agent,
                            const std::function<hsa_status_t(hsa_executable_symbol_t)>& callback) {
  std::vector<hsa_executable_symbol_t> handles;
  {
    const std::lock_guard lock(mutex);
    const Executable* const executable = Find(handle);
    if (executable == nullptr) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    for (const Symbol& symbol : executable->symbols) {
      if (agent == nullptr || symbol.agent.handle == agent->handle) handles.push_back(HandleOf(symbol));
    }
  }
  for (const hsa_executable_symbol_t symbol : handles) {
    const hsa_status_t status = callback(symbol);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t FindSymbol(hsa_executable_t handle, const hsa_agent_t* agent, const char* name,
                        hsa_executable_symbol_t* symbol) {
  const std::lock_guard lock(mutex);
  const Executable* const executable = Find(handle);
  if (executable == nullptr) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  for (const Symbol& s : executable->symbols) {
    if (s.name != name || (agent != nullptr && s.agent.handle != agent->handle)) continue;
    *symbol = HandleOf(s);
    return HSA_STATUS_SUCCESS;
  }
  return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
}

template <typename T>
hsa_status_t Put(void* value, const T& v) {
  std::memcpy(value, &v, sizeof v);
  return HSA_STATUS_SUCCESS;
}

// The loader extension ---------------------------------------------------------------------------------------------------------------

hsa_status_t QueryHostAddress(const void* device, const void** host) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(device != nullptr && host != nullptr);
  *host = device;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t QuerySegments(SegmentDescriptor* descriptors, size_t* count) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(count != nullptr && (descriptors != nullptr) == (*count != 0));
  const std::lock_guard lock(mutex);
  std::vector<SegmentDescriptor> all;
  for (Executable* const e : executables) {
    for (const LoadedCodeObject& o : e->objects) {
      all.push_back({o.agent,
                     {reinterpret_cast<uint64_t>(e)},
                     2,
                     o.bytes.data(),
                     o.bytes.size(),
                     0,
                     reinterpret_cast<const void*>(o.base),
                     o.size});
    }
  }
  if (descriptors == nullptr) {
    *count = all.size();
    return HSA_STATUS_SUCCESS;
  }
  if (*count != all.size()) return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
  std::copy(all.begin(), all.end(), descriptors);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t QueryExecutable(const void* device, hsa_executable_t* executable) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(device != nullptr && executable != nullptr);
  const std::lock_guard lock(mutex);
  const auto address = reinterpret_cast<uint64_t>(device);
  for (Executable* const e : executables) {
    for (const LoadedCodeObject& o : e->objects) {
      if (address - o.base >= o.size) continue;
      executable->handle = reinterpret_cast<uint64_t>(e);
      return HSA_STATUS_SUCCESS;
    }
  }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t IterateObjects(hsa_executable_t handle,
                            hsa_status_t (*callback)(hsa_executable_t, LoadedCodeObjectHandle, void*), void* data) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(callback != nullptr);
  std::vector<LoadedCodeObjectHandle> objects;
  {
    const std::lock_guard lock(mutex);
    Executable* const executable = Find(handle);
    if (executable == nullptr) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    for (LoadedCodeObject& o : executable->objects) objects.push_back({reinterpret_cast<uint64_t>(&o)});
  }
  for (const LoadedCodeObjectHandle o : objects) {
    const hsa_status_t status = callback(handle, o, data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}

// Attributes in the order of hsa_ven_amd_loader_loaded_code_object_info_t, from 1.
hsa_status_t ObjectInfo(LoadedCodeObjectHandle handle, uint32_t attribute, void* value) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(handle.handle != 0 && value != nullptr);
  const std::lock_guard lock(mutex);
  const auto* const object = reinterpret_cast<const LoadedCodeObject*>(handle.handle);
  const bool known = std::any_of(executables.begin(), executables.end(), [&](const Executable* e) {
    return std::any_of(e->objects.begin(), e->objects.end(), [&](const LoadedCodeObject& o) { return &o == object; });
  });
  WAVESMITH_REQUIRE(known);
  switch (attribute) {
    case 1:
      return Put(value, hsa_executable_t{reinterpret_cast<uint64_t>(object->executable)});
    case 2:
      return Put<uint32_t>(value, 2);  // agent code object
    case 3:
      return Put(value, object->agent);
    case 4:
      return Put<uint32_t>(value, 2);  // storage in memory
    case 5:
      return Put<uint64_t>(value, reinterpret_cast<uint64_t>(object->bytes.data()));
    case 6:
      return Put<uint64_t>(value, object->bytes.size());
    case 8:
      return Put<int64_t>(value, static_cast<int64_t>(object->base));
    case 9:
      return Put<uint64_t>(value, object->base);
    case 10:
      return Put<uint64_t>(value, object->size);
    case 11:
      return Put<uint32_t>(value, static_cast<uint32_t>(object->uri.size()));
    case 12:
      std::memcpy(value, object->uri.c_str(), object->uri.size() + 1);
      return HSA_STATUS_SUCCESS;
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_status_t ReaderFromFilePart(int file, size_t offset, size_t size, hsa_code_object_reader_t* reader) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(reader != nullptr && size != 0);
  return ReadFile(file, offset, size, reader);
}

hsa_status_t IterateExecutables(hsa_status_t (*callback)(hsa_executable_t, void*), void* data) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(callback != nullptr);
  std::vector<hsa_executable_t> all;
  {
    const std::lock_guard lock(mutex);
    for (Executable* const e : executables) all.push_back({reinterpret_cast<uint64_t>(e)});
  }
  for (const hsa_executable_t e : all) {
    const hsa_status_t status = callback(e, data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}

}  // namespace

const LoaderTable& LoaderFunctions() {
  static const LoaderTable table = {QueryHostAddress, QuerySegments,      QueryExecutable,   IterateObjects,
                                    ObjectInfo,       ReaderFromFilePart, IterateExecutables};
  return table;
}

void DropExecutables() {
  const std::lock_guard lock(mutex);
  while (!executables.empty()) Drop(nullptr, *executables.begin());
  for (CodeReader* const reader : readers) delete reader;
  readers.clear();
}

}  // namespace wavesmith::hsa

namespace impl {

using namespace wavesmith::hsa;  // NOLINT: the implementations are this namespace's face

hsa_status_t hsa_code_object_reader_create_from_memory(const void* code, size_t size,
                                                       hsa_code_object_reader_t* reader) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(code != nullptr && size != 0 && reader != nullptr);
  const auto* const bytes = static_cast<const uint8_t*>(code);
  return MakeReader(wavesmith::Bytes(bytes, bytes + size), code, -1, reader);
}
hsa_status_t hsa_code_object_reader_create_from_file(hsa_file_t file, hsa_code_object_reader_t* reader) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(reader != nullptr);
  return ReadFile(file, 0, 0, reader);
}
hsa_status_t hsa_code_object_reader_destroy(hsa_code_object_reader_t reader) {
  WAVESMITH_REQUIRE_INIT();
  const std::lock_guard lock(mutex);
  CodeReader* const found = Find(reader);
  if (found == nullptr) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
  readers.erase(found);
  delete found;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_create_alt(hsa_profile_t profile, hsa_default_float_rounding_mode_t, const char*,
                                       hsa_executable_t* executable) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(executable != nullptr);
  auto* const made = new Executable;
  made->profile = profile;
  const std::lock_guard lock(mutex);
  executables.insert(made);
  executable->handle = reinterpret_cast<uint64_t>(made);
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_executable_create(hsa_profile_t profile, hsa_executable_state_t state, const char* options,
                                   hsa_executable_t* executable) {
  const hsa_status_t status =
      impl::hsa_executable_create_alt(profile, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, options, executable);
  if (status == HSA_STATUS_SUCCESS && state == HSA_EXECUTABLE_STATE_FROZEN) {
    return impl::hsa_executable_freeze(*executable, nullptr);
  }
  return status;
}
hsa_status_t hsa_executable_destroy(hsa_executable_t executable) {
  WAVESMITH_REQUIRE_INIT();
  const std::lock_guard lock(mutex);
  Executable* const found = Find(executable);
  if (found == nullptr) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  Drop(runtime, found);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_load_agent_code_object(hsa_executable_t executable, hsa_agent_t agent,
                                                   hsa_code_object_reader_t reader, const char*,
                                                   hsa_loaded_code_object_t* loaded) {
  WAVESMITH_REQUIRE_INIT();
  if (!runtime->IsGpu(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  const std::lock_guard lock(mutex);
  Executable* const found = Find(executable);
  if (found == nullptr) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  if (found->frozen) return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
  const CodeReader* const source = Find(reader);
  if (source == nullptr) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
  LoadedCodeObject* object = nullptr;
  const hsa_status_t status = Load(*runtime, *found, agent, *source, &object);
  if (status == HSA_STATUS_SUCCESS && loaded != nullptr) loaded->handle = reinterpret_cast<uint64_t>(object);
  return status;
}
hsa_status_t hsa_executable_load_program_code_object(hsa_executable_t, hsa_code_object_reader_t, const char*,
                                                     hsa_loaded_code_object_t*) {
  return kStatusNotSupported;
}

hsa_status_t hsa_executable_freeze(hsa_executable_t executable, const char*) {
  WAVESMITH_REQUIRE_INIT();
  const std::lock_guard lock(mutex);
  Executable* const found = Find(executable);
  if (found == nullptr) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  if (found->frozen) return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
  found->frozen = true;
  for (LoadedCodeObject& object : found->objects) object.debug.Publish(object.base, object.uri);
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_executable_get_info(hsa_executable_t executable, hsa_executable_info_t attribute, void* value) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(value != nullptr);
  const std::lock_guard lock(mutex);
  const Executable* const found = Find(executable);
  if (found == nullptr) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  switch (attribute) {
    case HSA_EXECUTABLE_INFO_PROFILE:
      return Put<uint32_t>(value, found->profile);
    case HSA_EXECUTABLE_INFO_STATE:
      return Put<uint32_t>(value, found->frozen ? HSA_EXECUTABLE_STATE_FROZEN : HSA_EXECUTABLE_STATE_UNFROZEN);
    case HSA_EXECUTABLE_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
      return Put<uint32_t>(value, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR);
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}
hsa_status_t hsa_executable_validate(hsa_executable_t executable, uint32_t* result) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(result != nullptr);
  const std::lock_guard lock(mutex);
  *result = 0;
  return Find(executable) == nullptr ? HSA_STATUS_ERROR_INVALID_EXECUTABLE : HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_executable_validate_alt(hsa_executable_t executable, const char*, uint32_t* result) {
  return impl::hsa_executable_validate(executable, result);
}

// Variables of the program that code objects refer to: a code object with undefined symbols is refused when it is loaded.
hsa_status_t hsa_executable_global_variable_define(hsa_executable_t, const char*, void*) { return kStatusNotSupported; }
hsa_status_t hsa_executable_agent_global_variable_define(hsa_executable_t, hsa_agent_t, const char*, void*) {
  return kStatusNotSupported;
}
hsa_status_t hsa_executable_readonly_variable_define(hsa_executable_t, hsa_agent_t, const char*, void*) {
  return kStatusNotSupported;
}

hsa_status_t hsa_executable_get_symbol_by_name(hsa_executable_t executable, const char* name, const hsa_agent_t* agent,
                                               hsa_executable_symbol_t* symbol) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(name != nullptr && symbol != nullptr);
  return FindSymbol(executable, agent, name, symbol);
}
hsa_status_t hsa_executable_get_symbol(hsa_executable_t executable, const char*, const char* name, hsa_agent_t agent,
                                       int32_t, hsa_executable_symbol_t* symbol) {
  return impl::hsa_executable_get_symbol_by_name(executable, name, &agent, symbol);
}

hsa_status_t hsa_executable_iterate_agent_symbols(hsa_executable_t executable, hsa_agent_t agent,
                                                  hsa_status_t (*callback)(hsa_executable_t, hsa_agent_t,
                                                                           hsa_executable_symbol_t, void*),
                                                  void* data) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(callback != nullptr);
  if (!runtime->IsGpu(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  return IterateSymbols(executable, &agent,
                        [&](hsa_executable_symbol_t s) { return callback(executable, agent, s, data); });
}
hsa_status_t hsa_executable_iterate_program_symbols(
    hsa_executable_t executable, hsa_status_t (*callback)(hsa_executable_t, hsa_executable_symbol_t, void*), void*) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(callback != nullptr);
  const std::lock_guard lock(mutex);
  return Find(executable) == nullptr ? HSA_STATUS_ERROR_INVALID_EXECUTABLE : HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_executable_iterate_symbols(hsa_executable_t executable,
                                            hsa_status_t (*callback)(hsa_executable_t, hsa_executable_symbol_t, void*),
                                            void* data) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(callback != nullptr);
  return IterateSymbols(executable, nullptr, [&](hsa_executable_symbol_t s) { return callback(executable, s, data); });
}

hsa_status_t hsa_executable_symbol_get_info(hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t attribute,
                                            void* value) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(value != nullptr);
  const std::lock_guard lock(mutex);
  const Symbol* const s = Find(symbol);
  if (s == nullptr) return static_cast<hsa_status_t>(HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL);
  const wavesmith::SymbolRecord& r = s->record;
  const bool kernel = r.kind == 1;
  switch (attribute) {
    case HSA_EXECUTABLE_SYMBOL_INFO_TYPE:
      return Put<uint32_t>(value, kernel ? HSA_SYMBOL_KIND_KERNEL : HSA_SYMBOL_KIND_VARIABLE);
    case HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH:
      return Put<uint32_t>(value, static_cast<uint32_t>(s->name.size()));
    case HSA_EXECUTABLE_SYMBOL_INFO_NAME:
      std::memcpy(value, s->name.data(), s->name.size());
      return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH:
      return Put<uint32_t>(value, 0);
    case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME:
      return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE:
      return Put<uint32_t>(value, HSA_SYMBOL_LINKAGE_PROGRAM);
    case HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION:
      return Put<bool>(value, true);
    case HSA_EXECUTABLE_SYMBOL_INFO_AGENT:
      return Put(value, s->agent);
    default:
      break;
  }
  if (kernel) {
    switch (attribute) {
      case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT:
        return Put<uint64_t>(value, r.address);
      case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE:
        return Put<uint32_t>(value, r.kernarg_size);
      case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT:
        return Put<uint32_t>(value, std::max(16u, r.kernarg_alignment));
      case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE:
        return Put<uint32_t>(value, r.group_segment);
      case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE:
        return Put<uint32_t>(value, r.private_segment);
      case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK:
        return Put<bool>(value, r.dynamic_stack != 0);
      case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_CALL_CONVENTION:
        return Put<uint32_t>(value, 0);
      default:
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
  }
  switch (attribute) {
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS:
      return Put<uint64_t>(value, r.address);
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE:
      return Put<uint32_t>(value, static_cast<uint32_t>(r.size));
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION:
      return Put<uint32_t>(value, HSA_VARIABLE_ALLOCATION_AGENT);
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT:
      return Put<uint32_t>(value, HSA_VARIABLE_SEGMENT_GLOBAL);
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALIGNMENT:
      return Put<uint32_t>(value, 0);
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST:
      return Put<bool>(value, false);
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

// Code objects of HSA 1.0 (deprecated): serialised bytes are the code object, loaded like one from a reader ---------------------------------

hsa_status_t hsa_code_object_deserialize(void* bytes, size_t size, const char*, hsa_code_object_t* code) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(bytes != nullptr && size != 0 && code != nullptr);
  hsa_code_object_reader_t reader{};
  const hsa_status_t status = impl::hsa_code_object_reader_create_from_memory(bytes, size, &reader);
  code->handle = reader.handle;
  return status;
}
hsa_status_t hsa_code_object_destroy(hsa_code_object_t code) {
  const hsa_status_t status = impl::hsa_code_object_reader_destroy({code.handle});
  return status == static_cast<hsa_status_t>(HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER)
             ? HSA_STATUS_ERROR_INVALID_CODE_OBJECT
             : status;
}
hsa_status_t hsa_executable_load_code_object(hsa_executable_t executable, hsa_agent_t agent, hsa_code_object_t code,
                                             const char* options) {
  return impl::hsa_executable_load_agent_code_object(executable, agent, {code.handle}, options, nullptr);
}
hsa_status_t hsa_code_object_serialize(hsa_code_object_t, hsa_status_t (*)(size_t, hsa_callback_data_t, void**),
                                       hsa_callback_data_t, const char*, void**, size_t*) {
  return kStatusNotSupported;
}
hsa_status_t hsa_code_object_get_info(hsa_code_object_t, hsa_code_object_info_t, void*) { return kStatusNotSupported; }
hsa_status_t hsa_code_object_get_symbol(hsa_code_object_t, const char*, hsa_code_symbol_t*) {
  return kStatusNotSupported;
}
hsa_status_t hsa_code_object_get_symbol_from_name(hsa_code_object_t, const char*, const char*, hsa_code_symbol_t*) {
  return kStatusNotSupported;
}
hsa_status_t hsa_code_symbol_get_info(hsa_code_symbol_t, hsa_code_symbol_info_t, void*) { return kStatusNotSupported; }
hsa_status_t hsa_code_object_iterate_symbols(hsa_code_object_t,
                                             hsa_status_t (*)(hsa_code_object_t, hsa_code_symbol_t, void*), void*) {
  return kStatusNotSupported;
}

}  // namespace impl
