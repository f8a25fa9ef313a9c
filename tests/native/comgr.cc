// libamd_comgr as programs use it: what is compiled, linked, read and disassembled here is printed for tests/comgr.test.ts.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

struct Handle {
  uint64_t handle;
};
constexpr int kSource = 1, kInclude = 2, kLog = 5, kBitcode = 6, kRelocatable = 7, kExecutable = 8, kBytes = 9;

void* library = nullptr;
template <typename... Arguments>
int Call(const char* name, Arguments... arguments) {
  const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library, name));
  if (function == nullptr) {
    std::printf("no %s\n", name);
    std::exit(3);
  }
  return function(arguments...);
}
void Need(int status, const char* what) {
  if (status == 0) return;
  std::printf("%s: status %d\n", what, status);
  std::exit(1);
}

Handle MakeData(int kind, const char* name, const std::string& bytes) {
  Handle data{};
  Need(Call("amd_comgr_create_data", kind, &data), "create_data");
  Need(Call("amd_comgr_set_data", data, bytes.size(), bytes.data()), "set_data");
  Need(Call("amd_comgr_set_data_name", data, name), "set_data_name");
  return data;
}
Handle MakeSet(const std::vector<Handle>& members) {
  Handle set{};
  Need(Call("amd_comgr_create_data_set", &set), "create_data_set");
  for (const Handle member : members) Need(Call("amd_comgr_data_set_add", set, member), "data_set_add");
  return set;
}
Handle First(Handle set, int kind) {
  Handle data{};
  Need(Call("amd_comgr_action_data_get_data", set, kind, size_t{0}, &data), "get first");
  return data;
}
std::string Bytes(Handle data) {
  size_t size = 0;
  Need(Call("amd_comgr_get_data", data, &size, static_cast<char*>(nullptr)), "size");
  std::string bytes(size, '\0');
  Need(Call("amd_comgr_get_data", data, &size, bytes.data()), "bytes");
  return bytes;
}
std::string Text(Handle node) {
  size_t size = 0;
  Need(Call("amd_comgr_get_metadata_string", node, &size, static_cast<char*>(nullptr)), "text's size");
  std::string text(size, '\0');
  Need(Call("amd_comgr_get_metadata_string", node, &size, text.data()), "text");
  text.resize(size - 1);
  return text;
}
Handle Lookup(Handle node, const char* key) {
  Handle value{};
  Need(Call("amd_comgr_metadata_lookup", node, key, &value), key);
  return value;
}

Handle info;
Handle Act(int kind, Handle input, int expected = 0) {
  const Handle result = MakeSet({});
  const int status = Call("amd_comgr_do_action", kind, info, input, result);
  if (status != expected) {
    std::printf("action %d: status %d instead of %d: %s\n", kind, status, expected, Bytes(First(result, kLog)).c_str());
    std::exit(1);
  }
  return result;
}
void SetOptions(std::vector<const char*> options) {
  Need(Call("amd_comgr_action_info_set_option_list", info, options.data(), options.size()), "options");
}

std::string code;
uint64_t ReadCode(uint64_t address, char* to, uint64_t size, void*) {
  if (address >= code.size()) return 0;
  const uint64_t n = std::min<uint64_t>(size, code.size() - address);
  std::memcpy(to, code.data() + address, n);
  return n;
}
void PrintInstruction(const char* text, void*) { std::printf("instruction%s\n", text); }
void PrintTarget(uint64_t address, void*) { std::printf("leads to %llu\n", static_cast<unsigned long long>(address)); }
int PrintSymbol(Handle symbol, void*) {
  size_t length = 0;
  Need(Call("amd_comgr_symbol_get_info", symbol, 0, static_cast<void*>(&length)), "length");
  std::string name(length + 1, '\0');
  Need(Call("amd_comgr_symbol_get_info", symbol, 1, static_cast<void*>(name.data())), "name");
  int type = -2;
  Need(Call("amd_comgr_symbol_get_info", symbol, 2, static_cast<void*>(&type)), "type");
  std::printf("symbol %s type %d\n", name.c_str(), type);
  return 0;
}

constexpr const char* kProgram = R"(
#include "scale.h"
extern "C" __attribute__((device, const)) float __ocml_exp2_f32(float);
extern "C" __attribute__((global)) void scale(float* a) { a[__builtin_amdgcn_workitem_id_x()] = __ocml_exp2_f32(SCALE); }
)";

}  // namespace

