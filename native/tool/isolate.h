// Isolating a dispatch: nothing else runs, memory before it and after it is sent to Wavesmith.
#pragma once
#include "tool/queue.h"

namespace wavesmith::tool {

// Makes a packet run the replacement of its kernel.
void Replace(const Rule& rule, hsa_kernel_dispatch_packet_t* packet);

// Runs a chosen dispatch alone, in its place in the queue. Called in the handler of the queue's packets, inside of a Submission; returns when it has
// completed, or when it waits for others, or for what this thread does next.
void Isolate(Queue& queue, const hsa_kernel_dispatch_packet_t& packet, const Rule& rule, uint64_t sequence,
             uint64_t index, PacketWriter write);

// Chosen dispatches that are done with, isolated or not.
uint64_t CountIsolated();

// While a thread puts packets into a queue. Waits first while a dispatch is isolated.
class Submission {
 public:
  Submission();
  ~Submission();
  Submission(const Submission&) = delete;
  Submission& operator=(const Submission&) = delete;
};

// Gives up what is to be isolated of a queue, or of all, and waits until nothing of it is looked at any more.
void AbandonIsolation(Queue& queue);
void AbandonIsolation();

// Wavesmith says that what runs waits for the program or for another dispatch.
void ReleaseWaiting();

}  // namespace wavesmith::tool
