// Kernels that keep data in scratch, for strict mode: by dwords, by bytes, through pointers that functions take; and some that read what they have not written.
#include "../../examples/kernel.h"

typedef struct { uint kind; float x, y; } item;
static __attribute__((noinline)) float area(const item *it) { return it->kind & 1 ? it->x * it->y : it->x + it->y; }

/* A structure on the stack, handed to a function. */
KERNEL void items(GLOBAL float *out, const GLOBAL uint *in) {
  float sum = 0;
  for (uint k = 0; k < 4; k++) {
    item it = {k, in[global_id()], in[(global_id() + k) & 127]};
    sum += area(&it);
  }
  out[global_id()] = sum;
}

/* Words that values index: lanes are at places of their own. */
KERNEL void words(GLOBAL uint *out, const GLOBAL uint *in) {
  volatile uint values[24];
  for (uint k = 0; k < 24; k++) values[k] = in[(global_id() + k) & 127];
  uint sum = 0;
  for (uint k = 0; k < 8; k++) {
    uint at = (sum + in[(global_id() * 3 + k) & 127]) % 24;
    sum += values[at];
    values[at] = sum;
  }
  out[global_id()] = sum;
}

/* Bytes and halves of words, by some lanes. */
KERNEL void parts(GLOBAL uint *out, const GLOBAL uint *in) {
  volatile unsigned char text[20];
  volatile unsigned short halves[6];
  uint id = local_id(), sum = 0;
  for (uint k = 0; k < 20; k++) text[k] = (unsigned char)(in[(id + k) & 127] + k);
  for (uint k = 0; k < 6; k++) halves[k] = (unsigned short)(in[id & 127] * k);
  if (id & 1) for (uint k = 0; k < 6; k++) sum += text[(in[id & 127] + k) % 20] + halves[k];
  out[global_id()] = sum;
}

/* Only even elements are written. */
KERNEL void unwritten_words(GLOBAL uint *out, const GLOBAL uint *in) {
  volatile uint values[16];
  for (uint k = 0; k < 16; k += 2) values[k] = in[(global_id() + k) & 127];
  out[global_id()] = values[in[global_id()] & 15] + 1;
}

/* Some lanes have written nothing. */
KERNEL void unwritten_lanes(GLOBAL uint *out, const GLOBAL uint *in) {
  volatile uint value;
  if (local_id() % 5 != 3) value = in[global_id()];
  out[global_id()] = value + 1;
}

/* A byte beside those that are written. */
KERNEL void unwritten_byte(GLOBAL uint *out, const GLOBAL uint *in) {
  volatile unsigned char text[8];
  for (uint k = 0; k < 8; k++) if (k != 5) text[k] = (unsigned char)in[(local_id() + k) & 127];
  out[global_id()] = text[5] + 1u;
}

/* What some lanes have not written goes through scratch again. */
KERNEL void unwritten_passed_on(GLOBAL uint *out, const GLOBAL uint *in) {
  volatile uint values[4], kept[4];
  for (uint k = 0; k < 4; k++) if (local_id() % 5 != k) values[k] = in[global_id()];
  for (uint k = 0; k < 4; k++) kept[k] = values[k];
  uint which = in[local_id()] & 3;
  out[global_id()] = local_id() % 5 == which ? kept[which] + 1 : 0;
}

/* Calls save registers that nothing has written. */
static __attribute__((noinline)) uint deep(uint x, uint depth) {
  volatile uint kept[4];
  kept[depth & 3] = x;
  return depth == 0 ? x : deep(x * 3 + 1, depth - 1) + kept[depth & 3];
}
KERNEL void recursion(GLOBAL uint *out, const GLOBAL uint *in) {
  out[global_id()] = deep(in[global_id()], 3) + deep(in[local_id()], local_id() & 3);
}
