// Rewrites a linked code object: puts code in, lays everything out again, and mends what depends on where code stands: branches,
// addresses computed from the pc, relocations, symbols, kernel entries. What is not asked for stays bit for bit as it was.
import { WavesmithError } from '../base/index.ts';
import { type CodeObject, type ElfSection, readCodeObject } from '../codeobject/index.ts';
import { liftCodeObject, type Program } from '../program/index.ts';
import { CutList } from './cuts.ts';
import { ImageWriter } from './image.ts';
import { BRANCH_REACH, IslandRouter, isInReach, islandAddress } from './islands.ts';
import { type Cut, Places, placeCuts, poolSize, writeCuts } from './layout.ts';
import { pcMapOf, pcSegments } from './pc-map.ts';
import { type AddressReference, codeReferences } from './references.ts';
import { type CodeRange, isIn, rangesOf } from './stays.ts';
import type { DataReference, MemoryReference, PcMap, RewriteOptions, RewriteResult } from './types.ts';

const SHF_ALLOC = 2n;
const SHF_EXECINSTR = 4n;
/** Rounds of laying out; each adds islands or moves an entry block. */
const MAX_ROUNDS = 64;

/**
 * Rewrites the code object of a program that was lifted whole. The result is read back, so it is a code object like any other. Errors
 * have codes `rewrite/…` and name the instruction; then nothing was changed.
 */
export function rewriteProgram(program: Program, options: RewriteOptions = {}): RewriteResult {
  const { codeObject } = program;
  const reach = options.reach ?? BRANCH_REACH;
  const sections = codeObject.elf.sections
    .filter((s) => (s.flags & SHF_EXECINSTR) !== 0n && s.bytes.length > 0)
    .sort((a, b) => a.address - b.address);
  const [first] = sections;
  if (first === undefined) throw new WavesmithError('rewrite/no-code', 'The code object has no section with code.');
  const stays = isEdited(options) ? rangesOf(program, options.stays ?? []) : [];
  const code = new CodeLayout(program, sections, options, reach, stays);
  const image = new ImageWriter(codeObject, sections, options, stays);
  // The code stays where it is when it fits there; then nothing else moves.
  let end = code.place(first.address);
  const start = image.startOf(first, end - first.address);
  if (start !== first.address) end = code.place(start);
  const memory = image.addMemory(end);
  const bytes = code.write(start, end, image.memoryAddress);
  const result = image.finish({
    bytes,
    start,
    sectionStart: (section) => code.places.place(section.address) ?? start,
    place: (address) => (isIn(stays, address) ? address : code.places.place(address)),
    at: (address) => (isIn(stays, address) ? address : code.places.at(address)),
    end: (address) => code.places.end(address),
    entry: (address) => (isIn(stays, address) ? address : code.entryOf(address)),
    dataWords: code.dataWords,
  });
  const before = sections.reduce((sum, s) => sum + s.bytes.length, 0);
  return {
    codeObject: readCodeObject(result, codeObject.path),
    pcs: code.pcMap(),
    data: code.dataReferences(),
    memory,
    codeBytes: [before, bytes.length],
    islands: code.islands,
  };
}

/** Whether anything is put in or taken out; else nothing moves. */
function isEdited({ edits }: RewriteOptions): boolean {
  return Object.values(edits ?? {}).some(({ size }) => size > 0);
}

/** Lifts and rewrites a code object. */
export function rewriteCodeObject(codeObject: CodeObject, options: RewriteOptions = {}): RewriteResult {
  return rewriteProgram(liftCodeObject(codeObject), options);
}

class CodeLayout {
  private readonly program: Program;
  private readonly sections: readonly ElfSection[];
  private readonly list: CutList;
  private readonly order: Cut[];
  private readonly cuts: ReadonlySet<Cut>;
  private readonly router: IslandRouter;
  private readonly pools: readonly Cut[];
  private readonly branches: readonly { readonly pc: number; readonly target: number }[];
  private readonly addresses: readonly AddressReference[];
  private readonly references: readonly MemoryReference[];
  private readonly stays: readonly CodeRange[];
  readonly places: Places;
  /** Dwords of data that change, by their addresses. */
  readonly dataWords = new Map<number, number>();

