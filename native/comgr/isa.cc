// The targets and their limits. Sources: LLVM 22's AMDGPUTargetParser and SubtargetFeatures; the entries' names are those of comgr's ISA metadata.
#include "comgr/isa.h"

#include <algorithm>

namespace wavesmith::comgr {
namespace {

struct Isa {
  const char* processor;
  const char* local_memory;  // bytes a workgroup processor
  const char* has_images;
};
constexpr Isa kIsas[] = {{"gfx90a", "65536", "1"}, {"gfx942", "65536", "0"}, {"gfx950", "163840", "0"}};
constexpr const char* kPrefix = "amdgcn-amd-amdhsa--";

}  // namespace

std::string IsaName::TargetId() const {
  std::string id = processor;
  for (const auto& [name, is_on] : features) id += ":" + name + (is_on ? "+" : "-");
  return id;
}

std::optional<IsaName> ReadIsaName(const std::string& text) {
  std::string parts[5];
  size_t at = 0;
  for (size_t n = 0; n < 4; n++) {
    const size_t dash = text.find('-', at);
    if (dash == std::string::npos) return std::nullopt;
    parts[n] = text.substr(at, dash - at);
    at = dash + 1;
  }
  IsaName name{parts[0], parts[1], parts[2], parts[3], "", {}};
  const bool is_known_system = name.architecture == "amdgcn" && name.vendor == "amd" && name.system == "amdhsa";
  if (!is_known_system || (!name.environment.empty() && name.environment != "unknown")) return std::nullopt;
  std::string rest = text.substr(at);
  name.processor = rest.substr(0, rest.find(':'));
  if (std::none_of(std::begin(kIsas), std::end(kIsas), [&](const Isa& isa) { return name.processor == isa.processor; }))
    return std::nullopt;
  for (size_t colon = rest.find(':'); colon != std::string::npos;) {
    const size_t next = rest.find(':', colon + 1);
    const std::string feature =
        rest.substr(colon + 1, next == std::string::npos ? std::string::npos : next - colon - 1);
    const std::string stem = feature.substr(0, feature.empty() ? 0 : feature.size() - 1);
    const bool has_sign = feature.ends_with('+') || feature.ends_with('-');
    if (!has_sign || (stem != "sramecc" && stem != "xnack")) return std::nullopt;
    name.features.emplace_back(stem, feature.ends_with('+'));
    colon = next;
  }
  return name;
}

const std::vector<std::string>& IsaNames() {
  static const auto& names = *[] {
    auto* const made = new std::vector<std::string>;
    for (const Isa& isa : kIsas) made->push_back(std::string(kPrefix) + isa.processor);
    return made;
  }();
  return names;
}

Node IsaMetadata(const std::string& text, const IsaName& name) {
  // A name that was read is of one of them.
  const Isa* of = std::begin(kIsas);
  for (const Isa& candidate : kIsas) {
    if (name.processor == candidate.processor) of = &candidate;
  }
  const Isa& isa = *of;
  Node features = Node::Map();
  for (const char* const feature : {"sramecc", "xnack"}) {
    const auto stated = std::find_if(name.features.begin(), name.features.end(),
                                     [&](const auto& entry) { return entry.first == feature; });
    features.Put(feature, Node::Text(stated == name.features.end() ? "any" : (stated->second ? "on" : "off")));
  }
  Node root = Node::Map();
  const std::pair<const char*, std::string> entries[] = {
      {"Name", text},
      {"Architecture", name.architecture},
      {"Vendor", name.vendor},
      {"OS", name.system},
      {"Environment", name.environment},
      {"Processor", name.processor},
      {"Version", "1.0.0"},
      {"TrapHandlerEnabled", "1"},
      {"ImageSupport", isa.has_images},
      {"LocalMemorySize", isa.local_memory},
      {"LDSBankCount", "32"},
      {"EUsPerCU", "4"},
      {"MaxWavesPerCU", "32"},
      {"MaxFlatWorkGroupSize", "1024"},
      {"SGPRAllocGranule", "16"},
      {"TotalNumSGPRs", "800"},
      {"AddressableNumSGPRs", "102"},
      {"VGPRAllocGranule", "8"},
      {"TotalNumVGPRs", "512"},
      {"AddressableNumVGPRs", "512"},
  };
  for (const auto& [key, value] : entries) root.Put(key, Node::Text(value));
  root.Put("Features", std::move(features));
  return root;
}

}  // namespace wavesmith::comgr
