// Which functions the code of a function calls, and whether it touches LDS, without decoding it: what LLVM writes for GFX9 is looked for.
// Sources: AMD CDNA3 ISA, SOP1, SOP2 and DS encodings; LLVM's SIInstrInfo (SI_PC_ADD_REL_OFFSET: s_getpc_b64, s_add_u32, s_addc_u32).
import type { ElfFile, ElfSymbol } from './read.ts';

const STT_FUNC = 2;
/** Of SOP1 without its destination. */
const SOP1_MASK = 0xff80ff00;
const GETPC = 0xbe801c00;
const SWAPPC = 0xbe801e00;
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
    if (bytes === undefined) return undefined;
    const use = known.get(begin) ?? useOf(bytes, begin, (address) => functions.has(address));
    known.set(begin, use);
    return use;
  };
}

function useOf(bytes: Uint8Array, begin: number, isFunction: (address: number) => boolean): CodeUse {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length & ~3);
  const word = (at: number): number => (at + 4 <= words.byteLength ? words.getUint32(at, true) : 0);
  const is = (value: number, mask: number, code: number): boolean => (value & mask) >>> 0 === code;
  const calls = new Set<number>();
  let named = 0;
  let unnamed = 0;
  let touchesLds = false;
  for (let at = 0; at < words.byteLength; at += 4) {
    const value = word(at);
    if (is(value, SOP1_MASK, SWAPPC)) unnamed++;
    if (is(value, SOP1_MASK, GETPC) && is(word(at + 4), ADD_LITERAL_MASK, ADD_LITERAL)) {
      const target = begin + at + 4 + words.getInt32(at + 8, true);
      if (isFunction(target)) {
        calls.add(target);
        named++;
      }
    }
    touchesLds ||= is(value, DS_MASK, DS) || (value & 0xff) === SHARED_BASE;
  }
  return { calls: unnamed > named ? undefined : [...calls], touchesLds };
}
