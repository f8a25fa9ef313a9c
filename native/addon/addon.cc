// The device process's native part, a Node-API addon: GPU memory as a memfd under the pages of a WebAssembly memory, futex wakes for
// programs that sleep on signals, and the identity of a socket's peer. Sources: Node-API documentation; memfd_create(2), mmap(2),
// futex(2), unix(7).
#include <fcntl.h>
#include <linux/futex.h>
#include <node_api.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string>

#include "addon/rocm.h"

namespace {

napi_value Throw(napi_env env, const char* what, int error) {
  const std::string text = std::string(what) + ": " + std::strerror(error);
  napi_throw_error(env, "native/system-call", text.c_str());
  return nullptr;
}

napi_value ThrowType(napi_env env, const char* text) {
  napi_throw_type_error(env, "native/bad-argument", text);
  return nullptr;
}

template <size_t N>
bool Arguments(napi_env env, napi_callback_info info, napi_value (&values)[N]) {
  size_t count = N;
  return napi_get_cb_info(env, info, &count, values, nullptr, nullptr) == napi_ok && count >= N;
}

struct Bytes {
  uint8_t* data;
  size_t size;
};

bool BytesOf(napi_env env, napi_value value, Bytes* bytes) {
  napi_typedarray_type type;
  napi_value buffer;
  size_t offset;
  void* data;
  if (napi_get_typedarray_info(env, value, &type, &bytes->size, &data, &buffer, &offset) != napi_ok) return false;
  if (type != napi_uint8_array) return false;
  bytes->data = static_cast<uint8_t*>(data);
  return true;
}

bool SizeOf(napi_env env, napi_value value, int64_t* size) {
  return napi_get_value_int64(env, value, size) == napi_ok && *size >= 0 && *size % sysconf(_SC_PAGESIZE) == 0;
}

bool IsPages(const Bytes& bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes.size != 0 && bytes.size % page == 0 && reinterpret_cast<uintptr_t>(bytes.data) % page == 0;
}

// mapMemory(bytes: Uint8Array over a whole WebAssembly memory, size: number): number — makes a sparse memfd of that size and puts its first
// bytes under the memory; the descriptor.
napi_value MapMemory(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  Bytes bytes;
  int64_t size;
  if (!Arguments(env, info, arguments) || !BytesOf(env, arguments[0], &bytes) || !SizeOf(env, arguments[1], &size)) {
    return ThrowType(env, "mapMemory takes a Uint8Array and a number of bytes");
  }
  if (!IsPages(bytes) || static_cast<uint64_t>(size) < bytes.size) return ThrowType(env, "mapMemory takes whole pages");
  const int fd = memfd_create("wavesmith-device", MFD_CLOEXEC);
  if (fd < 0) return Throw(env, "memfd_create", errno);
  if (ftruncate(fd, size) != 0) {
    const int error = errno;
    close(fd);
    return Throw(env, "ftruncate", error);
  }
  void* mapped = mmap(bytes.data, bytes.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, 0);
  if (mapped == MAP_FAILED) {
    const int error = errno;
    close(fd);
    return Throw(env, "mmap", error);
  }
  napi_value result;
  napi_create_int32(env, fd, &result);
  return result;
}

// showFrame(memory: Uint8Array over a whole WebAssembly memory, at, descriptor, offset, size): maps pages of the file over those at `at`.
napi_value ShowFrame(napi_env env, napi_callback_info info) {
  napi_value arguments[5];
  Bytes bytes;
  int64_t at, offset, size;
  int32_t fd;
  if (!Arguments(env, info, arguments) || !BytesOf(env, arguments[0], &bytes) || !SizeOf(env, arguments[1], &at) ||
      napi_get_value_int32(env, arguments[2], &fd) != napi_ok || !SizeOf(env, arguments[3], &offset) ||
      !SizeOf(env, arguments[4], &size) || !IsPages(bytes) || size == 0 || static_cast<uint64_t>(at) > bytes.size ||
      static_cast<uint64_t>(size) > bytes.size - static_cast<uint64_t>(at)) {
    return ThrowType(env, "showFrame takes a Uint8Array and where pages of it and of a file are");
  }
  const void* const mapped = mmap(bytes.data + at, static_cast<size_t>(size), PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, offset);
  return mapped == MAP_FAILED ? Throw(env, "mmap", errno) : nullptr;
}

void Unmap(napi_env, void* data, void* size) { munmap(data, reinterpret_cast<size_t>(size)); }

// viewFile(descriptor, offset, size): pages of the file as an ArrayBuffer, mapped until it is collected.
napi_value ViewFile(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  int32_t fd;
  int64_t offset, size;
  if (!Arguments(env, info, arguments) || napi_get_value_int32(env, arguments[0], &fd) != napi_ok ||
      !SizeOf(env, arguments[1], &offset) || !SizeOf(env, arguments[2], &size) || size == 0) {
    return ThrowType(env, "viewFile takes a descriptor and whole pages");
  }
  const auto bytes = static_cast<size_t>(size);
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, offset);
  if (mapped == MAP_FAILED) return Throw(env, "mmap", errno);
  napi_value buffer;
  if (napi_create_external_arraybuffer(env, mapped, bytes, Unmap, reinterpret_cast<void*>(bytes), &buffer) != napi_ok) {
    munmap(mapped, bytes);
    return ThrowType(env, "viewFile: this Node has no buffers of foreign memory");
  }
  return buffer;
}

