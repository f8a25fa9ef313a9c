// Sockets of Wavesmith's processes. Sources: unix(7) (abstract addresses), fork(2), pthread_sigmask(3).
#include "common/channel.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace wavesmith {

Writer& Writer::Raw(const void* data, size_t size) {
  const size_t at = bytes_.size();
  bytes_.resize(at + size);
  if (size > 0) std::memcpy(bytes_.data() + at, data, size);
  return *this;
}

Writer& Writer::Text(std::string_view text) {
  Put(static_cast<uint32_t>(text.size()));
  return Raw(text.data(), text.size());
}

const uint8_t* Reader::Take(size_t size) {
  if (!ok_ || size > bytes_.size() - at_) {
    ok_ = false;
    return nullptr;
  }
  const uint8_t* p = bytes_.data() + at_;
  at_ += size;
  return p;
}

std::string Reader::Text() {
  const uint32_t size = Get<uint32_t>();
  const uint8_t* p = Take(size);
  return p == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(p), size);
}

std::string Reader::Rest() {
  const size_t size = bytes_.size() - at_;
  const uint8_t* p = Take(size);
  return p == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(p), size);
}

namespace {

constexpr uint32_t kReplyType = static_cast<uint32_t>(MessageType::kReply);
constexpr uint32_t kErrorType = static_cast<uint32_t>(MessageType::kError);

bool ReadAll(int fd, void* data, size_t size) {
  auto* p = static_cast<uint8_t*>(data);
  while (size > 0) {
    const ssize_t n = recv(fd, p, size, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    p += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

bool WriteAll(int fd, const void* data, size_t size) {
  const auto* p = static_cast<const uint8_t*>(data);
  while (size > 0) {
    const ssize_t n = send(fd, p, size, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    p += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

// A path, or `@name` for an abstract address: the name padded with zeros to the whole field, as Node binds it.
int ConnectTo(const char* variable, const char* path, std::string* why) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const size_t length = std::strlen(path);
  if (length == 0 || length >= sizeof address.sun_path) {
    *why = std::string(variable) + " is not a usable socket address.";
    return -1;
  }
  std::memcpy(address.sun_path, path, length);
  if (path[0] == '@') address.sun_path[0] = '\0';
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    *why = std::string("socket: ") + std::strerror(errno);
    return -1;
  }
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    *why = std::string("no process of Wavesmith answers at ") + path + " (" + std::strerror(errno) +
           "); it may have ended.";
    close(fd);
    return -1;
  }
  return fd;
}

}  // namespace

Channel* Channel::Connect(const char* variable, std::string* why) {
  const char* const path = std::getenv(variable);
  if (path == nullptr) {
    *why = std::string(variable) + " is not set.";
    return nullptr;
  }
  const int fd = ConnectTo(variable, path, why);
  if (fd < 0) return nullptr;
  auto* const channel = new Channel;
  channel->socket_ = fd;
  channel->owner_ = getpid();
  channel->alive_.store(true, std::memory_order_release);
  return channel;
}

void Channel::Start(std::function<void(uint32_t, const Bytes&)> on_event, std::function<void()> on_death) {
  on_event_ = std::move(on_event);
  on_death_ = std::move(on_death);
  // Signals are the program's: its handlers run on its own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  listener_ = std::thread([this] { Listen(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Channel::~Channel() {
  // The thread and the connection are the parent's in a forked child.
  if (getpid() != owner_) {
    if (listener_.joinable()) listener_.detach();
    close(socket_);
    return;
  }
  shutdown(socket_, SHUT_RDWR);
  if (listener_.joinable()) {
    if (listener_.get_id() == std::this_thread::get_id()) {
      listener_.detach();
    } else {
      listener_.join();
    }
  }
  close(socket_);
}

bool Channel::alive() const { return alive_.load(std::memory_order_acquire) && getpid() == owner_; }

bool Channel::Send(uint32_t type, uint64_t id, std::initializer_list<Part> parts) {
  size_t size = 0;
  for (const Part& part : parts) size += part.size;
  if (size > kMaxPayload) return false;
  const MessageHeader header{static_cast<uint32_t>(size), type, id};
  // Short messages go in one write: a doorbell is one system call.
  constexpr size_t kShort = 256;
  uint8_t message[sizeof header + kShort];
  std::memcpy(message, &header, sizeof header);
  if (size <= kShort) {
    uint8_t* at = message + sizeof header;
    for (const Part& part : parts) at = std::copy_n(static_cast<const uint8_t*>(part.data), part.size, at);
    const std::lock_guard lock(send_mutex_);
    return WriteAll(socket_, message, sizeof header + size);
  }
  const std::lock_guard lock(send_mutex_);
  return WriteAll(socket_, message, sizeof header) && std::all_of(parts.begin(), parts.end(), [&](const Part& part) {
           return WriteAll(socket_, part.data, part.size);
         });
}

RawAnswer Channel::Request(uint32_t type, std::initializer_list<Part> parts) {
  Pending pending;
  if (!alive()) return {};
  uint64_t id;
  {
    const std::lock_guard lock(pending_mutex_);
    id = next_id_++;
    pending_[id] = &pending;
  }
  const bool sent = Send(type, id, parts);
  std::unique_lock lock(pending_mutex_);
  if (sent) answered_.wait(lock, [&] { return pending.done || !alive_.load(std::memory_order_acquire); });
  pending_.erase(id);
  return std::move(pending.answer);
}

bool Channel::Notify(uint32_t type, std::initializer_list<Part> parts) { return alive() && Send(type, 0, parts); }

void Channel::Listen() {
  for (;;) {
    MessageHeader header{};
    Bytes payload;
    if (!ReadAll(socket_, &header, sizeof header) || header.size > kMaxPayload) break;
    payload.resize(header.size);
    if (!ReadAll(socket_, payload.data(), payload.size())) break;
    if (header.type != kReplyType && header.type != kErrorType) {
      on_event_(header.type, payload);
      continue;
    }
    const std::lock_guard lock(pending_mutex_);
    const auto found = pending_.find(header.id);
    if (found == pending_.end()) continue;
    found->second->answer = {header.type == kReplyType, header.type == kErrorType, std::move(payload)};
    found->second->done = true;
    answered_.notify_all();
  }
  {
    const std::lock_guard lock(pending_mutex_);
    alive_.store(false, std::memory_order_release);
    answered_.notify_all();
  }
  on_death_();
}

}  // namespace wavesmith
