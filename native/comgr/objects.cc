#include "comgr/objects.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace wavesmith::comgr {
namespace {

std::mutex mutex;
// Never destroyed: programs release what they have in destructors of their own.
auto& data_objects = *new std::map<uint64_t, std::weak_ptr<Data>>;
auto& referred = *new std::map<uint64_t, std::shared_ptr<Data>>;
uint64_t last_handle = 0;

}  // namespace

std::vector<std::shared_ptr<Data>> DataSet::OfKind(DataKind kind) const {
  std::vector<std::shared_ptr<Data>> found;
  std::copy_if(members.begin(), members.end(), std::back_inserter(found),
               [&](const std::shared_ptr<Data>& data) { return data->kind == kind; });
  return found;
}

std::shared_ptr<Data> FindData(Handle handle) {
  const std::lock_guard lock(mutex);
  const auto found = data_objects.find(handle.handle);
  return found == data_objects.end() ? nullptr : found->second.lock();
}

Handle Refer(const std::shared_ptr<Data>& data) {
  const std::lock_guard lock(mutex);
  if (data->handle == 0) {
    std::erase_if(data_objects, [](const auto& entry) { return entry.second.expired(); });
    data->handle = ++last_handle;
    data_objects[data->handle] = data;
  }
  data->references++;
  referred[data->handle] = data;
  return {data->handle};
}

bool Release(Handle handle) {
  const std::lock_guard lock(mutex);
  const auto found = referred.find(handle.handle);
  if (found == referred.end()) return false;
  if (--found->second->references == 0) referred.erase(found);
  return true;
}

Registry<DataSet>& Sets() {
  static auto& sets = *new Registry<DataSet>;
  return sets;
}
Registry<ActionInfo>& ActionInfos() {
  static auto& infos = *new Registry<ActionInfo>;
  return infos;
}

Status Answer(const std::string& content, size_t* size, char* room) {
  if (size == nullptr) return Status::kInvalidArgument;
  if (room == nullptr) {
    *size = content.size();
  } else {
    *size = std::min(*size, content.size());
    std::memcpy(room, content.data(), *size);
  }
  return Status::kSuccess;
}

std::string WithEnd(const std::string& text) { return text + '\0'; }

}  // namespace wavesmith::comgr
