// How the library comes into a program: OnLoad and OnUnload for HSA_TOOLS_LIB, rocprofiler_configure for runtimes that give their tables to
// rocprofiler-sdk first. Sources: ROCr's tool loading (runtime.cpp); rocprofiler-sdk's registration.h and intercept_table.h (public API).
#include "tool/tool.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>

#include "tool/code.h"
#include "tool/isolate.h"
#include "tool/memory.h"
#include "tool/queue.h"
#include "tool/watch.h"

namespace wavesmith::tool {

Originals original;

namespace {

Channel* channel = nullptr;
ToolWelcome welcome{};

std::string PathOfProgram() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return {path, length > 0 ? static_cast<size_t>(length) : 0};
}

// Connects and greets. False, with a word on stderr, when Wavesmith does not answer; false without one when nobody asked for this library.
bool Greet() {
  if (std::getenv(kToolSocketVariable) == nullptr) return false;
  std::string why;
  channel = Channel::Connect(kToolSocketVariable, &why);
  if (channel == nullptr) {
    std::fprintf(stderr, "wavesmith: the tools library sees nothing of this program: %s\n", why.c_str());
    return false;
  }
  channel->Start(
      [](uint32_t type, const Bytes&) {
        if (type == static_cast<uint32_t>(ToolMessage::kRelease)) ReleaseWaiting();
      },
      [] {});
  const ToolHello hello{kToolProtocolVersion, static_cast<uint32_t>(getpid())};
  const Bytes payload = Writer().Put(hello).Text(PathOfProgram()).bytes();
  const RawAnswer answer =
      channel->Request(static_cast<uint32_t>(ToolMessage::kHello), {{payload.data(), payload.size()}});
  Reader reader(answer.payload);
  welcome = reader.Get<ToolWelcome>();
  if (answer.ok && reader.ok() && welcome.version == kToolProtocolVersion && welcome.step != 0) return true;
  std::fprintf(stderr, "wavesmith: the tools library is of another version than the Wavesmith that started it.\n");
  return false;
}

// A table as far as the runtime has it: later functions stay nullptr. `minor_id` is the table's size.
template <typename Table>
Table CopyOf(const Table* table) {
  Table copy{};
  std::memcpy(&copy, table, std::min<size_t>(sizeof copy, table->version.minor_id));
  return copy;
}
template <typename Table>
void PutBack(const Table& changed, Table* table) {
  const uint32_t size = table->version.minor_id;
  std::memcpy(reinterpret_cast<char*>(table) + sizeof table->version,
              reinterpret_cast<const char*>(&changed) + sizeof table->version,
              std::min<size_t>(sizeof changed, size) - sizeof table->version);
}

// Replaces functions. Once in a process, whoever comes first with the tables; again after the runtime was shut down.
bool Install(hsa::ApiTable* tables) {
  static std::mutex mutex;
  static const void* installed = nullptr;
  const std::lock_guard lock(mutex);
  if (tables == nullptr || tables->core == nullptr || tables->amd_ext == nullptr) return false;
  hsa::CoreTable core = CopyOf(tables->core);
  hsa::AmdTable amd = CopyOf(tables->amd_ext);
  // Both ways may come in one process: HSA_TOOLS_LIB and rocprofiler-sdk.
  if (installed == reinterpret_cast<const void*>(core.hsa_executable_freeze_fn)) return true;
  if (channel == nullptr && !Greet()) return false;
  original = {core, amd};
  InstallCode(core);
  InstallMemory(core, amd);
  InstallQueues(core, amd);
  InstallWatch(core);
  installed = reinterpret_cast<const void*>(core.hsa_executable_freeze_fn);
  PutBack(core, tables->core);
  PutBack(amd, tables->amd_ext);
  return true;
}

}  // namespace

Channel* Wavesmith() { return channel; }
const ToolWelcome& Welcome() { return welcome; }

const hsa::LoaderTable& Loader() {
  static const hsa::LoaderTable table = [] {
    hsa::LoaderTable t{};
    original.core.hsa_system_get_major_extension_table_fn(HSA_EXTENSION_AMD_LOADER, 1, sizeof t, &t);
    return t;
  }();
  return table;
}

void Note(uint64_t sequence, std::string_view code, std::string_view text) {
  static std::mutex mutex;
  static auto* const said = new std::set<std::pair<uint64_t, std::string>>;
  {
    const std::lock_guard lock(mutex);
    if (!said->emplace(sequence, std::string(code) + std::string(text)).second) return;
  }
  Tell(ToolMessage::kNote, Writer().Put(sequence).Text(code).Text(text).bytes());
}

}  // namespace wavesmith::tool

extern "C" {

// For HSA_TOOLS_LIB.
__attribute__((visibility("default"))) bool OnLoad(wavesmith::hsa::ApiTable* tables, uint64_t, uint64_t,
                                                   const char* const*) {
  return wavesmith::tool::Install(tables);
}
// What Wavesmith knows it was told when it happened, but for the memory that is watched: the runtime is about to free it.
__attribute__((visibility("default"))) void OnUnload() {
  wavesmith::tool::AbandonIsolation();
  wavesmith::tool::RemoveAllWatches();
}

// For rocprofiler-sdk, as its registration.h has it. The client's name is left as it is: its place differs between releases.
struct RocprofilerConfigureResult {
  size_t size;
  int (*initialize)(void*, void*);
  void (*finalize)(void*);
  void* data;
};

__attribute__((visibility("default"))) RocprofilerConfigureResult* rocprofiler_configure(uint32_t, const char*,
                                                                                         uint32_t, void*) {
  constexpr int kHsaTable = 1 << 0;  // ROCPROFILER_HSA_TABLE
  using Callback = void (*)(int type, uint64_t version, uint64_t instance, void** tables, uint64_t count, void* data);
  using AtRegistration = int (*)(Callback, int, void*);
  const auto at_registration =
      reinterpret_cast<AtRegistration>(dlsym(RTLD_DEFAULT, "rocprofiler_at_intercept_table_registration"));
  if (at_registration == nullptr || std::getenv(wavesmith::tool::kToolSocketVariable) == nullptr) return nullptr;
  const Callback on_table = [](int type, uint64_t, uint64_t instance, void** tables, uint64_t count, void*) {
    if (type != kHsaTable || instance != 0 || count == 0) return;
    wavesmith::tool::Install(static_cast<wavesmith::hsa::ApiTable*>(tables[0]));
  };
  if (at_registration(on_table, kHsaTable, nullptr) != 0) return nullptr;
  static RocprofilerConfigureResult result{sizeof result, nullptr, nullptr, nullptr};
  return &result;
}

}  // extern "C"
