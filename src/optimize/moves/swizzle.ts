// LDS addresses swizzled: bits 7 and above of each address are mixed into the bits that choose the bank, for all accesses of the kernel alike. Words
// stay in their row of 128 bytes, so the map is one to one, and rows that began in one bank begin in different ones.
import { type CodeInstruction, hasSlot, Slot } from '../../program/index.ts';
import { isMemory, joined, type KernelView, type Move } from './view.ts';

/** Bytes of the 32 banks. */
const ROW = 128;
const ROW_BITS = 7;
/** `ds_read_b32 v6, v5 offset:16` and `ds_write_b32 v1, v[4:5]`, in parts. */
const READ = /^ds_read_b(\d+) (v\d+|v\[\d+:\d+\]), v(\d+)(?: offset:(\d+))?$/;
const WRITE = /^ds_write_b(\d+) v(\d+), (v\d+|v\[\d+:\d+\])(?: offset:(\d+))?$/;
const WIDTHS = new Set([32, 64, 128]);

interface Access {
  readonly code: CodeInstruction;
  readonly bytes: number;
  readonly address: number;
  readonly offset: number;
  readonly text: (address: number) => string;
}

function accessOf(view: KernelView, code: CodeInstruction): Access | undefined {
  const text = view.text(code);
  const read = READ.exec(text);
  if (read !== null) {
    const [, bits, to, address, offset = '0'] = read;
    const parts = { code, bytes: Number(bits) / 8, address: Number(address), offset: Number(offset) };
    return { ...parts, text: (at) => `ds_read_b${bits} ${to}, v${at}` };
  }
  const [, bits, address, data, offset = '0'] = WRITE.exec(text) ?? [];
  if (bits === undefined) return undefined;
  const parts = { code, bytes: Number(bits) / 8, address: Number(address), offset: Number(offset) };
  return { ...parts, text: (at) => `ds_write_b${bits} v${at}, ${data}` };
}

/** All accesses, or none: when one of them is of another form, or a register is missing, there is no such move. */
export function swizzledLds(view: KernelView): Move[] {
  const accesses: Access[] = [];
  for (const code of view.instructions()) {
    const { flags, operation } = code.instruction.row;
    const isLds = flags.has('DS') || (isMemory(code) && /^flat_|_lds_/.test(operation));
    if (!isLds) continue;
    const access = accessOf(view, code);
    if (access === undefined || !WIDTHS.has(8 * access.bytes) || !view.isFree(code)) return [];
    accesses.push(access);
  }
  const size = view.kernel.metadata?.groupSegmentFixedSize ?? 0;
  if (accesses.length < 2 || size < 2 * ROW || size % ROW !== 0) return [];
  const granule = Math.max(...accesses.map((a) => a.bytes));
  const bits = Math.log2(granule);
  const mask = ROW - granule;
  const replace = new Map<number, Uint8Array>();
  for (const { code, address, offset, text } of accesses) {
    const free = freeVectors(view, code, 2);
    const [sum, mixed] = free;
    if (sum === undefined || mixed === undefined) return [];
    const lines = [
      ...(offset === 0 ? [] : [`v_add_u32_e32 v${sum}, ${offset}, v${address}`]),
      `v_lshrrev_b32_e32 v${mixed}, ${ROW_BITS - bits}, v${offset === 0 ? address : sum}`,
      `v_and_b32_e32 v${mixed}, ${mask}, v${mixed}`,
      `v_xor_b32_e32 v${mixed}, v${mixed}, v${offset === 0 ? address : sum}`,
      text(mixed),
    ];
    replace.set(code.pc, joined(lines.map((line) => view.line(line))));
  }
  const [first] = accesses as [Access];
  const text = `${accesses.length} LDS accesses, bits 7 and above into bits ${bits} to 6`;
  return [{ kind: 'swizzle-lds', pc: first.code.pc, text, replace }];
}

/** Vector registers that nobody needs at an instruction and that are reserved anyway. */
function freeVectors(view: KernelView, code: CodeInstruction, count: number): number[] {
  const [before, after] = [view.liveness.before(code), view.liveness.after(code)];
  const { defs, uses, keeps } = code.effects;
  const isNamed = (slot: number): boolean =>
    [...defs, ...uses, ...keeps].some(({ first, count: n }) => slot >= first && slot < first + n);
  const free: number[] = [];
  for (let v = 0; v < view.vectors && free.length < count; v++) {
    const slot = Slot.VGPR0 + v;
    if (!hasSlot(before, slot) && !hasSlot(after, slot) && !isNamed(slot)) free.push(v);
  }
  return free;
}
