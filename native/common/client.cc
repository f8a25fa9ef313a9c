// The connection to the device process. Sources: mmap(2) (MAP_FIXED_NOREPLACE), futex(2).
#include "common/client.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace wavesmith {

namespace {

// The first place for the window where this program has nothing: it may hold addresses that it needs for something else.
uint64_t FreeWindow() {
  for (uint64_t n = 0; n < kWindowPlaces; n++) {
    const uint64_t address = kWindowFirst + n * kWindowStep;
    void* const wanted = reinterpret_cast<void*>(address);
    void* const got =
        mmap(wanted, kWindowStep, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got != MAP_FAILED) munmap(got, kWindowStep);
    if (got == wanted) return address;
  }
  return kWindowFirst;
}

}  // namespace

Client* Client::Connect(std::string* why) {
  std::unique_ptr<Client> client(new Client);
  client->channel_.reset(Channel::Connect(kSocketVariable, why));
  if (client->channel_ == nullptr) {
    *why += " Start the program with `wavesmith exec -- PROGRAM`.";
    return nullptr;
  }
  Client* const self = client.get();
  client->channel_->Start([self](uint32_t type, const Bytes& payload) { self->Event(type, payload); },
                          [self] { self->Died(); });
  return client->Hello(why) && client->MapWindow(why) ? client.release() : nullptr;
}

Client::~Client() {
  channel_.reset();
  if (memory_fd_ >= 0) close(memory_fd_);
}

bool Client::Hello(std::string* why) {
  const HelloRequest request{kProtocolVersion, static_cast<uint32_t>(getpid()), FreeWindow()};
  const Answer answer = Request(MessageType::kHello, Writer().Put(request).bytes());
  Reader reader(answer.payload);
  if (!answer.ok) {
    *why = answer.refused ? answer.text
                          : "the device process refused the connection (it serves programs of its own user only).";
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
  // A core of a program has its first 4 GiB: looking for pages in all of it takes longer than anyone waits.
  constexpr uint64_t kDumped = 4ULL << 30;
  if (info_.hello.window_size > kDumped) {
    madvise(static_cast<char*>(mapped) + kDumped, info_.hello.window_size - kDumped, MADV_DONTDUMP);
  }
  return true;
}

bool Client::InWindow(const void* address) const {
  return reinterpret_cast<uint64_t>(address) - info_.hello.window_address < info_.hello.window_size;
}

Answer Client::Request(MessageType type, const Bytes& payload) {
  RawAnswer raw = channel_->Request(static_cast<uint32_t>(type), {{payload.data(), payload.size()}});
  Answer answer;
  answer.ok = raw.ok;
  answer.refused = raw.refused;
  answer.text = "the device process has ended.";
  if (raw.refused) {
    Reader reader(raw.payload);
    answer.error = static_cast<ErrorCode>(reader.Get<ErrorReply>().code);
    answer.text = reader.Rest();
  }
  answer.payload = std::move(raw.payload);
  return answer;
}

bool Client::Notify(MessageType type, const Bytes& payload) {
  return channel_->Notify(static_cast<uint32_t>(type), {{payload.data(), payload.size()}});
}

void Client::OnFault(std::function<void(const Fault&)> handler) {
  const std::lock_guard lock(handler_mutex_);
  on_fault_ = std::move(handler);
}

void Client::OnDeath(std::function<void()> handler) {
  const std::lock_guard lock(handler_mutex_);
  on_death_ = std::move(handler);
}

void Client::Event(uint32_t type, const Bytes& payload) {
  if (type != static_cast<uint32_t>(MessageType::kFault)) return;
  Reader reader(payload);
  const auto event = reader.Get<FaultEvent>();
  const Fault fault{event.queue, static_cast<FaultKind>(event.kind), event.address, reader.Rest()};
  std::function<void(const Fault&)> handler;
  {
    const std::lock_guard lock(handler_mutex_);
    handler = on_fault_;
  }
  if (handler) handler(fault);
}

void Client::Died() {
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
