// Executables: several kernels and global variables, symbols, code objects of files, the loader extension, refused code objects.
// Errors: functions given what they must refuse.
#include <fcntl.h>
#include <hsa/hsa_ven_amd_loader.h>
#include <link.h>
#include <unistd.h>

#include <set>

#include "support.h"

extern "C" r_debug _amdgpu_r_debug;

namespace test {
namespace {

constexpr int kCount = 64;

void Variables(Gpu& gpu) {
  hsa_executable_symbol_t symbol;
  OK(hsa_executable_get_symbol_by_name(gpu.executable, "offset_of_all", &gpu.gpu, &symbol));
  hsa_symbol_kind_t kind;
  uint32_t size;
  int* variable = nullptr;
  OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind));
  OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE, &size));
  OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS, &variable));
  CHECK(kind == HSA_SYMBOL_KIND_VARIABLE && size == 4 && *variable == 7);
  hsa_queue_t* const queue = gpu.NewQueue();
  int* const data = gpu.Allocate<int>(kCount);
  const auto expect = [&](int offset) {
    const hsa_signal_t done = gpu.NewSignal();
    gpu.Launch(queue, gpu.Find("read_globals.kd"), kCount, done, data, kCount);
    Gpu::Wait(done);
    for (int n = 0; n < kCount; n++) CHECK(data[n] == offset + 10 * (n % 4 + 1));
    OK(hsa_signal_destroy(done));
  };
  expect(7);
  *variable = 1000;
  expect(1000);
  const hsa_signal_t done = gpu.NewSignal();
  gpu.Launch(queue, gpu.Find("write_global.kd"), kCount, done, -3);
  Gpu::Wait(done);
  CHECK(*variable == -3);
  expect(-3);
  OK(hsa_signal_destroy(done));
  OK(hsa_amd_memory_pool_free(data));
  OK(hsa_queue_destroy(queue));
}

void Symbols(Gpu& gpu) {
  std::set<std::string> names;
  OK(hsa_executable_iterate_agent_symbols(
      gpu.executable, gpu.gpu,
      [](hsa_executable_t, hsa_agent_t, hsa_executable_symbol_t symbol, void* data) {
        uint32_t length;
        OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &length));
        std::string name(length, '\0');
        OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name.data()));
        static_cast<std::set<std::string>*>(data)->insert(name);
        return HSA_STATUS_SUCCESS;
      },
      &names));
  for (const char* name : {"empty.kd", "scale.kd", "triple_plus_one.kd", "add.kd", "copy.kd", "read_globals.kd",
                           "write_global.kd", "burn.kd", "offset_of_all", "table"}) {
    CHECK(names.contains(name));
  }
  hsa_executable_symbol_t symbol;
  STATUS(HSA_STATUS_ERROR_INVALID_SYMBOL_NAME,
         hsa_executable_get_symbol_by_name(gpu.executable, "no_such.kd", &gpu.gpu, &symbol));
  hsa_executable_state_t state;
  OK(hsa_executable_get_info(gpu.executable, HSA_EXECUTABLE_INFO_STATE, &state));
  CHECK(state == HSA_EXECUTABLE_STATE_FROZEN);
  STATUS(HSA_STATUS_ERROR_FROZEN_EXECUTABLE, hsa_executable_freeze(gpu.executable, nullptr));
}

hsa_status_t LoadInto(Gpu& gpu, hsa_executable_t executable, const std::vector<uint8_t>& bytes) {
  hsa_code_object_reader_t reader;
  OK(hsa_code_object_reader_create_from_memory(bytes.data(), bytes.size(), &reader));
  const hsa_status_t status = hsa_executable_load_agent_code_object(executable, gpu.gpu, reader, nullptr, nullptr);
  OK(hsa_code_object_reader_destroy(reader));
  return status;
}

