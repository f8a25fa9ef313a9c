// The messages between a program's runtime libraries and the device process (`wavesmith exec`), and what both put into shared memory.
// One Unix stream socket per program; every message is a MessageHeader and `size` bytes of payload, little endian, fields in order as the structs here say. `src/runtime/protocol.ts` is the same in TypeScript. GPU memory itself is never sent: it is one memfd that both map.
#pragma once
#include <cstdint>

namespace wavesmith {

// Environment of the program: path of the device process's socket.
inline constexpr const char* kSocketVariable = "WAVESMITH_SOCKET";
inline constexpr uint32_t kProtocolVersion = 1;
// Longest payload either side accepts (a code object is the largest thing sent).
inline constexpr uint32_t kMaxPayload = 1u << 28;

enum class MessageType : uint32_t {
  // Program → device; each is answered by `kReply` or `kError` with the same id, but kDoorbell and kKick, which have no answer.
  kHello = 1,         // HelloRequest → HelloReply
  kAllocate = 2,      // AllocateRequest → u64 address
  kFree = 3,          // u64 address → empty
  kLoad = 4,          // ELF bytes → LoadReply
  kUnload = 5,        // u64 module → empty
  kQueueCreate = 6,   // QueueRequest → u64 queue
  kQueueDestroy = 7,  // u64 queue → empty
  kDoorbell = 8,      // u64 queue: packets were written
  kKick = 9,          // empty: a signal with `device_waits` set was changed by the program
  kAdopt = 10,        // AdoptRequest: pages of the program become device memory at their own address → u64 byte offset in the memfd
  kDisown = 11,       // u64 address → empty
  kMap = 12,          // MapRequest: maps an allocation (or part) a second time at a fixed address (hsa_amd_vmem_map) → empty
  kUnmap = 13,        // u64 address → empty
  // Device → program
  kReply = 100,
  kError = 101,       // u32 ErrorCode, text (UTF-8, rest of the payload)
  kFault = 102,       // u64 queue, u32 FaultKind, u64 address, text: the queue is in error, its packets will not run
  kLog = 103,         // text for stderr: diagnostics of the strict mode
};

struct MessageHeader {
  uint32_t size;  // of the payload
  uint32_t type;
  uint64_t id;
};

enum class ErrorCode : uint32_t {
  kBadMessage = 1,
  kOutOfMemory = 2,
  kBadAddress = 3,
  kWrongTarget = 4,   // text names the target of the code object
  kBadCodeObject = 5,
  kUnsupported = 6,
  kBusy = 7,
};

enum class FaultKind : uint32_t { kMemory = 1, kIllegalInstruction = 2, kTrap = 3, kBudget = 4, kStrict = 5, kOther = 6 };

struct HelloRequest {
  uint32_t version;
  uint32_t pid;
};

// Followed by the target's name (`gfx942`) and the marketing name, each u32 length and bytes.
struct HelloReply {
  uint32_t version;
  uint32_t device_pid;
  uint32_t memory_fd;       // descriptor in the device process: open /proc/<device_pid>/fd/<memory_fd>
  uint32_t compute_units;
  uint64_t window_address;  // where byte 0 of the memfd is mapped in every process; GPU pointers are host pointers
  uint64_t window_size;
  uint32_t wavefront_size;
  uint32_t max_workgroup_size;
  uint32_t lds_bytes;       // of one workgroup
  uint32_t clock_khz;       // of s_memrealtime and of kernel times
};

struct AllocateRequest {
  uint64_t size;
  uint64_t alignment;  // power of two, at most 2 MiB
  uint64_t address;    // 0, or the fixed address asked for
};

// Symbols follow, `count` of them: SymbolRecord then name (u32 length and bytes).
struct LoadReply {
  uint64_t module;
  uint64_t load_address;
  uint64_t load_size;
  uint32_t count;
  uint32_t reserved;
};
struct SymbolRecord {
  uint32_t kind;            // 0 variable, 1 kernel
  uint32_t kernarg_size;    // kernels
  uint32_t kernarg_alignment;
  uint32_t group_segment;   // static LDS bytes
  uint32_t private_segment; // scratch bytes per work-item
  uint32_t dynamic_stack;   // 0 or 1
  uint64_t address;         // kernel: of the kernel descriptor, which is the `kernel_object` of AQL packets; variable: of its bytes
  uint64_t size;            // variable: bytes
};

struct QueueRequest {
  uint64_t ring;         // address of the AQL packets
  uint64_t write_index;  // address of the u64 write index
  uint64_t read_index;   // address of the u64 read index
  uint32_t packets;      // power of two
  uint32_t flags;        // 1: record dispatch times in completion signals
};

struct AdoptRequest {
  uint64_t address;  // page aligned, in the program
  uint64_t size;     // pages
};
struct MapRequest {
  uint64_t address;  // page aligned, outside the window
  uint64_t size;
  uint64_t source;   // address of an allocation
  uint64_t access;   // 1 read, 2 write, 3 both
};

// A signal in shared memory; the handle of hsa_signal_t is its address. The first fields are those of ROCr's amd_signal_t.
struct alignas(64) Signal {
  int64_t kind;            // 1 user
  int64_t value;
  uint64_t event_mailbox;
  uint32_t event_id;
  uint32_t device_waits;   // the device sets it while it waits for this signal: a program that changes it sends kKick
  uint64_t start_ts;       // of the dispatch that completed it, in ticks of `clock_khz`
  uint64_t end_ts;
  uint32_t sleepers;       // processes sleeping on `futex`: who changes the value then wakes them
  uint32_t futex;          // counts changes
  uint64_t owner;          // private to the program's runtime
};
static_assert(sizeof(Signal) == 64);

}  // namespace wavesmith
