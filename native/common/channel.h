// A connection to a process of Wavesmith: messages over a Unix socket, requests with answers, messages without. Thread safe.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
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
  // u32 length and bytes.
  Writer& Text(std::string_view text);
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

// The answer to a request: a reply, a refusal (`refused`), or nothing because the other side has ended.
struct RawAnswer {
  bool ok = false;
  bool refused = false;
  Bytes payload;
};

// Some bytes of a message.
struct Part {
  const void* data;
  size_t size;
};

class Channel {
 public:
  // Connects to the address that an environment variable holds. On failure nullptr, and `why` says what to do.
  static Channel* Connect(const char* variable, std::string* why);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Messages that answer nothing, and the end of the connection: both on the channel's thread, outside all its locks. Called once, before the first
  // request.
  void Start(std::function<void(uint32_t type, const Bytes&)> on_event, std::function<void()> on_death);

  // False once the other side has ended, and in a child that was forked: the connection is its parent's.
  bool alive() const;

  RawAnswer Request(uint32_t type, std::initializer_list<Part> parts);
  // A message without an answer. False when the other side has ended.
  bool Notify(uint32_t type, std::initializer_list<Part> parts);

 private:
  Channel() = default;
  bool Send(uint32_t type, uint64_t id, std::initializer_list<Part> parts);
  void Listen();

  struct Pending {
    bool done = false;
    RawAnswer answer;
  };

  int socket_ = -1;
  int owner_ = -1;  // process
  std::atomic<bool> alive_{false};
  std::mutex send_mutex_;
  std::mutex pending_mutex_;
  std::condition_variable answered_;
  std::map<uint64_t, Pending*> pending_;
  uint64_t next_id_ = 1;
  std::function<void(uint32_t, const Bytes&)> on_event_;
  std::function<void()> on_death_;
  std::thread listener_;
};

}  // namespace wavesmith
