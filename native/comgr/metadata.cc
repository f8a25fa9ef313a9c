// Metadata of instruction sets and code objects. Sources: amd_comgr.h; LLVM AMDGPUUsage, "Code Object V3 and Above Metadata".
#include "comgr/metadata.h"

#include "comgr/elf.h"
#include "comgr/isa.h"
#include "comgr/objects.h"
#include "common/msgpack.h"

namespace wavesmith::comgr {
namespace {

constexpr int kMaxDepth = 16;

Node ReadValue(MessagePack& m, int depth) {
  Node node;
  if (depth > kMaxDepth) {
    m.Skip();
    return node;
  }
  switch (m.Next()) {
    case MessagePack::Kind::kMap:
      node = Node::Map();
      for (uint64_t n = m.Map(); n > 0 && m.ok(); n--) {
        Node key = ReadValue(m, depth + 1);
        Node value = ReadValue(m, depth + 1);
        node.map.push_back({std::move(key), std::move(value)});
      }
      return node;
    case MessagePack::Kind::kArray:
      node.kind = Node::Kind::kList;
      for (uint64_t n = m.Array(); n > 0 && m.ok(); n--) node.list.push_back(ReadValue(m, depth + 1));
      return node;
    case MessagePack::Kind::kScalar:
      return Node::Text(m.ScalarText());
    default:
      m.Skip();
      return node;
  }
}

Registry<const Node>& Nodes() {
  static auto& nodes = *new Registry<const Node>;
  return nodes;
}

// A part of a tree holds the whole of it.
Handle AddPart(const std::shared_ptr<const Node>& whole, const Node& part) {
  return Nodes().Add(std::shared_ptr<const Node>(whole, &part));
}

}  // namespace

Node Node::Text(std::string of) {
  Node node;
  node.kind = Kind::kText;
  node.text = std::move(of);
  return node;
}
Node Node::Map() {
  Node node;
  node.kind = Kind::kMap;
  return node;
}
void Node::Put(const std::string& key, Node value) { map.push_back({Text(key), std::move(value)}); }

bool ReadNode(const std::string& bytes, Node* root) {
  MessagePack m(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  *root = ReadValue(m, 0);
  return m.ok();
}

}  // namespace wavesmith::comgr

using namespace wavesmith::comgr;  // NOLINT: the C API's definitions follow

namespace {

std::shared_ptr<const Node> FindNode(Handle handle, Node::Kind kind) {
  const auto found = Nodes().Find(handle);
  return found != nullptr && found->kind == kind ? found : nullptr;
}

}  // namespace

WAVESMITH_COMGR Status amd_comgr_get_isa_count(size_t* count) {
  if (count == nullptr) return Status::kInvalidArgument;
  *count = IsaNames().size();
  return Status::kSuccess;
}
WAVESMITH_COMGR Status amd_comgr_get_isa_name(size_t index, const char** name) {
  if (name == nullptr || index >= IsaNames().size()) return Status::kInvalidArgument;
  *name = IsaNames()[index].c_str();
  return Status::kSuccess;
}
WAVESMITH_COMGR Status amd_comgr_get_isa_metadata(const char* text, Handle* node) {
  if (text == nullptr || node == nullptr) return Status::kInvalidArgument;
  const auto name = ReadIsaName(text);
  if (!name) return Status::kInvalidArgument;
  *node = Nodes().Add(std::make_shared<const Node>(IsaMetadata(text, *name)));
  return Status::kSuccess;
}

WAVESMITH_COMGR Status amd_comgr_get_data_metadata(Handle data, Handle* node) {
  const auto found = FindData(data);
  if (found == nullptr || !found->bytes || node == nullptr) return Status::kInvalidArgument;
  const auto elf = Elf::Read(*found->bytes);
  if (!elf) return Status::kError;
  Node root;
  if (const auto note = elf->MetadataNote(); note && !ReadNode(*note, &root)) return Status::kError;
  *node = Nodes().Add(std::make_shared<const Node>(std::move(root)));
  return Status::kSuccess;
}
WAVESMITH_COMGR Status amd_comgr_destroy_metadata(Handle node) {
  return Nodes().Remove(node) ? Status::kSuccess : Status::kInvalidArgument;
}

WAVESMITH_COMGR Status amd_comgr_get_metadata_kind(Handle node, int* kind) {
  const auto found = Nodes().Find(node);
  if (found == nullptr || kind == nullptr) return Status::kInvalidArgument;
  *kind = static_cast<int>(found->kind);
  return Status::kSuccess;
}
WAVESMITH_COMGR Status amd_comgr_get_metadata_string(Handle node, size_t* size, char* text) {
  const auto found = FindNode(node, Node::Kind::kText);
  return found == nullptr ? Status::kInvalidArgument : Answer(WithEnd(found->text), size, text);
}
WAVESMITH_COMGR Status amd_comgr_get_metadata_map_size(Handle node, size_t* size) {
  const auto found = FindNode(node, Node::Kind::kMap);
  if (found == nullptr || size == nullptr) return Status::kInvalidArgument;
  *size = found->map.size();
  return Status::kSuccess;
}
WAVESMITH_COMGR Status amd_comgr_iterate_map_metadata(Handle node, Status (*callback)(Handle, Handle, void*),
                                                      void* context) {
  const auto found = FindNode(node, Node::Kind::kMap);
  if (found == nullptr || callback == nullptr) return Status::kInvalidArgument;
  for (const auto& [key, value] : found->map) {
    const Handle handles[] = {AddPart(found, key), AddPart(found, value)};
    const Status status = callback(handles[0], handles[1], context);
    for (const Handle handle : handles) Nodes().Remove(handle);
    if (status != Status::kSuccess) return status;
  }
  return Status::kSuccess;
}
WAVESMITH_COMGR Status amd_comgr_metadata_lookup(Handle node, const char* key, Handle* value) {
  const auto found = FindNode(node, Node::Kind::kMap);
  if (found == nullptr || key == nullptr || value == nullptr) return Status::kInvalidArgument;
  for (const auto& [name, content] : found->map) {
    if (name.kind != Node::Kind::kText || name.text != key) continue;
    *value = AddPart(found, content);
    return Status::kSuccess;
  }
  return Status::kError;
}
WAVESMITH_COMGR Status amd_comgr_get_metadata_list_size(Handle node, size_t* size) {
  const auto found = FindNode(node, Node::Kind::kList);
  if (found == nullptr || size == nullptr) return Status::kInvalidArgument;
  *size = found->list.size();
  return Status::kSuccess;
}
WAVESMITH_COMGR Status amd_comgr_index_list_metadata(Handle node, size_t index, Handle* value) {
  const auto found = FindNode(node, Node::Kind::kList);
  if (found == nullptr || index >= found->list.size() || value == nullptr) return Status::kInvalidArgument;
  *value = AddPart(found, found->list[index]);
  return Status::kSuccess;
}
