// The code that a thread trace ran: instructions of a code object by loaded address, with the category of token each emits.
// Categories follow the encoding family and LLVM's flags of the row, never the mnemonic.
import { WavesmithError } from '../../base/index.ts';
import { type ElfFile, ElfMachine, readElf } from '../../codeobject/index.ts';
import {
  branchTarget,
  type Decoder,
  decoderFor,
  type InstructionRow,
  type Printer,
  printerFor,
  TARGET_NAMES,
  type TargetName,
  tableFor,
  targetFromElfMach,
} from '../../isa/index.ts';

/** What tokens an instruction emits. */
export type LineCategory =
  | 'SMEM'
  | 'SALU'
  | 'VMEM'
  | 'FLAT'
  | 'LDS'
  | 'VALU'
  | 'branch'
  | 'jump'
  | 'barrier'
  | 'end'
  | 'immediate';

const BY_ENCODING: Readonly<Record<string, LineCategory>> = {
  SMEM: 'SMEM',
  DS: 'LDS',
  FLAT: 'FLAT',
  GLOBAL: 'VMEM',
  SCRATCH: 'VMEM',
  MUBUF: 'VMEM',
  MTBUF: 'VMEM',
  MIMG: 'VMEM',
  VOP1: 'VALU',
  VOP2: 'VALU',
  VOPC: 'VALU',
  VOP3: 'VALU',
  VOP3P: 'VALU',
  'VOP3P-MAI': 'VALU',
  VOP3PX2: 'VALU',
  SDWA: 'VALU',
  DPP: 'VALU',
};

/** The token category of a row. */
export function lineCategory(row: InstructionRow): LineCategory {
  const direct = BY_ENCODING[row.encoding];
  if (direct !== undefined) return direct;
  if (row.flags.has('isReturn')) return 'end';
  if (row.encoding === 'SOPP') {
    if (row.flags.has('isBranch')) return 'branch';
    return row.flags.has('isConvergent') ? 'barrier' : 'immediate';
  }
  return row.flags.has('isBranch') || row.flags.has('isCall') ? 'jump' : 'SALU';
}

const rows = new Map<string, InstructionRow | undefined>();

/** The table row of an instruction by its text, whatever the target; undefined for unknown mnemonics. */
export function rowOf(text: string): InstructionRow | undefined {
  const mnemonic = /^\S+/.exec(text)?.[0] ?? '';
  if (rows.has(mnemonic)) return rows.get(mnemonic);
  let row: InstructionRow | undefined;
  for (const target of [...TARGET_NAMES].reverse()) {
    const table = tableFor(target);
    row ??= table.byMnemonic(mnemonic)[0] ?? table.byOperation(mnemonic)[0];
  }
  rows.set(mnemonic, row);
  return row;
}

/** One instruction of the code. */
export interface CodeLine {
  /** Dense number within its code object, in order of first use. */
  readonly id: number;
  /** Address in the code object's own address space. */
  readonly address: number;
  readonly size: number;
  readonly text: string;
  readonly category: LineCategory;
  readonly row: InstructionRow;
  /** Where a direct branch goes, undefined for everything else. */
  readonly target: number | undefined;
}

/** A kernel entry or other function. */
export interface CodeSymbol {
  readonly name: string;
  readonly address: number;
  readonly size: number;
}

/** A code object at its load address. */
export class LoadedCode {
  readonly target: TargetName;
  readonly functions: readonly CodeSymbol[];
  private readonly elf: ElfFile;
  private readonly decoder: Decoder;
  private readonly printer: Printer;
  /** Null marks an address without code. */
  private readonly lines = new Map<number, CodeLine | null>();
  private readonly following: (CodeLine | undefined)[] = [];
  private count = 0;

  constructor(bytes: Uint8Array, file: string) {
    const elf = readElf(bytes);
    const target = targetFromElfMach(elf.header.flags & 0xff);
    if (elf.header.machine !== ElfMachine.AMDGPU || target === undefined) {
      throw new WavesmithError('profile/wrong-target', `${file} is not code for a supported target.`, {
        file,
        hint: 'Give the code object that the traced kernel came from.',
      });
    }
    this.elf = elf;
    this.target = target;
    this.decoder = decoderFor(target);
    this.printer = printerFor(target);
    const FUNC = 2;
    const seen = new Map<number, CodeSymbol>();
    for (const symbol of [...elf.symbols, ...elf.dynamicSymbols]) {
      if (symbol.type !== FUNC || symbol.value > BigInt(Number.MAX_SAFE_INTEGER)) continue;
      const address = Number(symbol.value);
      if (!seen.has(address)) seen.set(address, { name: symbol.name, address, size: Number(symbol.size) });
    }
    this.functions = [...seen.values()].sort((a, b) => a.address - b.address);
  }

  /** The function that holds an address. */
  functionAt(address: number): CodeSymbol | undefined {
    return this.functions.find((f) => address >= f.address && (address < f.address + f.size || address === f.address));
  }

  /** The instruction at an address; undefined where there is no code. */
  line(address: number): CodeLine | undefined {
    const known = this.lines.get(address);
    if (known !== undefined) return known === null ? undefined : known;
    const line = this.decode(address);
    this.lines.set(address, line ?? null);
    return line;
  }

  /** The instruction after another one in memory. */
  after(line: CodeLine): CodeLine | undefined {
    const known = this.following[line.id];
    if (known !== undefined) return known;
    const next = this.line(line.address + line.size);
    if (next !== undefined) this.following[line.id] = next;
    return next;
  }

  private decode(address: number): CodeLine | undefined {
    let bytes: Uint8Array | undefined;
    for (const size of [16, 8, 4]) {
      bytes = this.elf.bytesAt(address, size);
      if (bytes !== undefined) break;
    }
    if (bytes === undefined) return undefined;
    const instruction = this.decoder.decode(bytes, 0);
    if (instruction === undefined) return undefined;
    return {
      id: this.count++,
      address,
      size: instruction.size,
      text: this.printer.print(instruction).trim().replace(/\s+/g, ' '),
      category: lineCategory(instruction.row),
      row: instruction.row,
      target: branchTarget(instruction, address),
    };
  }
}

/** The load addresses that put a kernel's entry at the traced program address; code is loaded at pages. */
export function inferBases(code: LoadedCode, program: number): number[] {
  const PAGE = 4096;
  const fits = code.functions.filter((f) => program >= f.address && (program - f.address) % PAGE === 0);
  return [...new Set(fits.map((f) => program - f.address))].slice(0, 64);
}
