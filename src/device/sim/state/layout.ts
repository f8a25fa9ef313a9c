// Room `device/sim/state`: the machine's state: device memory, a wave's registers and masks, a workgroup's LDS, all in one WebAssembly
// memory.
// Begin with this file, which says where everything is, then wave.ts and memory.ts.
//
// Where things are in the one WebAssembly memory of a virtual GPU, and in the block of a wavefront. The reference interpreter and
// compiled code act on the same bytes. Register numbers are the source encodings of the ISA (SGPRs 0–101, VCC 106, M0 124, EXEC 126).

const WINDOW_HIGH = 0x4800;

/**
 * The GPU addresses that are offsets in wasm memory: address = `base` + offset; `high` is the high word of all of them. Programs map the window at this address,
 * so nothing else may be there: V8 takes about 180 random addresses below 0x4000_0000_0000 (1 in 100 Node programs had one in 4 GiB of them),
 * programs lie at 0x55…, libraries and stacks at 0x7f….
 */
export const gpuWindow = { high: WINDOW_HIGH, base: WINDOW_HIGH * 2 ** 32 };

let isWindowUsed = false;
/** From here on addresses of the window are in memory and in code. */
export function useWindow(): void {
  isWindowUsed = true;
}
/**
 * Moves the window of this process or thread, before anything is in it: a program that needs its addresses for something else has it elsewhere. False when
 * it is in use, unless it is there already. `address` is a multiple of 2^32.
 */
export function moveWindow(address: number): boolean {
  if (address === gpuWindow.base) return true;
  if (isWindowUsed) return false;
  gpuWindow.high = address / 2 ** 32;
  gpuWindow.base = address;
  return true;
}

/** Unit of the limits tables, and of allocations. */
export const PAGE = 4096;
/** A WebAssembly page. */
export const WASM_PAGE = 65536;
/** The most a 32-bit WebAssembly memory can have, in WebAssembly pages. */
export const MAX_WASM_PAGES = 65536;
/** Bytes of the window. */
export const WINDOW_BYTES = MAX_WASM_PAGES * WASM_PAGE;

/** Words shared by all threads of a device (`CONTROL_*`), 64 bytes apart. The first page stays empty. */
export const CONTROL = 0x10000;
/** Not zero: the running dispatch ends at the next turn. */
export const CONTROL_ABORT = CONTROL;
/** The next workgroup nobody has taken. */
export const CONTROL_NEXT = CONTROL + 64;
/** Lowest workgroup that failed; workgroups after it need not run. */
export const CONTROL_FAILED = CONTROL + 128;
/** Finished workgroups. */
export const CONTROL_DONE = CONTROL + 192;
/** Executed instructions of all threads, 64 bits. */
export const CONTROL_CLOCK = CONTROL + 256;
/** Who else may be at the memory of an atomic of less than system scope, as bits: SHARED_THREADS, SHARED_HOST. */
export const CONTROL_SHARED = CONTROL + 320;
/** Other threads of the dispatch that runs. */
export const SHARED_THREADS = 1;
/** The program beside the GPU. */
export const SHARED_HOST = 2;

/** Not zero: the table is there. */
export const TRIG_READY = CONTROL + 4096;
/** f64[1513]: the results of v_trig_preop_f64 (wasm/math-exact.ts). */
export const TRIG_TABLE = TRIG_READY + 64;

/** i32 by table: not zero when it is there. */
export const HALF_TABLES_READY = CONTROL + 0x8000;
/** u16[65536] each: the results of operators of f16 by the operand's bits (wasm/half-tables.ts). */
export const HALF_TABLES = CONTROL + 0x10000;
/** Bytes of one of them. */
export const HALF_TABLE_BYTES = 0x20000;