// discard(descriptor, offset, size): gives whole pages of the file back to the system; they read as zero.
napi_value Discard(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  int32_t fd;
  int64_t offset, size;
  if (!Arguments(env, info, arguments) || napi_get_value_int32(env, arguments[0], &fd) != napi_ok ||
      !SizeOf(env, arguments[1], &offset) || !SizeOf(env, arguments[2], &size)) {
    return ThrowType(env, "discard takes a descriptor and whole pages");
  }
  if (size != 0 && fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, size) != 0) {
    return Throw(env, "fallocate", errno);
  }
  return nullptr;
}

// wake(word: Uint8Array of the 4 bytes of a futex): number of sleepers woken, in any process.
napi_value Wake(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Bytes bytes;
  if (!Arguments(env, info, arguments) || !BytesOf(env, arguments[0], &bytes) || bytes.size != 4 ||
      reinterpret_cast<uintptr_t>(bytes.data) % 4 != 0) {
    return ThrowType(env, "wake takes the 4 aligned bytes of a futex");
  }
  const long woken = syscall(SYS_futex, bytes.data, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  if (woken < 0) return Throw(env, "futex", errno);
  napi_value result;
  napi_create_int64(env, woken, &result);
  return result;
}

// peer(descriptor: number): { pid, uid } of the process at the other end of a Unix socket.
napi_value Peer(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  int32_t fd;
  if (!Arguments(env, info, arguments) || napi_get_value_int32(env, arguments[0], &fd) != napi_ok) {
    return ThrowType(env, "peer takes a file descriptor");
  }
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return Throw(env, "getsockopt", errno);
  napi_value result, pid, uid;
  napi_create_object(env, &result);
  napi_create_int32(env, credentials.pid, &pid);
  napi_create_uint32(env, credentials.uid, &uid);
  napi_set_named_property(env, result, "pid", pid);
  napi_set_named_property(env, result, "uid", uid);
  return result;
}

// duplicate(descriptor: number): another descriptor of the same open file, closed by execve(2).
napi_value Duplicate(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  int32_t fd;
  if (!Arguments(env, info, arguments) || napi_get_value_int32(env, arguments[0], &fd) != napi_ok) {
    return ThrowType(env, "duplicate takes a file descriptor");
  }
  const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return Throw(env, "fcntl", errno);
  napi_value result;
  napi_create_int32(env, copy, &result);
  return result;
}

// endWithParent(): the kernel sends SIGTERM to this process when its parent ends.
napi_value EndWithParent(napi_env env, napi_callback_info) {
  if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) return Throw(env, "prctl", errno);
  return nullptr;
}

void Export(napi_env env, napi_value exports, const char* name, napi_callback callback) {
  napi_value function;
  napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, nullptr, &function);
  napi_set_named_property(env, exports, name, function);
}

}  // namespace

NAPI_MODULE_INIT() {
  Export(env, exports, "mapMemory", MapMemory);
  Export(env, exports, "showFrame", ShowFrame);
  Export(env, exports, "viewFile", ViewFile);
  Export(env, exports, "discard", Discard);
  Export(env, exports, "wake", Wake);
  Export(env, exports, "peer", Peer);
  Export(env, exports, "duplicate", Duplicate);
  Export(env, exports, "endWithParent", EndWithParent);
  wavesmith::ExportRocm(env, exports);
  return exports;
}
