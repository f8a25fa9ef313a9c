// Which functions the code of a function calls, and whether it touches LDS, without decoding it: what LLVM writes for GFX9 is looked for.
// Sources: AMD CDNA3 ISA, SOP1, SOP2 and DS encodings; LLVM's SIInstrInfo (SI_PC_ADD_REL_OFFSET: s_getpc_b64, s_add_u32, s_addc_u32).
import type { ElfFile, ElfSymbol } from './read.ts';

const STT_FUNC = 2;
/** Of SOP1 without its destination and operand. */
const SOP1_MASK = 0xff80ff00;
const MOV_B32 = 0xbe800000;
const MOV_B64 = 0xbe800100;
const GETPC = 0xbe801c00;
const SWAPPC = 0xbe801e00;
/** Of v_readlane_b32 and v_writelane_b32 (VOP3) without the destination; lanes are constants from this operand on. */
const LANE_MASK = 0xffffff00;
const READLANE = 0xd2890000;
const WRITELANE = 0xd28a0000;
const FIRST_CONSTANT = 128;
/** Of v_readfirstlane_b32 (VOP1) without destination and operand; of scalar loads without all but the encoding. */
const READFIRSTLANE_MASK = 0xfe01fe00;
const READFIRSTLANE = 0x7e000400;
const SMEM_MASK = 0xfc000000;
const SMEM = 0xc0000000;
/** Registers that a scalar load writes at most. */
const MOST_LOADED = 16;
/** s_add_u32 with a literal as its second operand, without destination and first operand. */
const ADD_LITERAL_MASK = 0xff80ff00;
const ADD_LITERAL = 0x8000ff00;
const DS_MASK = 0xfc000000;
const DS = 0xd8000000;
/** The operand that addresses of LDS begin with where they are flat. */
const SHARED_BASE = 0xeb;

/** What a function does, as far as that can be told. */
export interface CodeUse {
  /** Where the functions begin that it calls; undefined where a call goes somewhere that is not written into the code. */
  readonly calls: readonly number[] | undefined;
  readonly touchesLds: boolean;
}

/** The functions of a code object by where they begin. */
export function codeUses(elf: ElfFile): (begin: number) => CodeUse | undefined {
  const functions = new Map<number, ElfSymbol>();
  for (const symbol of elf.symbols) if (symbol.type === STT_FUNC) functions.set(Number(symbol.value), symbol);
  const known = new Map<number, CodeUse>();
  return (begin) => {
    const symbol = functions.get(begin);
    const bytes = symbol === undefined ? undefined : elf.bytesAt(begin, Number(symbol.size));
    if (symbol === undefined || bytes === undefined) return undefined;
    const use = known.get(begin) ?? useOf(bytes, begin, targetsIn(elf, functions));
    known.set(begin, use);
    return use;
  };
}

/** What is at an address that code names: a function that begins there, `elsewhere` where the address is kept in a table, undefined for data. */
type Target = (address: number) => number | 'elsewhere' | undefined;

function targetsIn(elf: ElfFile, functions: ReadonlyMap<number, ElfSymbol>): Target {
  const tables = elf.sections.filter(({ name }) => name === '.got');
  return (address) => {
    if (functions.has(address)) return address;
    if (!tables.some((table) => address >= table.address && address < table.address + table.size)) return undefined;
    const entry = elf.bytesAt(address, 8);
    if (entry === undefined) return 'elsewhere';
    const to = Number(new DataView(entry.buffer, entry.byteOffset, 8).getBigUint64(0, true));
    if (functions.has(to)) return to;
    return to === 0 ? 'elsewhere' : undefined;
  };
}

function useOf(bytes: Uint8Array, begin: number, targetAt: Target): CodeUse {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length & ~3);
  const word = (at: number): number => (at + 4 <= words.byteLength ? words.getUint32(at, true) : 0);
  const calls = new Set<number>();
  const addresses = new AddressesOfCode();
  let isUnknown = false;
  let touchesLds = false;
  for (let at = 0; at < words.byteLength; at += 4) {
    const value = word(at);
    const to = (value >>> 16) & 127;
    if (is(value, SOP1_MASK, SWAPPC)) isUnknown ||= !addresses.has(value & 255);
    else if (is(value, SOP1_MASK, GETPC) && is(word(at + 4), ADD_LITERAL_MASK, ADD_LITERAL)) {
      const target = at + 12 <= words.byteLength ? targetAt(begin + at + 4 + words.getInt32(at + 8, true)) : undefined;
      isUnknown ||= target === 'elsewhere';
      if (typeof target === 'number') calls.add(target);
      addresses.set(to, 2, typeof target === 'number');
    } else addresses.follow(value, word(at + 4));
    touchesLds ||= is(value, DS_MASK, DS) || (value & 0xff) === SHARED_BASE;
  }
  return { calls: isUnknown ? undefined : [...calls], touchesLds };
}

const is = (value: number, mask: number, code: number): boolean => (value & mask) >>> 0 === code;

/** Which scalar registers, and lanes that they were put away in, hold the address of a function that the code names. */
class AddressesOfCode {
  private readonly registers = new Set<number>();
  private readonly lanes = new Set<string>();

  has(register: number): boolean {
    return this.registers.has(register);
  }

  set(first: number, count: number, holds: boolean): void {
    for (let register = first; register < first + count; register++) {
      if (holds) this.registers.add(register);
      else this.registers.delete(register);
    }
  }

  /** An instruction that moves registers, or loads them. */
  follow(value: number, next: number): void {
    const to = (value >>> 16) & 127;
    if (is(value, SOP1_MASK, MOV_B32)) this.set(to, 1, this.has(value & 255));
    else if (is(value, SOP1_MASK, MOV_B64)) this.set(to, 2, this.has(value & 255));
    else if (is(value, LANE_MASK, READLANE)) this.set(value & 127, 1, this.lanes.has(laneOf(next & 255, next)));
    else if (is(value, LANE_MASK, WRITELANE)) {
      if (this.has(next & 511)) this.lanes.add(laneOf(value & 255, next));
      else this.lanes.delete(laneOf(value & 255, next));
    } else if (is(value, READFIRSTLANE_MASK, READFIRSTLANE)) this.set((value >>> 17) & 127, 1, false);
    else if (is(value, SMEM_MASK, SMEM)) this.set((value >>> 6) & 127, MOST_LOADED, false);
  }
}

const laneOf = (register: number, next: number): string => `${register}[${((next >>> 9) & 511) - FIRST_CONSTANT}]`;