  constructor(
    program: Program,
    sections: readonly ElfSection[],
    options: RewriteOptions,
    reach: number,
    stays: readonly CodeRange[],
  ) {
    this.program = program;
    this.sections = sections;
    this.stays = stays;
    const { stays: fixed = [] } = options;
    const unmoved = stays.length > 0 ? stays : rangesOf(program, fixed);
    const { branches, addresses } = codeReferences(program, (pc) => isIn(unmoved, pc));
    this.addresses = addresses;
    this.references = options.memory?.references ?? [];
    this.list = new CutList(program, sections, (pc) => isIn(stays, pc));
    this.list.addEdits(options.edits ?? {});
    this.list.addEntries();
    this.list.addPools(reach);
    for (const { from, to } of stays) {
      this.list.at(from);
      this.list.at(to);
    }
    const cuts = this.list.finish();
    this.branches = branches.filter((b) => !this.list.replaced.has(b.pc));
    this.cuts = new Set(cuts);
    this.places = new Places(cuts);
    this.order = [...cuts];
    if (isEdited(options)) this.list.addRows(this.order);
    this.pools = cuts.filter((cut) => cut.pool !== undefined);
    this.router = new IslandRouter(this.pools, reach);
  }

  get islands(): number {
    return this.router.count;
  }

