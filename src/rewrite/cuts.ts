// Where a program's code is cut to be laid out again: at edits, at entries that are aligned, and where islands may stand.
import { WavesmithError } from '../base/index.ts';
import type { ElfSection } from '../codeobject/index.ts';
import {
  type CodeInstruction,
  hasFallthrough,
  PRELOAD_STUB,
  type Program,
  type ProgramFunction,
} from '../program/index.ts';
import { type Cut, plainCut, sizeOf } from './layout.ts';
import type { PlacesJump } from './references.ts';
import type { CodeEdits } from './types.ts';

/** Words that fill the space between functions: `s_nop 0`, `s_code_end`, zero. */
const FILLERS = new Set([0xbf800000, 0xbf9f0000, 0]);
/** Kernel entries; also what functions are aligned to at the most. Source: AMDGPUUsage, "Kernel Descriptor". */
const ENTRY_ALIGNMENT = 256;
/** Bytes of laid-out code between places for islands: a branch reaches several. */
const POOL_DISTANCE = 0x6000;
const STT_FUNC = 2;
const S_BRANCH = 0xbf820000;
const S_NOP = 0xbf800000;

/** A branch in inserted code whose target is an original address. */
export interface ExtraBranch {
  readonly cut: Cut;
  readonly zone: 'before' | 'replacement';
  /** Offset of the branch in the zone. */
  readonly offset: number;
  readonly target: number;
}

/** The branch of a kernel's entry to its moved compatibility block; see `moveStub`. */
export interface Door {
  readonly cut: Cut;
  readonly entry: number;
}

/** The cuts of all code sections. */
export class CutList {
  private readonly program: Program;
  private readonly sections: readonly ElfSection[];
  private readonly stays: (pc: number) => boolean;
  private readonly byAddress = new Map<number, Cut>();
  /** Branches that are replaced or new. */
  readonly extra: ExtraBranch[] = [];
  /** Addresses of branches that edits replaced. */
  readonly replaced = new Set<number>();
  readonly doors: Door[] = [];
  /** Rows of jumps, by the jump that an index leads into them; see `addJumps`. */
  readonly rows = new Map<PlacesJump, Cut>();
  /** Addresses of entries of tables. */
  private readonly tables = new Set<number>();
  private readonly frozen: readonly { readonly from: number; readonly to: number; readonly subject: ProgramFunction }[];

  /** `stays`: whether code runs where it is, unchanged. */
  constructor(program: Program, sections: readonly ElfSection[], stays: (pc: number) => boolean) {
    this.program = program;
    this.sections = sections;
    this.stays = stays;
    this.frozen = frozenFunctions(program);
    for (const table of program.jumpTables)
      if (table.kind === 'distances') for (const at of table.entries) this.tables.add(at);
    for (const [i, section] of sections.entries()) {
      const cut = this.at(section.address);
      if (i > 0) cut.align = ENTRY_ALIGNMENT;
    }
  }

  /** The cut at an address, made when there is none. */
  at(old: number): Cut {
    let cut = this.byAddress.get(old);
    if (cut === undefined) {
      cut = plainCut(old);
      this.byAddress.set(old, cut);
    }
    return cut;
  }

  /** Puts edits in. Errors: `rewrite/no-instruction`, `rewrite/unresolved-branch`, `rewrite/not-a-branch`, `rewrite/replaced-branch`. */
  addEdits(edits: CodeEdits): void {
    for (const [pc, code] of edits.before ?? []) this.at(this.editable(pc).pc).before = code;
    for (const [pc, code] of edits.after ?? []) {
      const { instruction } = this.editable(pc);
      this.at(pc + instruction.size).after = code;
    }
    for (const [pc, code] of edits.replace ?? []) {
      const { instruction } = this.editable(pc);
      const { flags, operation } = instruction.row;
      const isRemoved =
        code.length === 0 && operation.startsWith('s_cbranch_') && this.program.blockAt(pc)?.exit === 'branch';
      if (isRemoved) this.replaced.add(pc);
      else if (flags.has('isBranch') || flags.has('isCall') || operation === 's_getpc_b64')
        throw branchReplaced(this.program, pc);
      this.at(pc).replacement = [code];
      this.at(pc + instruction.size);
    }
    for (const [pc, code] of edits.taken ?? []) this.addTaken(this.editable(pc), code);
  }