void Files(Gpu& gpu, const char* path, const char* other_target) {
  const std::vector<uint8_t> code = ReadFile(path);
  hsa_executable_t executable;
  OK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable));
  STATUS(HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS, LoadInto(gpu, executable, ReadFile(other_target)));
  // Damaged code objects are refused, whatever is wrong with them.
  for (const size_t cut : {size_t{1}, size_t{16}, size_t{64}, code.size() / 2, code.size() - 1}) {
    CHECK(LoadInto(gpu, executable, {code.begin(), code.begin() + static_cast<ptrdiff_t>(cut)}) != HSA_STATUS_SUCCESS);
  }
  std::vector<uint8_t> wild = code;
  std::memset(wild.data() + 32, 0xff, 24);
  CHECK(LoadInto(gpu, executable, wild) != HSA_STATUS_SUCCESS);
  // From a file: the same kernels at other addresses, with variables of their own.
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  hsa_code_object_reader_t reader;
  OK(hsa_code_object_reader_create_from_file(file, &reader));
  hsa_loaded_code_object_t loaded{};
  OK(hsa_executable_load_agent_code_object(executable, gpu.gpu, reader, nullptr, &loaded));
  OK(hsa_code_object_reader_destroy(reader));
  close(file);
  OK(hsa_executable_freeze(executable, nullptr));
  hsa_executable_symbol_t symbol;
  uint64_t object = 0;
  OK(hsa_executable_get_symbol_by_name(executable, "add.kd", &gpu.gpu, &symbol));
  OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object));
  CHECK(object != gpu.Find("add.kd").object);
  // A debugger finds both, and what they were loaded from.
  size_t listed = 0;
  for (const link_map* m = _amdgpu_r_debug.r_map; m != nullptr; m = m->l_next) {
    CHECK(m->l_addr != 0 &&
          (std::strncmp(m->l_name, "file://", 7) == 0 || std::strncmp(m->l_name, "memory://", 9) == 0));
    listed++;
  }
  CHECK(listed == 2);
  // The loader extension knows both executables.
  hsa_ven_amd_loader_1_03_pfn_t loader{};
  OK(hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, sizeof loader, &loader));
  hsa_executable_t owner{};
  OK(loader.hsa_ven_amd_loader_query_executable(reinterpret_cast<void*>(object), &owner));
  CHECK(owner.handle == executable.handle);
  struct Seen {
    const decltype(loader)* table;
    uint64_t base = 0, size = 0, storage = 0;
  } seen{&loader};
  OK(loader.hsa_ven_amd_loader_executable_iterate_loaded_code_objects(
      executable,
      [](hsa_executable_t, hsa_loaded_code_object_t code_object, void* data) {
        auto* s = static_cast<Seen*>(data);
        const auto info = s->table->hsa_ven_amd_loader_loaded_code_object_get_info;
        OK(info(code_object, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE, &s->base));
        OK(info(code_object, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE, &s->size));
        OK(info(code_object, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_SIZE, &s->storage));
        return HSA_STATUS_SUCCESS;
      },
      &seen));
  CHECK(object - seen.base < seen.size && seen.storage == code.size());
  size_t segments = 0;
  OK(loader.hsa_ven_amd_loader_query_segment_descriptors(nullptr, &segments));
  CHECK(segments >= 2);
  OK(hsa_executable_destroy(executable));
  STATUS(HSA_STATUS_ERROR_INVALID_EXECUTABLE, hsa_executable_destroy(executable));
  CHECK(loader.hsa_ven_amd_loader_query_executable(reinterpret_cast<void*>(object), &owner) != HSA_STATUS_SUCCESS);
}

}  // namespace

void Executables(Gpu& gpu, const char* code_object, const char* other_target) {
  Symbols(gpu);
  Variables(gpu);
  Files(gpu, code_object, other_target);
}

