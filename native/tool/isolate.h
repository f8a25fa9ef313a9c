// Isolating a dispatch: nothing else runs, memory before it and after it is sent to Wavesmith.
#pragma once
#include "tool/queue.h"

namespace wavesmith::tool {

// Makes a packet run the replacement of its kernel.
void Replace(const Rule& rule, hsa_kernel_dispatch_packet_t* packet);

// Runs a chosen dispatch alone, in its place in the queue. Called in the handler of the queue's packets; returns when it has completed.
void Isolate(Queue& queue, const hsa_kernel_dispatch_packet_t& packet, const Rule& rule, uint64_t sequence,
             uint64_t index, PacketWriter write);

// Before packets go into a queue: waits while a dispatch of another queue is isolated.
void WaitForIsolation(const Queue& queue);
// Writes a packet that may wait for signals, and remembers it: a queue that waits is quiet.
void WriteWaiting(Queue& queue, const uint8_t* packet, PacketWriter write);
// Behind packets: lets others see when they have completed.
void AppendTail(Queue& queue, PacketWriter write);

}  // namespace wavesmith::tool