/** u16 by page of the window: live bytes from the page's start. The first and last page have none, nor the one behind an allocation. */
export const LIMITS = 0x100000;
/** The same for stores: zero where memory is read-only. */
export const WRITABLE = 0x300000;
/** Bytes of one of the two tables. */
export const TABLE_BYTES = (WINDOW_BYTES * 2) / PAGE;
/** Allocations start here. */
export const HEAP = 0x500000;
/** Allocations end before here: the last page is never live. */
export const HEAP_END = WINDOW_BYTES - PAGE;
/** Unit in which memory beyond the window is shown (frames.ts), and of the address table. */
export const FRAME = 0x100000;

/** Lanes of a wavefront. */
export const LANES = 64;
/** First register number of the accumulation file in the vector registers. */
export const AGPR_BASE = 256;

// Byte offsets in the block of a wavefront --------------------------------------------------------------------------------------

/** i32[128] by source encoding. */
export const WAVE_SGPRS = 0;
export const WAVE_SCC = 512;
export const WAVE_MODE = 516;
/** i32: RUNNING, AT_BARRIER, ENDED or AT_GRID_BARRIER. */
export const WAVE_STATE = 520;
/** i32: byte offset in the code's image; -1 when it left the image (`Wave.pc` knows the address). */
export const WAVE_PC = 524;
/** f64: instructions executed by the wave. */
export const WAVE_EXECUTED = 528;
/** i32: FLAG_*. */
export const WAVE_FLAGS = 536;
/** i32: wasm offset of the workgroup's LDS. */
export const WAVE_LDS_BASE = 540;
/** i32: bytes of it. */
export const WAVE_LDS_BYTES = 544;
/** i32: wasm offset of the wave's scratch, 0 without. */
export const WAVE_SCRATCH_BASE = 548;
/** i32: bytes of scratch of one lane. */
export const WAVE_SCRATCH_BYTES = 552;
/** i32: wasm offset of strict mode's shadow of the wave (strict/registers.ts), 0 without. */
export const WAVE_SHADOW = 556;
/** i64: loaded address of the code's image. */
export const WAVE_CODE_BASE = 560;
/** i32: not 0 while the wave is in a row of loads into LDS (`loadRow` in interpreter/loaded-code.ts). */
export const WAVE_LOAD_ROW = 568;
/** Room for registers of generated code within one instruction, or one loop of instructions. */
export const WAVE_TEMPORARY = 640;
export const TEMPORARY_REGISTERS = 2;
/** i32: wasm offset of the thread's address table. */
export const WAVE_ADDRESS_TABLE = 1152;
/** i32[2]: vector registers of each file that may hold something since the last reset. It outlasts the wave: a block is used again. */
export const WAVE_USED = 1160;
/** i32: record of a branch or writer of EXEC whose outcome is still to be counted, 0 for none; lanes that were active (tools/compiled/counts.ts). */
export const WAVE_COUNTED = 1168;
export const WAVE_COUNTED_LANES = 1172;
/** i32[512][64], accumulation registers from 256. */
export const WAVE_VGPRS = 1280;
export const VGPR_BYTES = 4 * LANES;
/** Space for matrix code within one block of instructions. */
export const MATRIX_SCRATCH = WAVE_VGPRS + 2 * AGPR_BASE * VGPR_BYTES;
export const MATRIX_SCRATCH_BYTES = 40960;
/** The block's first bytes, to register v0, as they were before the wave's first instruction (`Wave.keepStart`). */
export const WAVE_START = MATRIX_SCRATCH + MATRIX_SCRATCH_BYTES;
export const WAVE_START_BYTES = WAVE_VGPRS + VGPR_BYTES;
/** An odd number of KiB, by which `tools/compiled/counts.ts` tells waves of a workgroup apart. */
export const WAVE_BYTES = WAVE_START + 1792;

export const RUNNING = 0;
export const AT_BARRIER = 1;
export const ENDED = 2;
export const AT_GRID_BARRIER = 3;

/** s_set_gpr_idx mode is on. */
export const FLAG_GPR_INDEXING = 1;
/** s_setvskip: vector instructions are passed over. */
export const FLAG_VSKIP = 2;
