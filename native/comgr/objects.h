// What the handles of the interface stand for.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "comgr/abi.h"

namespace wavesmith::comgr {

struct Data {
  Data(DataKind of, std::string called, std::string content)
      : kind(of), name(std::move(called)), bytes(std::move(content)) {}
  explicit Data(DataKind of) : kind(of) {}

  uint64_t handle = 0;
  int references = 0;  // by the program; data sets hold the object besides
  DataKind kind;
  std::optional<std::string> name;
  std::optional<std::string> bytes;
  std::vector<std::string> mangled_names;
};

struct DataSet {
  std::vector<std::shared_ptr<Data>> members;

  std::vector<std::shared_ptr<Data>> OfKind(DataKind kind) const;
};

struct ActionInfo {
  Language language = Language::kNone;
  std::string isa_name;
  std::string path;
  std::vector<std::string> options;
  std::vector<std::string> bundle_entries;
  std::string option_line;  // version 2's options in one string
  bool has_logging = false;
  bool links_device_libraries = false;
};

// Objects by handle. A handle is never given twice, so one that was destroyed is found to be none.
template <typename T>
class Registry {
 public:
  Handle Add(std::shared_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    objects_[++last_] = std::move(object);
    return {last_};
  }
  std::shared_ptr<T> Find(Handle handle) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(handle.handle);
    return found == objects_.end() ? nullptr : found->second;
  }
  bool Remove(Handle handle) {
    const std::lock_guard lock(mutex_);
    return objects_.erase(handle.handle) == 1;
  }

 private:
  mutable std::mutex mutex_;
  std::map<uint64_t, std::shared_ptr<T>> objects_;
  uint64_t last_ = 0;
};

// Data is found by its handle as long as the program has a reference or a set has it.
std::shared_ptr<Data> FindData(Handle handle);
// A reference for the program; the handle is the object's own.
Handle Refer(const std::shared_ptr<Data>& data);
// Gives a reference back. False when there is none.
bool Release(Handle handle);

Registry<DataSet>& Sets();
Registry<ActionInfo>& ActionInfos();

// Answers a query for a text or bytes: without room its size, else as much of it as `*size` has room for.
Status Answer(const std::string& content, size_t* size, char* room);

// A text's characters with the zero that ends it.
std::string WithEnd(const std::string& text);

}  // namespace wavesmith::comgr
