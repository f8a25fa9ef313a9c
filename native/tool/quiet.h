// Whether queues run anything, and packets that hold a queue up.
#pragma once
#include "tool/queue.h"

namespace wavesmith::tool {

// Frequency of the system's clock.
uint64_t Frequency();
int64_t Value(hsa_signal_t signal);
// Waits at most 20 ms, and says what the signal is then.
int64_t Poll(hsa_signal_t signal, hsa_signal_condition_t condition, int64_t value);

// Makes a packet that waits for a signal to be 0, and then counts another down.
hsa_barrier_and_packet_t GatePacket(hsa_signal_t gate, hsa_signal_t completion);

// Makes the signals of a packet that may wait. False when the runtime has none left.
bool PrepareWaiting(Waiting* waiting);
void DropWaiting(const Waiting& waiting);
// Writes a packet that waits, and remembers it: a queue that stands before it is quiet. Takes the signals over.
void WriteWaiting(Queue& queue, Waiting waiting, const void* packet, PacketWriter write);
// Writes a packet of the program that is no dispatch.
void WriteOther(Queue& queue, const uint8_t* packet, PacketWriter write);
// Behind packets: lets others see when they have completed.
void AppendTail(Queue& queue, PacketWriter write);

// Whether nothing of a queue runs: it is empty, it has failed, or it stands before a packet that waits.
bool IsQuiet(Queue& queue);

}  // namespace wavesmith::tool
