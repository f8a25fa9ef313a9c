// A queue of this library's own: the originals of compared dispatches run in it, while the program's queue stands still.
#pragma once
#include <functional>

#include "tool/queue.h"

namespace wavesmith::tool {

// Runs a packet of a program's queue in a queue of its agent. `finish` waits for the signal to be 0; its answer is given on. When it says false the program
// is told as the runtime would.
bool RunOnOwnQueue(Queue& program, hsa_kernel_dispatch_packet_t packet,
                   const std::function<bool(const Queue& own, hsa_signal_t done)>& finish);

// Before the runtime ends: they end with it.
void DropOwnQueues();

}  // namespace wavesmith::tool
