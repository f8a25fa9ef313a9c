// A program's connection to its device process: the socket, the shared memory window, requests and events. Thread safe.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/protocol.h"

namespace wavesmith {

using Bytes = std::vector<uint8_t>;

// Appends the bytes of plain values.
class Writer {
 public:
  template <typename T>
  Writer& Put(const T& value) {
    return Raw(&value, sizeof value);
  }
  Writer& Raw(const void* data, size_t size);
  const Bytes& bytes() const { return bytes_; }

 private:
  Bytes bytes_;
};

// Reads plain values; a read past the end makes `ok` false and gives zeros.
class Reader {
 public:
  explicit Reader(const Bytes& bytes) : bytes_(bytes) {}
  template <typename T>
  T Get() {
    T value{};
    if (const uint8_t* p = Take(sizeof value)) __builtin_memcpy(&value, p, sizeof value);
    return value;
  }
  // u32 length and bytes.
  std::string Text();
  // Everything left.
  std::string Rest();
  bool ok() const { return ok_; }

 private:
  const uint8_t* Take(size_t size);

  const Bytes& bytes_;
  size_t at_ = 0;
  bool ok_ = true;
};

// The answer to a request. `error` is set when the device refused or has ended.
struct Answer {
  bool ok = false;
  ErrorCode error = ErrorCode::kBadMessage;
  std::string text;
  Bytes payload;
};

struct DeviceInfo {
  HelloReply hello{};
  std::string target;
  std::string name;
};

struct Fault {
  uint64_t queue;
  FaultKind kind;
  uint64_t address;
  std::string text;
};

class Client {
 public:
  // Connects through WAVESMITH_SOCKET and maps the window. On failure `why` says what to do.
  static Client* Connect(std::string* why);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const DeviceInfo& info() const { return info_; }
  // Descriptor of the memfd in this process.
  int memory_fd() const { return memory_fd_; }
  bool InWindow(const void* address) const;
  // False once the device process has ended.
  bool alive() const { return alive_.load(std::memory_order_acquire); }

  Answer Request(MessageType type, const Bytes& payload);
  // A message without an answer (kDoorbell, kKick). False when the device has ended.
  bool Notify(MessageType type, const Bytes& payload);

  // Called on the connection's thread, outside all its locks.
  void OnFault(std::function<void(const Fault&)> handler);
  void OnDeath(std::function<void()> handler);

 private:
  Client() = default;
  bool Hello(std::string* why);
  bool MapWindow(std::string* why);
  bool Send(MessageType type, uint64_t id, const Bytes& payload);
  void Listen();
  void Died();

  struct Pending {
    bool done = false;
    Answer answer;
  };

  int socket_ = -1;
  int memory_fd_ = -1;
  DeviceInfo info_;
  std::atomic<bool> alive_{false};
  std::mutex send_mutex_;
  std::mutex pending_mutex_;
  std::condition_variable answered_;
  std::map<uint64_t, Pending*> pending_;
  uint64_t next_id_ = 1;
  std::mutex handler_mutex_;
  std::function<void(const Fault&)> on_fault_;
  std::function<void()> on_death_;
  std::thread listener_;
};

// Sleeping on signals (futex shared between processes) ---------------------------------------------------------------------------------

// Says that a signal's value changed: counts and wakes sleepers in every process; the device is told by kKick where it waits.
void SignalChanged(Client* client, Signal* signal);
// Sleeps until the signal changes from `seen` (a value of `futex`) or `nanoseconds` have passed.
void SignalSleep(Signal* signal, uint32_t seen, uint64_t nanoseconds);

}  // namespace wavesmith