  /** Places everything from `start` on; returns where it ends. */
  place(start: number): number {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const full: Cut[] = [];
      const end = placeCuts(this.order, start, (cut) => full.push(cut));
      for (const cut of full) this.list.moveStub(this.order, cut);
      if (full.length === 0 && !this.route()) return end;
    }
    throw new WavesmithError('rewrite/layout', `The layout did not settle in ${MAX_ROUNDS} rounds.`);
  }

  /** Makes the islands that are missing, and those that they need themselves; whether there were any. */
  private route(): boolean {
    const before = this.router.count;
    for (let known = -1; known !== this.router.count; ) {
      known = this.router.count;
      this.eachBranch((at, target, from) => void this.routeOne(at, target, from));
    }
    return this.router.count > before;
  }

  private routeOne(at: number, target: number, from?: Cut): number {
    const place = this.places.place(target);
    // A branch out of the code is never taken; it keeps its distance.
    if (place === undefined) return at + 4;
    const way = this.router.route(at, place, target, from);
    if (way !== undefined) return way;
    throw new WavesmithError(
      'rewrite/branch-range',
      `The branch to 0x${target.toString(16)} cannot reach its target, and no place for a jump between is in reach.`,
    );
  }

  /** Every branch whose distance is to be written: where it is, and the old address it goes to. */
  private eachBranch(visit: (at: number, target: number, from?: Cut) => void): void {
    for (const { pc, target } of this.branches) visit(this.places.at(pc) as number, target);
    for (const { cut, zone, offset, target } of this.list.extra) {
      visit((zone === 'before' ? cut.newPlace : cut.newAt) + offset, target);
    }
    for (const cut of this.pools) {
      for (const [i, { target }] of (cut.pool?.islands ?? []).entries()) visit(islandAddress(cut, i), target, cut);
    }
  }

  /** The bytes of the code from `start` to `end`. */
  write(start: number, end: number, memory: number | undefined): Uint8Array {
    const original = (from: number, to: number): Uint8Array => {
      const section = this.sections.find((s) => from >= s.address && to <= s.address + s.bytes.length);
      return section === undefined
        ? new Uint8Array(to - from)
        : section.bytes.subarray(from - section.address, to - section.address);
    };
    const bytes = writeCuts(this.order, original, start, end - start);
    const view = new DataView(bytes.buffer);
    for (const cut of this.pools) {
      const islands = cut.pool?.islands ?? [];
      for (let i = 0; i <= islands.length && islands.length > 0; i++) {
        view.setUint32(cut.newPool - start + 4 * i, 0xbf820000, true);
      }
      if (islands.length > 0) view.setUint16(cut.newPool - start, (poolSize(cut) - 4) / 4, true);
    }
    this.eachBranch((at, target, from) => {
      if (this.places.place(target) === undefined) return;
      const to = this.routeOne(at, target, from);
      if (!isInReach(at, to, BRANCH_REACH + 4)) throw new Error(`branch at ${at} does not reach ${to}`);
      view.setInt16(at - start, (to - (at + 4)) / 4, true);
    });
    this.writeAddresses(view, start);
    this.writeTables(view, start);
    if (memory !== undefined) this.writeMemoryReferences(view, start, memory);
    return bytes;
  }

  /** Where what an address names is now; undefined for data, which does not move. Data may begin where code ends. */
  private placeOf(address: number): number | undefined {
    const isWithin = (s: ElfSection): boolean => address >= s.address && address < s.address + s.size;
    const { elf } = this.program.codeObject;
    const isData =
      !this.sections.some(isWithin) && elf.sections.some((s) => (s.flags & SHF_ALLOC) !== 0n && isWithin(s));
    return isData ? undefined : this.places.place(address);
  }

  private writeAddresses(view: DataView, start: number): void {
    for (const { getPc, target, low, bias, high, jump } of this.addresses) {
      const row = jump && this.list.rows.get(jump);
      // Without a row nothing was put in, and all distances are what they were.
      if (jump !== undefined && row === undefined) continue;
      const base = (this.places.at(getPc) as number) + 4;
      const place =
        row === undefined ? (this.placeOf(target) ?? target) : row.newPlace + target - (jump?.targets[0] ?? 0);
      const distance = place - base - bias;
      const lowAt = this.places.at(low) as number;
      view.setInt32(lowAt + 4 - start, distance | 0, true);
      if (high === undefined) {
        if (distance < -bias) throw this.backwards(getPc);
        continue;
      }
      const highAt = (this.places.at(high.pc) as number) - start;
      const upper = distance < 0 ? -1 : 0;
      if (high.isLiteral) view.setInt32(highAt + 4, upper, true);
      else this.writeInline(view, highAt, upper);
    }
  }

  /** New distances in tables, by the old addresses of their entries. Errors: `rewrite/pc-value` for a table with two bases. */
  private tableEntries(): Map<number, number> {
    const out = new Map<number, number>();
    for (const table of this.program.jumpTables) {
      if (table.kind !== 'distances' || isIn(this.stays, table.pc)) continue;
      const isPlain = table.from.sums.length === 0;
      const base = isPlain
        ? (this.places.at(table.from.getPc) as number) + 4
        : (this.placeOf(table.base) ?? table.base);
      for (const [i, entry] of table.entries.entries()) {
        const target = table.targets[i] as number;
        const distance = (this.places.place(target) ?? target) - base;
        if (out.has(entry) && out.get(entry) !== distance) throw sharedTable(this.program, table.pc);
        out.set(entry, distance);
      }
    }
    return out;
  }

  /** Writes the entries of tables that are in the code; the others, which are data, by their addresses. */
  private writeTables(view: DataView, start: number): void {
    for (const [entry, distance] of this.tableEntries()) {
      const at = this.placeOf(entry) === undefined ? undefined : this.places.at(entry);
      if (at === undefined) this.dataWords.set(entry, distance);
      else view.setInt32(at - start, distance, true);
    }
  }

  /** Address computations whose result is outside the code. */
  dataReferences(): DataReference[] {
    return this.addresses.flatMap(({ getPc, target, low, high, jump }) => {
      if (jump !== undefined || this.placeOf(target) !== undefined) return [];
      const at = (pc: number): number => this.places.at(pc) as number;
      return [
        {
          target,
          base: at(getPc) + 4,
          low: at(low) + 4,
          high: high?.isLiteral === true ? at(high.pc) + 4 : undefined,
        },
      ];
    });
  }

  /** The inline constant 0 or -1 of an `s_addc_u32`, whichever source it is. */
  private writeInline(view: DataView, at: number, upper: number): void {
    const field = [0, 8].find((shift) => [128, 193].includes((view.getUint32(at, true) >>> shift) & 255)) ?? 8;
    view.setUint8(at + field / 8, upper === 0 ? 128 : 193);
  }

  private backwards(getPc: number): WavesmithError {
    const text = this.program.text(getPc);
    return new WavesmithError(
      'rewrite/backwards',
      `The distance that '${text}' at 0x${getPc.toString(16)} begins became negative.`,
    );
  }

  private writeMemoryReferences(view: DataView, start: number, memory: number): void {
    const positions = new Map<Uint8Array, number[]>();
    for (const cut of this.order) {
      const note = (parts: readonly Uint8Array[], from: number): void => {
        let at = from;
        for (const part of parts) {
          const known = positions.get(part);
          if (known === undefined) positions.set(part, [at]);
          else known.push(at);
          at += part.length;
        }
      };
      note(cut.after, cut.newStart);
      note(cut.before, cut.newPlace);
      note(cut.replacement ?? [], cut.newAt);
    }
    for (const { code, pc, low, high, offset } of this.references) {
      for (const at of positions.get(code) ?? []) {
        const distance = memory + offset - (at + pc);
        view.setInt32(at + low - start, distance | 0, true);
        view.setInt32(at + high - start, distance < 0 ? -1 : 0, true);
      }
    }
  }

  /** Where a kernel with this entry begins now. */
  entryOf(entry: number): number | undefined {
    const door = this.list.doors.find((d) => d.entry === entry);
    return door === undefined ? this.places.place(entry) : door.cut.newPlace;
  }

  pcMap(): PcMap {
    return pcMapOf(() => this.program, pcSegments(this.order, this.cuts, this.stays));
  }
}

function sharedTable(program: Program, pc: number): WavesmithError {
  return new WavesmithError(
    'rewrite/pc-value',
    `The table of '${program.text(pc)}' at 0x${pc.toString(16)} holds distances from another place too, so this code cannot be moved.`,
  );
}
