// The connection to the device process. Sources: unix(7) (abstract addresses), mmap(2) (MAP_FIXED_NOREPLACE), futex(2).
#include "common/client.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace wavesmith {

Writer& Writer::Raw(const void* data, size_t size) {
  const size_t at = bytes_.size();
  bytes_.resize(at + size);
  std::memcpy(bytes_.data() + at, data, size);
  return *this;
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
int ConnectTo(const char* path, std::string* why) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const size_t length = std::strlen(path);
  if (length == 0 || length >= sizeof address.sun_path) {
    *why = std::string(kSocketVariable) + " is not a usable socket address.";
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
    *why = std::string("no device process answers at ") + path + " (" + std::strerror(errno) +
           "); it may have ended: start the program with `wavesmith exec -- PROGRAM`.";
    close(fd);
    return -1;
  }
  return fd;
}

}  // namespace

Client* Client::Connect(std::string* why) {
  const char* path = std::getenv(kSocketVariable);
  if (path == nullptr) {
    *why = std::string(kSocketVariable) + " is not set: start the program with `wavesmith exec -- PROGRAM`.";
    return nullptr;
  }
  auto* client = new Client;
  client->socket_ = ConnectTo(path, why);
  if (client->socket_ < 0 || !client->Hello(why) || !client->MapWindow(why)) {
    delete client;
    return nullptr;
  }
  client->alive_.store(true, std::memory_order_release);
  client->listener_ = std::thread([client] { client->Listen(); });
  return client;
}

Client::~Client() {
  if (socket_ >= 0) shutdown(socket_, SHUT_RDWR);
  if (listener_.joinable()) {
    if (listener_.get_id() == std::this_thread::get_id()) {
      listener_.detach();
    } else {
      listener_.join();
    }
  }
  if (socket_ >= 0) close(socket_);
  if (memory_fd_ >= 0) close(memory_fd_);
}

bool Client::Hello(std::string* why) {
  const HelloRequest request{kProtocolVersion, static_cast<uint32_t>(getpid())};
  MessageHeader header{};
  Bytes payload;
  const bool answered = Send(MessageType::kHello, 0, Writer().Put(request).bytes()) &&
                        ReadAll(socket_, &header, sizeof header) && header.size <= kMaxPayload;
  if (answered) payload.resize(header.size);
  if (!answered || !ReadAll(socket_, payload.data(), payload.size())) {
    *why = "the device process refused the connection (it serves programs of its own user only).";
    return false;
  }
  Reader reader(payload);
  if (header.type != static_cast<uint32_t>(MessageType::kReply)) {
    reader.Get<uint32_t>();
    *why = reader.Rest();
    return false;
  }
  info_.hello = reader.Get<HelloReply>();
  info_.target = reader.Text();
  info_.name = reader.Text();
  if (!reader.ok() || info_.hello.version != kProtocolVersion) {
    *why = "the device process is of another version of Wavesmith.";
    return false;
  }
  return true;
}

bool Client::MapWindow(std::string* why) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%u/fd/%u", info_.hello.device_pid, info_.hello.memory_descriptor);
  memory_fd_ = open(path, O_RDWR | O_CLOEXEC);
  if (memory_fd_ < 0) {
    *why = std::string("cannot open the device's memory: ") + std::strerror(errno);
    return false;
  }
  void* const wanted = reinterpret_cast<void*>(info_.hello.window_address);
  void* const mapped = mmap(wanted, info_.hello.window_size, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE, memory_fd_, 0);
  if (mapped != wanted) {
    *why = std::string("cannot map the device's memory at its address: ") +
           std::strerror(mapped == MAP_FAILED ? errno : EEXIST);
    if (mapped != MAP_FAILED) munmap(mapped, info_.hello.window_size);
    return false;
  }
  return true;
}

bool Client::InWindow(const void* address) const {
  return reinterpret_cast<uint64_t>(address) - info_.hello.window_address < info_.hello.window_size;
}

