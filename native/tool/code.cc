// Code objects. Sources: HSA Runtime Specification 1.2, sections 2.10 to 2.12; hsa_ven_amd_loader.h; AMDGPUUsage, "Relocation Records".
#include "tool/code.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "tool/memory.h"
#include "tool/watch.h"

namespace wavesmith::tool {
namespace {

using hsa::LoadedCodeObjectHandle;

// Attributes of hsa_ven_amd_loader_loaded_code_object_info_t.
constexpr uint32_t kInfoAgent = 3;
constexpr uint32_t kInfoStorageBase = 5;
constexpr uint32_t kInfoStorageSize = 6;
constexpr uint32_t kInfoDelta = 8;
constexpr uint32_t kInfoLoadBase = 9;
constexpr uint32_t kInfoLoadSize = 10;
constexpr uint32_t kInfoUriLength = 11;
constexpr uint32_t kInfoUri = 12;

// A code object that Wavesmith sent, loaded as an executable of its own. It lives as long as what it replaces.
struct Replacement {
  Bytes bytes;
  hsa_code_object_reader_t reader{};
  hsa_executable_t executable{};
  uint64_t delta = 0;

  ~Replacement() {
    if (executable.handle != 0) original.core.hsa_executable_destroy_fn(executable);
    if (reader.handle != 0) original.core.hsa_code_object_reader_destroy_fn(reader);
  }
};

struct Code {
  uint64_t handle;
  uint64_t allocation;  // in the registry of memory
  std::vector<uint64_t> kernels;
  std::unique_ptr<Replacement> replacement;
};

// Never destroyed: programs dispatch in their own destructors.
struct State {
  std::mutex mutex;
  std::map<uint64_t, std::vector<Code>> executables;
  std::shared_mutex rules_mutex;
  std::unordered_map<uint64_t, Rule> rules;
  std::atomic<bool> isolated{false};
  std::atomic<uint64_t> next{1};
};
State& state() {
  static auto* const s = new State;
  return *s;
}

template <typename T>
T Info(LoadedCodeObjectHandle object, uint32_t attribute) {
  T value{};
  Loader().loaded_code_object_get_info(object, attribute, &value);
  return value;
}

std::string StatusText(hsa_status_t status) {
  const char* text = nullptr;
  if (original.core.hsa_status_string_fn(status, &text) == HSA_STATUS_SUCCESS && text != nullptr) return text;
  char number[16];
  std::snprintf(number, sizeof number, "0x%x", static_cast<unsigned>(status));
  return number;
}

// Writes a reference into the loaded replacement.
hsa_status_t Apply(const Patch& patch, uint64_t delta) {
  const uint64_t place = delta + patch.place;
  const uint64_t difference = patch.target - place;
  uint64_t value = 0;
  size_t size = 4;
  switch (static_cast<PatchKind>(patch.kind)) {
    case PatchKind::kRel32Low:
      value = difference;
      break;
    case PatchKind::kRel32High:
      value = difference >> 32;
      break;
    case PatchKind::kAbs64:
      value = patch.target;
      size = 8;
      break;
    case PatchKind::kAbs32Low:
      value = patch.target;
      break;
    case PatchKind::kAbs32High:
      value = patch.target >> 32;
      break;
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return original.core.hsa_memory_copy_fn(reinterpret_cast<void*>(place), &value, size);
}

// Loads the code of a plan. The first function that fails is named.
hsa_status_t Load(Replacement& r, hsa_agent_t agent, const std::vector<Patch>& patches, const char** failed) {
  const auto& core = original.core;
  hsa_loaded_code_object_t loaded{};
  *failed = "hsa_code_object_reader_create_from_memory";
  hsa_status_t status = core.hsa_code_object_reader_create_from_memory_fn(r.bytes.data(), r.bytes.size(), &r.reader);
  if (status != HSA_STATUS_SUCCESS) return status;
  *failed = "hsa_executable_create_alt";
  status = core.hsa_executable_create_alt_fn(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr,
                                             &r.executable);
  if (status != HSA_STATUS_SUCCESS) return status;
  *failed = "hsa_executable_load_agent_code_object";
  status = core.hsa_executable_load_agent_code_object_fn(r.executable, agent, r.reader, nullptr, &loaded);
  if (status != HSA_STATUS_SUCCESS) return status;
  *failed = "hsa_executable_freeze";
  status = core.hsa_executable_freeze_fn(r.executable, nullptr);
  if (status != HSA_STATUS_SUCCESS) return status;
  r.delta = Info<uint64_t>({loaded.handle}, kInfoDelta);
  *failed = "hsa_memory_copy";
  for (const Patch& patch : patches) {
    status = Apply(patch, r.delta);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}

// Takes over the answer about a code object.
void Follow(const Bytes& payload, hsa_agent_t agent, Code& code) {
  Reader reader(payload);
  const auto plan = reader.Get<CodePlan>();
  const std::string bytes = reader.Text();
  std::vector<KernelRule> rules;
  std::vector<Patch> patches;
  for (uint32_t n = 0; n < plan.kernels && reader.ok(); n++) rules.push_back(reader.Get<KernelRule>());
  for (uint32_t n = 0; n < plan.patches && reader.ok(); n++) patches.push_back(reader.Get<Patch>());
  if (!reader.ok()) return;
  bool in_place = false;
  if (!bytes.empty()) {
    auto made = std::make_unique<Replacement>();
    made->bytes.assign(bytes.begin(), bytes.end());
    const char* failed = "";
    const hsa_status_t status = Load(*made, agent, patches, &failed);
    in_place = status == HSA_STATUS_SUCCESS;
    const tool::Replacement outcome{code.handle, made->delta, static_cast<uint32_t>(status), 0};
    const std::string why = in_place ? "" : std::string(failed) + ": " + StatusText(status);
    Tell(ToolMessage::kCodeReplaced, Writer().Put(outcome).Text(why).bytes());
    if (in_place) {
      if (plan.watched_size > 0) AddWatch(code.handle, made->delta + plan.watched, plan.watched_size);
      code.replacement = std::move(made);
    }
  }
  const std::unique_lock lock(state().rules_mutex);
  for (const KernelRule& r : rules) {
    Rule rule{code.handle, r.flags, 0, r.private_segment, r.group_segment, r.replacement_group, r.kernarg_size};
    if (Has(r.flags, RuleFlag::kReplace) && in_place) rule.replacement = code.replacement->delta + r.replacement;
    if (Has(r.flags, RuleFlag::kIsolate)) state().isolated = true;
    state().rules[r.kernel_object] = rule;
    code.kernels.push_back(r.kernel_object);
  }
}

hsa_status_t Show(hsa_executable_t executable, LoadedCodeObjectHandle object, void*) {
  const auto agent = Info<hsa_agent_t>(object, kInfoAgent);
  const CodeObject record{state().next++, Info<uint64_t>(object, kInfoLoadBase), Info<uint64_t>(object, kInfoLoadSize),
                          Info<uint64_t>(object, kInfoDelta)};
  std::string uri(Info<uint32_t>(object, kInfoUriLength), '\0');
  if (!uri.empty()) {
    // The text ends with a zero beyond its length on some runtimes.
    std::vector<char> text(uri.size() + 1);
    Loader().loaded_code_object_get_info(object, kInfoUri, text.data());
    uri.assign(text.data(), uri.size());
  }
  const auto* const bytes = reinterpret_cast<const void*>(Info<uint64_t>(object, kInfoStorageBase));
  const auto size = Info<uint64_t>(object, kInfoStorageSize);
  if (bytes == nullptr || size == 0 || size > kMaxPayload / 2) {
    Note(kNoDispatch, "code-not-seen", "A code object was loaded whose bytes the runtime does not give: " + uri);
    return HSA_STATUS_SUCCESS;
  }
  Code code{record.code, AddMemory(record.load_base, record.load_size, MemoryKind::kModule, 0, "code object"), {}, {}};
  const Bytes head = Writer().Put(record).Text(uri).Put(static_cast<uint32_t>(size)).bytes();
  const RawAnswer answer = Wavesmith()->Request(static_cast<uint32_t>(ToolMessage::kCodeLoaded),
                                                {{head.data(), head.size()}, {bytes, size}});
  if (answer.ok) Follow(answer.payload, agent, code);
  const std::lock_guard lock(state().mutex);
  state().executables[executable.handle].push_back(std::move(code));
  return HSA_STATUS_SUCCESS;
}

hsa_status_t Freeze(hsa_executable_t executable, const char* options) {
  const hsa_status_t status = original.core.hsa_executable_freeze_fn(executable, options);
  const auto iterate = Loader().executable_iterate_loaded_code_objects;
  if (status == HSA_STATUS_SUCCESS && iterate != nullptr && Wavesmith()->alive()) iterate(executable, Show, nullptr);
  return status;
}

hsa_status_t Destroy(hsa_executable_t executable) {
  std::vector<Code> codes;
  {
    const std::lock_guard lock(state().mutex);
    if (auto node = state().executables.extract(executable.handle)) codes = std::move(node.mapped());
  }
  for (const Code& code : codes) {
    {
      const std::unique_lock lock(state().rules_mutex);
      for (const uint64_t kernel : code.kernels) state().rules.erase(kernel);
    }
    RemoveWatch(code.handle);
    RemoveMemory(code.allocation);
    Tell(ToolMessage::kCodeUnloaded, Writer().Put(CodeHandle{code.handle}).bytes());
  }
  const std::shared_lock hold(FreeingMutex());
  codes.clear();
  return original.core.hsa_executable_destroy_fn(executable);
}

}  // namespace

bool FindRule(uint64_t kernel_object, Rule* rule) {
  const std::shared_lock lock(state().rules_mutex);
  const auto found = state().rules.find(kernel_object);
  if (found == state().rules.end()) return false;
  *rule = found->second;
  return true;
}

bool AnyIsolated() { return state().isolated.load(std::memory_order_relaxed); }

void InstallCode(hsa::CoreTable& core) {
  core.hsa_executable_freeze_fn = Freeze;
  core.hsa_executable_destroy_fn = Destroy;
}

}  // namespace wavesmith::tool
