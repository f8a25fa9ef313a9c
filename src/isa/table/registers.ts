// Registers as interned tuples: by file, first index and width; by source-operand encoding; by assembler text.
// Source: scalar source encodings of the CDNA3 ISA manual (section "Scalar ALU Operands"), names of LLVM's SIRegisterInfo.td.
import type { Register, RegisterFile } from '../types.ts';

/** Registers outside the SGPR, TTMP, VGPR and AGPR files: encoding, width in dwords, text. */
const SPECIALS: readonly (readonly [number, number, string])[] = [
  [102, 1, 'flat_scratch_lo'],
  [103, 1, 'flat_scratch_hi'],
  [102, 2, 'flat_scratch'],
  [104, 1, 'xnack_mask_lo'],
  [105, 1, 'xnack_mask_hi'],
  [104, 2, 'xnack_mask'],
  [106, 1, 'vcc_lo'],
  [107, 1, 'vcc_hi'],
  [106, 2, 'vcc'],
  [124, 1, 'm0'],
  [125, 1, 'null'],
  [125, 2, 'null'],
  [125, 3, 'null'],
  [125, 4, 'null'],
  [125, 5, 'null'],
  [125, 6, 'null'],
  [125, 8, 'null'],
  [125, 16, 'null'],
  [125, 32, 'null'],
  [126, 1, 'exec_lo'],
  [127, 1, 'exec_hi'],
  [126, 2, 'exec'],
  [230, 1, 'src_flat_scratch_base_lo'],
  [231, 1, 'src_flat_scratch_base_hi'],
  [230, 2, 'src_flat_scratch_base_lo'],
  [235, 1, 'src_shared_base'],
  [235, 2, 'src_shared_base'],
  [236, 1, 'src_shared_limit'],
  [236, 2, 'src_shared_limit'],
  [237, 1, 'src_private_base'],
  [237, 2, 'src_private_base'],
  [238, 1, 'src_private_limit'],
  [238, 2, 'src_private_limit'],
  [239, 1, 'src_pops_exiting_wave_id'],
  [239, 2, 'src_pops_exiting_wave_id'],
  [251, 1, 'src_vccz'],
  [251, 2, 'src_vccz'],
  [252, 1, 'src_execz'],
  [252, 2, 'src_execz'],
  [253, 1, 'src_scc'],
  [253, 2, 'src_scc'],
  [254, 1, 'src_lds_direct'],
];

/** Other spellings that LLVM's assembler accepts for special registers. */
const ALIASES: Readonly<Record<string, string>> = {
  shared_base: 'src_shared_base',
  shared_limit: 'src_shared_limit',
  private_base: 'src_private_base',
  private_limit: 'src_private_limit',
  pops_exiting_wave_id: 'src_pops_exiting_wave_id',
  vccz: 'src_vccz',
  execz: 'src_execz',
  scc: 'src_scc',
  lds_direct: 'src_lds_direct',
};

/** First encoding of the files that have one; specials carry their own. */
const FIRST_ENCODING: Readonly<Record<'v' | 'a' | 's' | 'ttmp', number>> = { v: 256, a: 256, s: 0, ttmp: 108 };
const FILE_SIZE: Readonly<Record<'v' | 'a' | 's' | 'ttmp', number>> = { v: 256, a: 256, s: 102, ttmp: 16 };
/**
 * LLVM's decoder also yields tuples that run past the end: VGPRs up to 1023 and SGPRs up to 105 exist on other targets, so
 * `v[255:256]` and `s[96:103]` are printed, although the hardware has no such registers.
 */
const DECODED_SIZE: Readonly<Record<'v' | 'a' | 's' | 'ttmp', number>> = { v: 1024, a: 256, s: 106, ttmp: 16 };

const all: Register[] = [];
const files: Record<'v' | 'a' | 's' | 'ttmp', (Register | undefined)[][]> = { v: [], a: [], s: [], ttmp: [] };
const specialByKey = new Map<number, Register>();
const specialByText = new Map<string, Register[]>();

function make(file: RegisterFile, index: number, dwords: number, encoding: number, text: string): Register {
  const register: Register = { kind: 'reg', file, index, dwords, encoding, text, id: all.length };
  all.push(register);
  return register;
}

for (const [encoding, dwords, text] of SPECIALS) {
  const register = make('special', encoding, dwords, encoding, text);
  specialByKey.set(encoding * 64 + dwords, register);
  const same = specialByText.get(text);
  if (same === undefined) specialByText.set(text, [register]);
  else same.push(register);
}