bool Client::Send(MessageType type, uint64_t id, const Bytes& payload) {
  const MessageHeader header{static_cast<uint32_t>(payload.size()), static_cast<uint32_t>(type), id};
  // Short messages go in one write: a doorbell is one system call.
  if (payload.size() <= 64) {
    uint8_t message[sizeof header + 64];
    std::memcpy(message, &header, sizeof header);
    std::copy(payload.begin(), payload.end(), message + sizeof header);
    const std::lock_guard lock(send_mutex_);
    return WriteAll(socket_, message, sizeof header + payload.size());
  }
  const std::lock_guard lock(send_mutex_);
  return WriteAll(socket_, &header, sizeof header) && WriteAll(socket_, payload.data(), payload.size());
}

Answer Client::Request(MessageType type, const Bytes& payload) {
  Pending pending;
  uint64_t id;
  {
    const std::lock_guard lock(pending_mutex_);
    id = next_id_++;
    pending_[id] = &pending;
  }
  const bool sent = alive() && payload.size() <= kMaxPayload && Send(type, id, payload);
  std::unique_lock lock(pending_mutex_);
  if (sent) answered_.wait(lock, [&] { return pending.done || !alive(); });
  pending_.erase(id);
  if (!pending.done) pending.answer.text = "the device process has ended.";
  return std::move(pending.answer);
}

bool Client::Notify(MessageType type, const Bytes& payload) { return alive() && Send(type, 0, payload); }

void Client::OnFault(std::function<void(const Fault&)> handler) {
  const std::lock_guard lock(handler_mutex_);
  on_fault_ = std::move(handler);
}

void Client::OnDeath(std::function<void()> handler) {
  const std::lock_guard lock(handler_mutex_);
  on_death_ = std::move(handler);
}

void Client::Listen() {
  for (;;) {
    MessageHeader header{};
    Bytes payload;
    if (!ReadAll(socket_, &header, sizeof header) || header.size > kMaxPayload) break;
    payload.resize(header.size);
    if (!ReadAll(socket_, payload.data(), payload.size())) break;
    Reader reader(payload);
    switch (static_cast<MessageType>(header.type)) {
      case MessageType::kReply:
      case MessageType::kError: {
        const std::lock_guard lock(pending_mutex_);
        const auto found = pending_.find(header.id);
        if (found == pending_.end()) break;
        Answer& answer = found->second->answer;
        answer.ok = header.type == static_cast<uint32_t>(MessageType::kReply);
        if (!answer.ok) {
          answer.error = static_cast<ErrorCode>(reader.Get<ErrorReply>().code);
          answer.text = reader.Rest();
        }
        answer.payload = std::move(payload);
        found->second->done = true;
        answered_.notify_all();
        break;
      }
      case MessageType::kFault: {
        const auto event = reader.Get<FaultEvent>();
        const Fault fault{event.queue, static_cast<FaultKind>(event.kind), event.address, reader.Rest()};
        std::function<void(const Fault&)> handler;
        {
          const std::lock_guard lock(handler_mutex_);
          handler = on_fault_;
        }
        if (handler) handler(fault);
        break;
      }
      default:
        break;
    }
  }
  Died();
}

void Client::Died() {
  {
    const std::lock_guard lock(pending_mutex_);
    alive_.store(false, std::memory_order_release);
    answered_.notify_all();
  }
  std::function<void()> handler;
  {
    const std::lock_guard lock(handler_mutex_);
    handler = on_death_;
  }
  if (handler) handler();
}

void SignalChanged(Client* client, Signal* signal) {
  __atomic_add_fetch(&signal->futex, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&signal->sleepers, __ATOMIC_SEQ_CST) != 0) {
    syscall(SYS_futex, &signal->futex, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }
  if (__atomic_load_n(&signal->device_waits, __ATOMIC_SEQ_CST) != 0) client->Notify(MessageType::kKick, {});
}

void SignalSleep(Signal* signal, uint32_t seen, uint64_t nanoseconds) {
  timespec timeout{};
  timeout.tv_sec = static_cast<time_t>(nanoseconds / 1'000'000'000);
  timeout.tv_nsec = static_cast<long>(nanoseconds % 1'000'000'000);
  __atomic_add_fetch(&signal->sleepers, 1, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, &signal->futex, FUTEX_WAIT, seen, &timeout, nullptr, 0);
  __atomic_sub_fetch(&signal->sleepers, 1, __ATOMIC_SEQ_CST);
}

}  // namespace wavesmith
