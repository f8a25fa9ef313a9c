// Queues of the program: their packets come through here.
#pragma once
#include <atomic>
#include <functional>
#include <mutex>
#include <vector>

#include "tool/code.h"
#include "tool/tool.h"

namespace wavesmith::tool {

using PacketWriter = hsa_amd_queue_intercept_packet_writer;
using ErrorCallback = void (*)(hsa_status_t, hsa_queue_t*, void*);

// A packet that waits for signals.
struct Waiting {
  hsa_signal_t arrived{};  // 0 when every packet before it has completed
  hsa_signal_t passed{};   // 0 when it has completed
  hsa_signal_t gate{};     // what it waits for, if that is this library's
  uint8_t packet[64] = {};
};

struct Queue {
  hsa_queue_t* handle = nullptr;
  hsa_agent_t agent{};
  ErrorCallback on_error = nullptr;
  void* error_data = nullptr;
  // Set when the runtime reported an error of this queue: nothing in it completes any more.
  std::atomic<bool> failed{false};
  hsa_status_t status = HSA_STATUS_SUCCESS;  // the error

  // For isolation (quiet.cc). Counts barriers that were appended and have not completed; 0 when nothing of the queue runs.
  hsa_signal_t tail{};
  std::mutex waiting_mutex;
  std::vector<Waiting> waiting;
};

// Calls a function with every live queue; the queues stay alive during the call.
void ForEachQueue(const std::function<void(Queue&)>& call);

// Makes a packet that waits for all before it, with a signal that it counts down when it completes.
hsa_barrier_and_packet_t BarrierPacket(hsa_signal_t completion);

// Puts this part's functions into the tables.
void InstallQueues(hsa::CoreTable& core, const hsa::AmdTable& amd);

}  // namespace wavesmith::tool
