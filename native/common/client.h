// A program's connection to its device process: the socket, the shared memory window, requests and events. Thread safe.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "common/channel.h"

namespace wavesmith {

// The answer to a request.
struct Answer {
  bool ok = false;
  // The device answered with an error; otherwise, when not `ok`, it has ended.
  bool refused = false;
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
  bool alive() const { return channel_->alive(); }

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
  void Event(uint32_t type, const Bytes& payload);
  void Died();

  std::unique_ptr<Channel> channel_;
  int memory_fd_ = -1;
  DeviceInfo info_;
  std::mutex handler_mutex_;
  std::function<void(const Fault&)> on_fault_;
  std::function<void()> on_death_;
};

// Sleeping on signals (futex shared between processes) ---------------------------------------------------------------------------------

// Says that a signal's value changed: counts and wakes sleepers in every process; the device is told by kKick where it waits.
void SignalChanged(Client* client, Signal* signal);
// Sleeps until the signal changes from `seen` (a value of `futex`) or `nanoseconds` have passed.
void SignalSleep(Signal* signal, uint32_t seen, uint64_t nanoseconds);

}  // namespace wavesmith