function tuple(file: 'v' | 'a' | 's' | 'ttmp', index: number, dwords: number): Register | undefined {
  let row = files[file][dwords];
  if (row === undefined) {
    row = [];
    files[file][dwords] = row;
  }
  const known = row[index];
  if (known !== undefined) return known;
  if (index < 0 || dwords < 1 || dwords > 32 || index >= FILE_SIZE[file] || index + dwords > DECODED_SIZE[file])
    return undefined;
  const text = dwords === 1 ? `${file}${index}` : `${file}[${index}:${index + dwords - 1}]`;
  const register = make(file, index, dwords, FIRST_ENCODING[file] + index, text);
  row[index] = register;
  return register;
}

/** The VGPR tuple starting at `index` (0–255), or undefined. It may run past v255; `fitsFile` tells. */
export function vgpr(index: number, dwords = 1): Register | undefined {
  return tuple('v', index, dwords);
}
/** The AGPR tuple starting at `index`, or undefined when it would leave the file (256 registers). */
export function agpr(index: number, dwords = 1): Register | undefined {
  return tuple('a', index, dwords);
}
/** The SGPR tuple starting at `index` (0–101), or undefined. It may run past s101; `fitsFile` tells. Alignment is not checked. */
export function sgpr(index: number, dwords = 1): Register | undefined {
  return tuple('s', index, dwords);
}
/** The trap-temporary tuple starting at `index`, or undefined when it would leave the file (16 registers). */
export function ttmp(index: number, dwords = 1): Register | undefined {
  return tuple('ttmp', index, dwords);
}
/** The tuple of a file, or undefined when there is none; special registers have no tuples. */
export function registerTuple(file: RegisterFile, index: number, dwords: number): Register | undefined {
  return file === 'special' ? undefined : tuple(file, index, dwords);
}
/** Whether the hardware has every register of the tuple. */
export function fitsFile(register: Register): boolean {
  return register.file === 'special' || register.index + register.dwords <= FILE_SIZE[register.file];
}
/** A special register by scalar source encoding and width, or undefined. */
export function special(encoding: number, dwords = 1): Register | undefined {
  return specialByKey.get(encoding * 64 + dwords);
}

/** A special register by its text or an alias of it; `dwords` picks between a 32- and a 64-bit register of one name. */
export function specialByName(name: string, dwords?: number): Register | undefined {
  const found = specialByText.get(ALIASES[name] ?? name);
  if (found === undefined) return undefined;
  return dwords === undefined ? found[0] : found.find((r) => r.dwords === dwords);
}

/** The number of interned registers so far; ids are below it. */
export function registerCount(): number {
  return all.length;
}

/** The interned register with this id. */
export function registerById(id: number): Register | undefined {
  return all[id];
}

/**
 * Scalar operands of 6 and 32 dwords do not exist; where a row has such a source, LLVM's decoder yields 5 dwords (SGPR) or 8
 * (TTMP) for 6, and 16 for 32.
 */
const WIDEST_SCALAR = 16;

/**
 * The register that a 9-bit source encoding names at a width, or undefined for constants, the literal and unused codes. SGPR
 * and TTMP tuples wider than one dword start at the aligned register below (2 for pairs, 4 above), as LLVM's decoder does.
 */
export function registerFromEncoding(encoding: number, dwords: number, accumulator = false): Register | undefined {
  if (encoding >= 256) return tuple(accumulator ? 'a' : 'v', encoding - 256, dwords);
  const mask = dwords === 1 ? ~0 : dwords === 2 ? ~1 : ~3;
  if (encoding < 102) return tuple('s', encoding & mask, dwords === 6 ? 5 : Math.min(dwords, WIDEST_SCALAR));
  if (encoding >= 108 && encoding < 124) {
    return tuple('ttmp', (encoding - 108) & mask, dwords === 6 ? 8 : Math.min(dwords, WIDEST_SCALAR));
  }
  return special(encoding, dwords);
}

/** The register that a text names exactly as the disassembler prints it (`v[0:1]`, `vcc`, `ttmp3`), or undefined. */
export function registerFromText(text: string, dwords?: number): Register | undefined {
  const match = /^(v|a|s|ttmp)(?:(\d+)|\[(\d+)(?::(\d+))?\])$/.exec(text);
  if (match === null) return specialByName(text, dwords);
  const file = match[1] as 'v' | 'a' | 's' | 'ttmp';
  if (match[2] !== undefined) return tuple(file, Number(match[2]), 1);
  const first = Number(match[3]);
  const last = match[4] === undefined ? first : Number(match[4]);
  if (last < first) return undefined;
  const register = tuple(file, first, last - first + 1);
  return register !== undefined && fitsFile(register) ? register : undefined;
}
