// Data objects and sets of them. Source: amd_comgr.h.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "comgr/objects.h"

using namespace wavesmith::comgr;  // NOLINT: the C API's definitions follow

namespace {

bool IsKind(int kind) {
  return (kind >= static_cast<int>(DataKind::kSource) && kind <= static_cast<int>(DataKind::kBytes)) ||
         (kind >= static_cast<int>(DataKind::kFatbin) && kind <= static_cast<int>(DataKind::kSpirv));
}

}  // namespace

WAVESMITH_COMGR Status amd_comgr_status_string(int status, const char** text) {
  constexpr const char* kNames[] = {"SUCCESS", "ERROR", "INVALID_ARGUMENT", "OUT_OF_RESOURCES"};
  if (text == nullptr || status < 0 || static_cast<size_t>(status) >= std::size(kNames)) {
    return Status::kInvalidArgument;
  }
  *text = kNames[status];
  return Status::kSuccess;
}

WAVESMITH_COMGR Status amd_comgr_create_data(int kind, Handle* data) {
  if (data == nullptr || !IsKind(kind)) return Status::kInvalidArgument;
  *data = Refer(std::make_shared<Data>(static_cast<DataKind>(kind)));
  return Status::kSuccess;
}
WAVESMITH_COMGR Status amd_comgr_release_data(Handle data) {
  return Release(data) ? Status::kSuccess : Status::kInvalidArgument;
}
WAVESMITH_COMGR Status amd_comgr_get_data_kind(Handle data, int* kind) {
  const auto found = FindData(data);
  if (kind == nullptr) return Status::kInvalidArgument;
  *kind = static_cast<int>(found == nullptr ? DataKind::kUndefined : found->kind);
  return found == nullptr ? Status::kInvalidArgument : Status::kSuccess;
}

WAVESMITH_COMGR Status amd_comgr_set_data(Handle data, size_t size, const char* bytes) {
  const auto found = FindData(data);
  if (found == nullptr || size == 0 || bytes == nullptr) return Status::kInvalidArgument;
  found->bytes = std::string(bytes, size);
  found->mangled_names.clear();
  return Status::kSuccess;
}
WAVESMITH_COMGR Status amd_comgr_set_data_from_file_slice(Handle data, int file, uint64_t offset, uint64_t size) {
  const auto found = FindData(data);
  struct stat about;
  if (found == nullptr || size == 0 || fstat(file, &about) != 0) return Status::kInvalidArgument;
  const auto length = static_cast<uint64_t>(about.st_size);
  if (offset > length || size > length - offset) return Status::kInvalidArgument;
  std::string bytes(size, '\0');
  for (uint64_t done = 0; done < size;) {
    const ssize_t n = pread(file, bytes.data() + done, size - done, static_cast<off_t>(offset + done));
    if (n <= 0) return Status::kError;
    done += static_cast<uint64_t>(n);
  }
  found->bytes = std::move(bytes);
  found->mangled_names.clear();
  return Status::kSuccess;
}
WAVESMITH_COMGR Status amd_comgr_get_data(Handle data, size_t* size, char* bytes) {
  const auto found = FindData(data);
  if (found == nullptr || !found->bytes) return Status::kInvalidArgument;
  return Answer(*found->bytes, size, bytes);
}

WAVESMITH_COMGR Status amd_comgr_set_data_name(Handle data, const char* name) {
  const auto found = FindData(data);
  if (found == nullptr) return Status::kInvalidArgument;
  found->name = name == nullptr ? "" : name;
  return Status::kSuccess;
}
WAVESMITH_COMGR Status amd_comgr_get_data_name(Handle data, size_t* size, char* name) {
  const auto found = FindData(data);
  if (found == nullptr) return Status::kInvalidArgument;
  return Answer(WithEnd(found->name.value_or("")), size, name);
}

WAVESMITH_COMGR Status amd_comgr_create_data_set(Handle* set) {
  if (set == nullptr) return Status::kInvalidArgument;
  *set = Sets().Add(std::make_shared<DataSet>());
  return Status::kSuccess;
}
WAVESMITH_COMGR Status amd_comgr_destroy_data_set(Handle set) {
  return Sets().Remove(set) ? Status::kSuccess : Status::kInvalidArgument;
}
WAVESMITH_COMGR Status amd_comgr_data_set_add(Handle set, Handle data) {
  const auto into = Sets().Find(set);
  const auto added = FindData(data);
  if (into == nullptr || added == nullptr || !added->name) return Status::kInvalidArgument;
  if (std::find(into->members.begin(), into->members.end(), added) == into->members.end()) {
    into->members.push_back(added);
  }
  return Status::kSuccess;
}
WAVESMITH_COMGR Status amd_comgr_data_set_remove(Handle set, int kind) {
  const auto from = Sets().Find(set);
  if (from == nullptr || !IsKind(kind)) return Status::kInvalidArgument;
  std::erase_if(from->members,
                [&](const std::shared_ptr<Data>& data) { return data->kind == static_cast<DataKind>(kind); });
  return Status::kSuccess;
}
WAVESMITH_COMGR Status amd_comgr_action_data_count(Handle set, int kind, size_t* count) {
  const auto of = Sets().Find(set);
  if (of == nullptr || !IsKind(kind) || count == nullptr) return Status::kInvalidArgument;
  *count = of->OfKind(static_cast<DataKind>(kind)).size();
  return Status::kSuccess;
}
WAVESMITH_COMGR Status amd_comgr_action_data_get_data(Handle set, int kind, size_t index, Handle* data) {
  const auto of = Sets().Find(set);
  if (of == nullptr || !IsKind(kind) || data == nullptr) return Status::kInvalidArgument;
  const auto found = of->OfKind(static_cast<DataKind>(kind));
  if (index >= found.size()) return Status::kInvalidArgument;
  *data = Refer(found[index]);
  return Status::kSuccess;
}