  private addTaken({ pc, instruction }: CodeInstruction, code: readonly Uint8Array[]): void {
    const block = this.program.blockAt(pc);
    const word = this.word(pc);
    const isConditional = block?.exit === 'branch' && word >>> 16 >= 0xbf84 && word >>> 16 <= 0xbf89;
    const target = pc + 4 + ((word << 16) >> 16) * 4;
    if (!isConditional && block?.exit !== 'jump') {
      throw new WavesmithError(
        'rewrite/not-a-branch',
        `'${this.program.text(pc)}' at 0x${pc.toString(16)} is no branch to one place.`,
      );
    }
    const size = sizeOf(code);
    const parts = [...code, wordBytes(S_BRANCH)];
    // The opposite condition, in the lowest bit of the opcode, jumps over the edge.
    if (isConditional) parts.unshift(wordBytes((((word >>> 16) ^ 1) << 16) | ((size + 4) / 4)));
    const cut = this.at(pc);
    cut.replacement = parts;
    this.at(pc + instruction.size);
    this.replaced.add(pc);
    this.extra.push({ cut, zone: 'replacement', offset: size + (isConditional ? 4 : 0), target });
  }

  /** Aligns entries and gives fixed distances; call after `addEdits`. */
  addEntries(): void {
    for (const { kind, pc } of this.program.jumpTables) if (kind === 'places') this.at(pc + 4);
    for (const { kernel, entry } of this.program.functions) {
      if (kernel === undefined || this.isFrozenInside(entry) || this.stays(entry)) continue;
      this.alignAt(entry, Math.min(ENTRY_ALIGNMENT, lowestBit(entry)));
      if ((kernel.descriptor?.preload.length ?? 0) === 0) continue;
      const cut = this.at(entry + PRELOAD_STUB);
      cut.filler = this.fillerBefore(entry + PRELOAD_STUB);
      cut.fixed = { base: this.at(entry), distance: PRELOAD_STUB };
    }
    const { elf } = this.program.codeObject;
    for (const symbol of elf.symbols.length > 0 ? elf.symbols : elf.dynamicSymbols) {
      if (symbol.type !== STT_FUNC || symbol.section === undefined || !this.sections.includes(symbol.section)) continue;
      const address = Number(symbol.value);
      const isEnd = address >= symbol.section.address + symbol.section.bytes.length;
      if (isEnd || this.isFrozenInside(address) || hasFallthrough(this.program, address)) continue;
      if (this.at(address).align === 1) this.alignAt(address, Math.min(ENTRY_ALIGNMENT, lowestBit(address)));
    }
  }

  private alignAt(address: number, align: number): void {
    const cut = this.at(address);
    cut.align = Math.max(cut.align, align);
    cut.filler = this.fillerBefore(address);
    if (cut.filler > 0) cut.fillWord = this.word(address - 4);
  }

  /** Cuts where islands may stand, when the code may become larger than a branch reaches. */
  addPools(reach: number): void {
    const distance = Math.min(POOL_DISTANCE, Math.floor(reach / 5));
    const extra = new Map<number, number>();
    let total = 0;
    for (const cut of this.byAddress.values()) {
      const size = sizeOf(cut.before) + sizeOf(cut.after) + sizeOf(cut.replacement ?? []);
      extra.set(cut.old, size);
      total += size;
    }
    for (const section of this.sections) total += section.bytes.length;
    if (total + ENTRY_ALIGNMENT * this.byAddress.size < reach && total < reach) return;
    let since = 0;
    let last = -1;
    for (const { pc, instruction } of this.program.instructions) {
      since += instruction.size + (extra.get(pc) ?? 0) + (last >= 0 && pc - last > 16 ? pc - last : 0);
      last = pc;
      // A compatibility block that so much was put into moves.
      if (since < distance || this.isFrozenInside(pc)) continue;
      const cut = this.at(pc);
      cut.pool ??= { islands: [] };
      since = 0;
    }
  }

  /** The cuts by old address, each with its range. Call once everything is added. */
  finish(): Cut[] {
    const cuts = [...this.byAddress.values()].sort((a, b) => a.old - b.old);
    for (const [i, cut] of cuts.entries()) {
      const section = this.sections.find((s) => cut.old >= s.address && cut.old <= s.address + s.bytes.length);
      const limit = section === undefined ? cut.old : section.address + section.bytes.length;
      const next = cuts[i + 1];
      cut.end = Math.min(limit, next?.old ?? limit);
      cut.tail = next !== undefined && next.old === cut.end ? Math.min(next.filler, cut.end - cut.old) : 0;
      if (next !== undefined && next.filler > cut.end - cut.old) next.filler = cut.end - cut.old;
      if (cut.replacement !== undefined) cut.tail = 0;
    }
    return cuts;
  }

