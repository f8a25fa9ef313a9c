// Types, lengths and kinds of the tokens of a raw gfx9 thread trace.
// Source: ROCm/rocm-systems projects/rocprof-trace-decoder, source/gfx9/gfx9token.h (MIT since February 2026).

/** Token types: the low nibble of a token's first byte. */
export const Token = {
  MISC: 0,
  TIME: 1,
  REG: 2,
  WAVE_START: 3,
  WAVE_ALLOC: 4,
  REG_CS: 5,
  WAVE_END: 6,
  EVENT: 7,
  EVENT_CS: 8,
  EVENT_GFX1: 9,
  INST: 10,
  INST_PC: 11,
  SHADERDATA: 12,
  ISSUE: 13,
  PERF: 14,
  REG_CS_PRIV: 15,
} as const;

/** Bytes of a token by type. */
export const TOKEN_BYTES = Uint8Array.from([2, 8, 8, 4, 2, 6, 2, 2, 2, 2, 2, 8, 6, 4, 8, 6]);

/** Kinds of MISC tokens. */
export const Misc = {
  TIME: 0,
  TIME_RESET: 1,
  PACKET_LOST: 2,
  SURF_SYNC: 3,
  STALL_BEGIN: 4,
  STALL_END: 5,
  SAVE_CONTEXT: 6,
};

export const HEADER_BYTES = 8;