// comgr LIBRARY TARGET OUTPUT: writes the code object of a HIP program to OUTPUT.
int main(int count, char** arguments) {
  if (count != 4 || (library = dlopen(arguments[1], RTLD_NOW)) == nullptr) {
    std::printf("usage, or %s\n", dlerror());
    return 2;
  }
  size_t major = 0, minor = 0;
  reinterpret_cast<void (*)(size_t*, size_t*)>(dlsym(library, "amd_comgr_get_version"))(&major, &minor);
  std::printf("version %zu.%zu\n", major, minor);
  const bool is_3 = major == 3;
  // Numbers differ between the versions.
  const int hip = is_3 ? 3 : 4;
  const int compile_with_libraries = is_3 ? 12 : 15, to_relocatable = is_3 ? 4 : 6, to_assembly = is_3 ? 5 : 7;
  const int link = is_3 ? 7 : 9, assemble = is_3 ? 8 : 10, disassemble = is_3 ? 10 : 12,
            bytes_to_source = is_3 ? 11 : 13;
  const int unsupported = is_3 ? 19 : 14;

  const std::string isa = std::string("amdgcn-amd-amdhsa--") + arguments[2];
  Need(Call("amd_comgr_create_action_info", &info), "create_action_info");
  Need(Call("amd_comgr_action_info_set_language", info, hip), "language");
  Need(Call("amd_comgr_action_info_set_isa_name", info, isa.c_str()), "isa");
  Need(Call("amd_comgr_action_info_set_logging", info, true), "logging");
  const char* const wrong[] = {"amdgcn-amd-amdhsa--gfx9999", "gfx942", "amdgcn-amd-amdhsa--gfx942:wave32+", "----"};
  for (const char* name : wrong) {
    std::printf("isa %s: %d\n", name, Call("amd_comgr_action_info_set_isa_name", info, name));
  }

  SetOptions({"-nogpuinc", "-std=c++17"});
  const Handle source = MakeData(kSource, "program.hip", kProgram);
  const Handle header = MakeData(kInclude, "scale.h", "#define SCALE 3.0f\n");
  const Handle bitcode = Act(compile_with_libraries, MakeSet({source, header}));
  SetOptions({"-O3", "-mllvm", "-amdgpu-internalize-symbols"});
  const Handle relocatable = Act(to_relocatable, bitcode);
  SetOptions({});
  const Handle executable = Act(link, relocatable);
  code = Bytes(First(executable, kExecutable));
  std::FILE* const file = std::fopen(arguments[3], "wb");
  std::fwrite(code.data(), 1, code.size(), file);
  std::fclose(file);

  const Handle object = First(executable, kExecutable);
  size_t size = 0;
  Need(Call("amd_comgr_get_data_isa_name", object, &size, static_cast<char*>(nullptr)), "isa's size");
  std::string name(size, '\0');
  Need(Call("amd_comgr_get_data_isa_name", object, &size, name.data()), "isa");
  std::printf("made for %s\n", name.c_str());
  Need(Call("amd_comgr_iterate_symbols", object, &PrintSymbol, static_cast<void*>(nullptr)), "symbols");
  Handle root{}, kernel{};
  Need(Call("amd_comgr_get_data_metadata", object, &root), "metadata");
  Need(Call("amd_comgr_index_list_metadata", Lookup(root, "amdhsa.kernels"), size_t{0}, &kernel), "kernel");
  std::printf("kernel %s, %s bytes of arguments\n", Text(Lookup(kernel, ".name")).c_str(),
              Text(Lookup(kernel, ".kernarg_segment_size")).c_str());
  Handle limits{};
  Need(Call("amd_comgr_get_isa_metadata", isa.c_str(), &limits), "isa metadata");
  std::printf("%s: %s bytes of LDS\n", Text(Lookup(limits, "Processor")).c_str(),
              Text(Lookup(limits, "LocalMemorySize")).c_str());

  const std::string assembly = Bytes(First(Act(to_assembly, bitcode), kSource));
  std::printf("assembly has s_endpgm: %d\n", assembly.find("s_endpgm") != std::string::npos);
  const Handle text = MakeData(kSource, "a.s", assembly);
  const Handle again = Act(link, Act(assemble, MakeSet({text})));
  std::printf("assembled: %zu bytes\n", Bytes(First(again, kExecutable)).size());
  const std::string listing = Bytes(First(Act(disassemble, executable), kSource));
  std::printf("listing has s_endpgm: %d\n", listing.find("s_endpgm") != std::string::npos);

  // s_branch 1, s_nop 0, s_endpgm, a word that is no instruction
  code = std::string("\x01\x00\x82\xbf\x00\x00\x80\xbf\x00\x00\x81\xbf\xff\xff\xff\xff", 16);
  std::printf("bytes:%s", Bytes(First(Act(bytes_to_source, MakeSet({MakeData(kBytes, "b", code)})), kSource)).c_str());
  Handle reader{};
  Need(Call("amd_comgr_create_disassembly_info", isa.c_str(), &ReadCode, &PrintInstruction, &PrintTarget, &reader),
       "disassembly");
  uint64_t length = 0;
  for (uint64_t at = 0; at < code.size(); at += length) {
    const int status = Call("amd_comgr_disassemble_instruction", reader, at, static_cast<void*>(nullptr), &length);
    if (status != 0) std::printf("at %llu: status %d\n", static_cast<unsigned long long>(at), status), length = 4;
  }

  // What goes wrong is said: sources with an error, no input, damaged inputs, handles that are gone.
  const Handle broken = MakeSet({MakeData(kSource, "broken.hip", "int x = ;\n")});
  std::printf("log: %s", Bytes(First(Act(compile_with_libraries, broken, 1), kLog)).c_str());
  Act(link, MakeSet({}), 2);
  Act(link, MakeSet({MakeData(kRelocatable, "x.o", "no object")}), 1);
  Act(to_relocatable, MakeSet({MakeData(kBitcode, "x.bc", "no bitcode")}), 1);
  Act(disassemble,
      MakeSet({MakeData(kExecutable, "x",
                        "\x7f"
                        "ELF")}),
      1);
  Act(unsupported, bitcode, 2);
  const Handle damaged = MakeData(kExecutable, "x",
                                  "\x7f"
                                  "ELF and no more");
  std::printf("damaged: %d\n", Call("amd_comgr_get_data_metadata", damaged, &root));
  Need(Call("amd_comgr_release_data", damaged), "release");
  std::printf("gone: %d %d\n", Call("amd_comgr_release_data", damaged),
              Call("amd_comgr_data_set_add", broken, damaged));
  return 0;
}