void Errors(Gpu& gpu) {
  void* pointer = nullptr;
  // The numbers of ROCm 6.4: dma-buf is 0x204, virtual memory 0x205; the version of the extensions is 1.7.
  for (const uint32_t attribute : {0x201u, 0x204u, 0x205u}) {
    bool known = false;
    OK(hsa_system_get_info(static_cast<hsa_system_info_t>(attribute), &known));
    CHECK(known);
  }
  uint16_t minor = 0;
  OK(hsa_system_get_info(static_cast<hsa_system_info_t>(0x208), &minor));
  CHECK(minor == 7);
  STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT, hsa_system_get_info(static_cast<hsa_system_info_t>(0x209), &minor));
  hsa_queue_t* queue = nullptr;
  hsa_signal_t signal{};
  uint64_t value;
  const hsa_agent_t nobody{12345};
  STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT, hsa_iterate_agents(nullptr, nullptr));
  STATUS(HSA_STATUS_ERROR_INVALID_AGENT, hsa_agent_get_info(nobody, HSA_AGENT_INFO_NAME, &value));
  STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT, hsa_agent_get_info(gpu.gpu, static_cast<hsa_agent_info_t>(0xfff), &value));
  STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT, hsa_agent_get_info(gpu.gpu, HSA_AGENT_INFO_NAME, nullptr));
  STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT, hsa_amd_memory_pool_allocate(gpu.coarse, 0, 0, &pointer));
  STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT, hsa_amd_memory_pool_allocate(gpu.coarse, 64, 0, nullptr));
  STATUS(HSA_STATUS_ERROR_INVALID_MEMORY_POOL, hsa_amd_memory_pool_allocate({99}, 64, 0, &pointer));
  STATUS(HSA_STATUS_ERROR_INVALID_ALLOCATION, hsa_amd_memory_pool_free(&value));
  OK(hsa_amd_memory_pool_free(nullptr));
  const auto create = [&](hsa_agent_t agent, uint32_t size, hsa_queue_t** result) {
    return hsa_queue_create(agent, size, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, UINT32_MAX, UINT32_MAX, result);
  };
  STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT, create(gpu.gpu, 63, &queue));
  STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT, create(gpu.gpu, 0, &queue));
  STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT, create(gpu.gpu, 64, nullptr));
  STATUS(HSA_STATUS_ERROR_INVALID_AGENT, create(nobody, 64, &queue));
  STATUS(HSA_STATUS_ERROR_INVALID_QUEUE_CREATION, create(gpu.cpu, 64, &queue));
  STATUS(HSA_STATUS_ERROR_INVALID_QUEUE_CREATION, create(gpu.gpu, 1u << 30, &queue));
  hsa_queue_t fake{};
  STATUS(HSA_STATUS_ERROR_INVALID_QUEUE, hsa_queue_destroy(&fake));
  STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT, hsa_signal_create(0, 0, nullptr, nullptr));
  STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT, hsa_signal_create(0, 3, nullptr, &signal));
  STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT, hsa_signal_destroy({0}));
  STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT, hsa_amd_memory_lock(nullptr, 64, nullptr, 0, &pointer));
  STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT, hsa_amd_memory_unlock(&value));
  STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT, hsa_amd_vmem_address_reserve(&pointer, 100, 0, 0));
  STATUS(HSA_STATUS_ERROR_INVALID_ALLOCATION, hsa_amd_vmem_handle_release({4096}));
  STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT, hsa_memory_copy(nullptr, &value, 4));
  STATUS(HSA_STATUS_ERROR_INVALID_AGENT,
         hsa_amd_memory_async_copy(&value, nobody, &value, gpu.cpu, 4, 0, nullptr, {0}));
  hsa_code_object_reader_t reader{};
  STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT, hsa_code_object_reader_create_from_memory(nullptr, 10, &reader));
  STATUS(HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER, hsa_code_object_reader_destroy({8}));
  STATUS(HSA_STATUS_ERROR_INVALID_EXECUTABLE, hsa_executable_freeze({8}, nullptr));
  const char* text = nullptr;
  STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT, hsa_status_string(static_cast<hsa_status_t>(0x7777), &text));
  // Only memory of the device can be shared.
  hsa_amd_ipc_memory_t ipc{};
  STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT, hsa_amd_ipc_memory_create(&value, 64, &ipc));
  int file = 0;
  uint64_t offset = 0;
  STATUS(HSA_STATUS_ERROR_INVALID_ALLOCATION, hsa_amd_portable_export_dmabuf(&value, 64, &file, &offset));
}

}  // namespace test
