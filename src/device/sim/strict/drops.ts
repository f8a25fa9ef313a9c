// Lanes that a buffer's num_records drops: the first of an instruction is reported by TypeScript, further ones are only counted. Compiled
// code counts them in a table of the dispatch, which holds the instructions that have been reported.
import type { WasmFunction, WasmModule } from '../wasm/emit.ts';
import type { Frame } from '../wasm/memory/index.ts';
import type { Kept } from './kept.ts';
import { SHADOW_DROP_TABLE, SHADOW_DROPS } from './registers/shadow-layout.ts';

/** Entries of the table, by a hash of the place: i32 place in the image with bit 0 set (0: free), i32 lanes counted. */
const SLOTS = 1024;
const SLOT_BYTES = 8;
const SHIFT = 32 - Math.log2(SLOTS);

const slotOf = (pc: number): number => Math.imul(pc, 0x9e3779b1) >>> SHIFT;

/** The instructions of a dispatch whose dropped lanes compiled code may count. */
export class DropTable {
  /** In wasm memory. */
  readonly storage: Uint8Array;
  private readonly kept: Kept;
  private readonly words: Uint32Array;
  private isEmpty = true;

  constructor(kept: Kept) {
    this.kept = kept;
    this.storage = kept.takeZeros(SLOTS * SLOT_BYTES);
    this.words = new Uint32Array(this.storage.buffer, this.storage.byteOffset, (SLOTS * SLOT_BYTES) / 4);
  }

  /** The instruction has been reported; further lanes of it need only be counted. One that shares a slot goes on to be looked at. */
  learn(pc: number): void {
    const at = 2 * slotOf(pc);
    if (this.words[at] === 0) this.words[at] = pc | 1;
    this.isEmpty = false;
  }

  /** The dispatch is over. */
  release(): void {
    this.kept.giveZeros(this.storage, this.isEmpty);
  }

  /** What compiled code has counted, by place in the image. */
  *counted(): IterableIterator<readonly [pc: number, lanes: number]> {
    if (this.isEmpty) return;
    for (let at = 0; at < this.words.length; at += 2) {
      const lanes = this.words[at + 1] as number;
      if (lanes > 0) yield [(this.words[at] as number) & ~1, lanes];
    }
  }
}

function pushSlot(fn: WasmFunction, shadow: number, pc: number): WasmFunction {
  fn.get(pc).i32(0x9e3779b1).op('i32.mul').i32(SHIFT).op('i32.shr_u').i32(Math.log2(SLOT_BYTES)).op('i32.shl');
  return fn.get(shadow).memory('i32.load', SHADOW_DROP_TABLE).op('i32.add');
}

/** (shadow, place in the image, lane) → 1 when a dropped lane has been noted, 0 when TypeScript has to look. */
function noteFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.dropped', ['i32', 'i32', 'i32'], ['i32'], (fn) => {
    const [shadow, pc, lane] = [0, 1, 2] as const;
    pushSlot(fn, shadow, pc).memory('i32.load').get(pc).i32(1).op('i32.or').op('i32.ne').if().i32(0).return().end();
    fn.get(shadow).get(shadow).memory('i64.load', SHADOW_DROPS);
    fn.i64(1n).get(lane).op('i64.extend_i32_u').op('i64.shl').op('i64.or').memory('i64.store', SHADOW_DROPS);
    fn.i32(1);
  });
}

/** Of a transfer that looks: a dropped lane is noted. The first parameter of the transfer is the place in the image. */
export function noteDropped(f: Frame, shadow: number, piece: number, pieces: number): void {
  // One lane counts once, by its last piece.
  if (piece !== pieces - 1) return;
  const [pc] = f.extra as [number];
  f.code.fn.get(shadow).get(pc).get(f.at).i32(2).op('i32.shr_u').call(noteFunction(f.module)).op('i32.eqz');
  f.code.if(() => f.resume());
}

/** The transfer counts dropped lanes from here on. */
export function forgetDropped(fn: WasmFunction, shadow: number): void {
  fn.get(shadow).i64(0n).memory('i64.store', SHADOW_DROPS);
}

/** Counts the lanes that a look has noted as dropped, once nothing else asks for TypeScript. */
export function emitDropped(fn: WasmFunction, module: WasmModule, shadow: number, pc: number): void {
  fn.get(shadow).memory('i64.load', SHADOW_DROPS).op('i64.eqz').op('i32.eqz').if();
  fn.get(shadow).i32(pc).call(countFunction(module)).end();
}

function countFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.dropped.count', ['i32', 'i32'], [], (fn) => {
    const [shadow, pc, slot] = [0, 1, fn.local('i32')] as const;
    pushSlot(fn, shadow, pc).tee(slot).get(slot).memory('i32.load', 4);
    fn.get(shadow).memory('i64.load', SHADOW_DROPS).op('i64.popcnt').op('i32.wrap_i64').op('i32.add');
    fn.memory('i32.store', 4);
  });
}

/** Whether an instruction's lanes can be dropped: those of buffers have bounds. */
export const canDrop = (operation: string): boolean => operation.startsWith('buffer_');
