// LDS addresses changed for all accesses of the kernel alike, one to one, so that rows of 128 bytes that began in one bank begin in different ones:
// swizzled (bits 7 and above are mixed into the bits that choose the bank; words stay in their row), or with a gap behind each row.
import { targetInfo } from '../../isa/index.ts';
import { type CodeInstruction, hasSlot, Slot } from '../../program/index.ts';
import type { KernelChange } from '../../rewrite/index.ts';
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
function accessesOf(view: KernelView): readonly Access[] {
  const accesses: Access[] = [];
  for (const code of view.instructions()) {
    const { flags, operation } = code.instruction.row;
    const isLds = flags.has('DS') || (isMemory(code) && /^flat_|_lds_/.test(operation));
    if (!isLds) continue;
    const access = accessOf(view, code);
    if (access === undefined || !WIDTHS.has(8 * access.bytes) || !view.isFree(code)) return [];
    accesses.push(access);
  }
  const size = ldsOf(view);
  return accesses.length < 2 || size < 2 * ROW || size % ROW !== 0 ? [] : accesses;
}

const ldsOf = (view: KernelView): number => view.kernel.metadata?.groupSegmentFixedSize ?? 0;

/** All accesses at other addresses, which `mix` makes in a register of their own; undefined when one has no free registers. */
function readdressed(
  view: KernelView,
  accesses: readonly Access[],
  mix: (from: number, to: number) => readonly string[],
): Map<number, Uint8Array> | undefined {
  const replace = new Map<number, Uint8Array>();
  for (const { code, address, offset, text } of accesses) {
    const [sum, mixed] = freeVectors(view, code, 2);
    if (sum === undefined || mixed === undefined) return undefined;
    const lines = [
      ...(offset === 0 ? [] : [`v_add_u32_e32 v${sum}, ${offset}, v${address}`]),
      ...mix(offset === 0 ? address : sum, mixed),
      text(mixed),
    ];
    replace.set(code.pc, joined(lines.map((line) => view.line(line))));
  }
  return replace;
}

/** Bits 7 and above of all addresses mixed into the bank. */
export function swizzledLds(view: KernelView): Move[] {
  const accesses = accessesOf(view);
  const [first] = accesses;
  if (first === undefined) return [];
  const granule = Math.max(...accesses.map((a) => a.bytes));
  const bits = Math.log2(granule);
  const mask = ROW - granule;
  const replace = readdressed(view, accesses, (from, to) => [
    `v_lshrrev_b32_e32 v${to}, ${ROW_BITS - bits}, v${from}`,
    `v_and_b32_e32 v${to}, ${mask}, v${to}`,
    `v_xor_b32_e32 v${to}, v${to}, v${from}`,
  ]);
  if (replace === undefined) return [];
  const text = `${accesses.length} LDS accesses, bits 7 and above into bits ${bits} to 6`;
  return [{ kind: 'swizzle-lds', pc: first.code.pc, text, replace }];
}

/** A gap behind each row of 128 bytes, as long as the longest access: fewer instructions than a swizzle, and more LDS. */
export function paddedLds(view: KernelView): Move[] {
  const accesses = accessesOf(view);
  const [first] = accesses;
  if (first === undefined) return [];
  const granule = Math.max(...accesses.map((a) => a.bytes));
  const size = ldsOf(view);
  const padded = size + (size / ROW) * granule;
  if (padded > targetInfo(view.target).ldsBytes) return [];
  const replace = readdressed(view, accesses, (from, to) => [
    `v_lshrrev_b32_e32 v${to}, ${ROW_BITS}, v${from}`,
    `v_lshl_add_u32 v${to}, v${to}, ${Math.log2(granule)}, v${from}`,
  ]);
  if (replace === undefined) return [];
  const kernel: KernelChange = {
    descriptor: (d) => {
      d.groupSegmentFixedSize = padded;
    },
    metadata: new Map([['.group_segment_fixed_size', BigInt(padded)]]),
  };
  const text = `${accesses.length} LDS accesses, ${granule} bytes behind each row of ${ROW}: ${size} bytes → ${padded}`;
  return [{ kind: 'pad-lds', pc: first.code.pc, text, replace, kernel }];
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