  /**
   * Makes room in a kernel's compatibility block, whose 256 bytes are full: the block moves in front of the entry, where a jump to it
   * stays. `order` is changed. Source: AMDGPUUsage, "Preloaded Kernel Arguments".
   */
  moveStub(order: Cut[], main: Cut): void {
    const entry = main.old - PRELOAD_STUB;
    const first = order.findIndex((cut) => cut.old === entry);
    const behind = order.indexOf(main);
    const [head, last] = [order[first], order[behind - 1]];
    if (head === undefined || last === undefined || main.fixed?.base !== head) {
      throw new WavesmithError('rewrite/preload-stub', `The entry block at 0x${entry.toString(16)} cannot be moved.`);
    }
    const door = plainCut(entry);
    door.end = entry;
    door.align = head.align;
    door.fillWord = head.fillWord;
    head.align = 1;
    door.before = [wordBytes(S_BRANCH)];
    this.extra.push({ cut: door, zone: 'before', offset: 0, target: entry });
    this.doors.push({ cut: door, entry });
    if (hasFallthrough(this.program, main.old)) {
      const back = plainCut(main.old);
      back.before = [wordBytes(S_BRANCH)];
      this.extra.push({ cut: back, zone: 'before', offset: 0, target: main.old });
      order.splice(behind, 0, back, door);
    } else order.splice(behind, 0, door);
    main.filler = 0;
    main.fixed = { base: door, distance: PRELOAD_STUB };
  }

  /**
   * Puts a row of jumps behind each jump to an address that an index was added to, as far apart as its targets were, since code that is
   * put in changes the distances of the targets. Errors: `rewrite/pc-value` when there is no room for a jump between two targets.
   */
  addRows(order: Cut[]): void {
    for (const jump of this.program.jumpTables) {
      if (jump.kind !== 'places' || this.stays(jump.pc)) continue;
      const row = plainCut(jump.pc + 4);
      row.end = row.old;
      const words = Math.max(1, jump.step / 4);
      row.before = jump.targets.flatMap(() => [
        wordBytes(S_BRANCH),
        ...Array.from({ length: words - 1 }, () => wordBytes(S_NOP)),
      ]);
      for (const [i, target] of jump.targets.entries())
        this.extra.push({ cut: row, zone: 'before', offset: i * jump.step, target });
      order.splice(order.indexOf(this.at(row.old)), 0, row);
      this.rows.set(jump, row);
    }
  }

  private isFrozenInside(pc: number): boolean {
    return this.frozen.some((f) => pc > f.from && pc < f.to);
  }

  private editable(pc: number): CodeInstruction {
    const code = this.program.at(pc);
    if (code === undefined) {
      throw new WavesmithError(
        'rewrite/no-instruction',
        `There is no instruction at 0x${pc.toString(16)} that the kernels reach.`,
      );
    }
    const frozen = this.frozen.find((f) => pc >= f.from && pc < f.to);
    if (frozen !== undefined) throw unresolved(this.program, frozen.subject);
    return code;
  }

  private word(address: number): number {
    const section = this.sections.find((s) => address >= s.address && address < s.address + s.bytes.length);
    if (section === undefined) return 0;
    const { bytes } = section;
    return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(address - section.address, true);
  }

  /** Bytes of filler that end at an address and that nothing executes. */
  private fillerBefore(address: number): number {
    const section = this.sections.find((s) => address > s.address && address <= s.address + s.bytes.length);
    if (section === undefined) return 0;
    let at = address;
    const isFiller = (word: number): boolean =>
      FILLERS.has(this.word(word)) && this.program.blockAt(word) === undefined && !this.tables.has(word);
    while (at - 4 >= section.address && isFiller(at - 4)) at -= 4;
    return address - at;
  }
}

function wordBytes(word: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, word, true);
  return bytes;
}

function lowestBit(address: number): number {
  return address === 0 ? ENTRY_ALIGNMENT : address & -address;
}

/** Functions with jumps to places that are not known: they keep their inner distances, so nothing may be put into them. */
function frozenFunctions(program: Program): { from: number; to: number; subject: ProgramFunction }[] {
  return program.functions.flatMap((subject) => {
    const blocks = subject.blocks.map((index) => program.blocks[index]).filter((block) => block !== undefined);
    if (!blocks.some((block) => block.exit === 'unresolved' || block.badTargets.length > 0)) return [];
    const first = program.instructions[blocks[0]?.first ?? 0];
    const last = program.instructions[(blocks.at(-1)?.end ?? 1) - 1];
    return first === undefined || last === undefined
      ? []
      : [{ from: first.pc, to: last.pc + last.instruction.size, subject }];
  });
}

function unresolved(program: Program, subject: ProgramFunction): WavesmithError {
  const block = subject.blocks
    .map((index) => program.blocks[index])
    .find((b) => b !== undefined && (b.exit === 'unresolved' || b.badTargets.length > 0));
  const last = program.instructions[(block?.end ?? 1) - 1] as CodeInstruction;
  return new WavesmithError(
    'rewrite/unresolved-branch',
    `Where '${program.text(last.pc)}' at 0x${last.pc.toString(16)} goes is not known, so nothing can be put into '${subject.name}'.`,
  );
}

function branchReplaced(program: Program, pc: number): WavesmithError {
  return new WavesmithError(
    'rewrite/replaced-branch',
    `'${program.text(pc)}' at 0x${pc.toString(16)} depends on where it stands and cannot be replaced.`,
  );
}
