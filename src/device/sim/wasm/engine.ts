// Room `device/sim/wasm`: the compiler: code that a kernel can reach becomes WebAssembly, block by block. What has no code calls the
// interpreter.
// Begin with this file (find or compile, then run), then walk.ts (blocks), compile.ts (a module) and block.ts (one block).
//
// The compiled engine: finds or compiles the module that holds a wavefront's next instruction and runs it; the reference interpreter
// executes what has no code, on the same wave block.
import { type Engine, QUANTUM } from '../dispatch/engine.ts';
import { ENCODINGS, encodingIndex, type LoadedCode } from '../interpreter/loaded-code.ts';
import type { MatrixMode } from '../interpreter/matrix.ts';
import { AGPR_BASE } from '../state/layout.ts';
import type { DeviceMemory } from '../state/memory.ts';
import type { Wave } from '../state/wave.ts';
import { fillTrigTable, fmaExactly } from './host-math.ts';
import type { Instrument } from './instrument.ts';
import { makeUnit, type UnitJob } from './make-unit.ts';
import { memoryImports } from './memory/imports.ts';
import { INDEXES_REGISTERS, keyOf, MODE_MASK, type Place, SKIPS_VECTORS, STATE_MASK } from './place.ts';
import { type CompiledUnit, LATE, type UnitOrigin } from './unit.ts';

/** What compiled code is made for. */
export interface CompileJob {
  readonly loaded: LoadedCode;
  readonly memory: DeviceMemory;
  readonly launch: { readonly mfma: MatrixMode };
}

/** Code that keeps jumping to new places gets smaller modules after these, */
const LARGE_UNITS = 16;
const SMALL_LIMIT = 500;
/** and after these the interpreter: what a hostile kernel can make the host compile is bounded. */
const MAX_UNITS = 400;

/** Instructions of a module of single instructions: of most kernels few are executed so. */
const STEPS_LIMIT = 250;

/** Units of code that waves reach against expectation; from then on all that can be reached from there is compiled. */
const MOST_STRAYS = 12;
/**
 * Times that waves go there through the engine before all that they have reached is compiled as one unit. One takes 3 µs, and compiling a kernel
 * 10 to 300 ms.
 */
const GATHER_AFTER = 20_000;

/** Block counters are drained before they can overflow. */
const DRAIN_AFTER = 2 ** 30;

interface Exports {
  readonly run: (wave: number, block: number, budget: number) => number;
  readonly left: () => number;
  readonly take: (block: number) => number;
}

/** A compiled module at work. */
interface Unit {
  readonly compiled: CompiledUnit;
  readonly exports: Exports;
  /** Index in ENCODINGS of each of its families. */
  readonly encodings: readonly number[];
}

interface Entry {
  readonly unit: Unit;
  readonly block: number;
  readonly late: boolean;
  /** Nothing can be decoded here: the interpreter says so. */
  readonly empty: boolean;
  /** As `UnitBlock.endsRow`. */
  readonly endsRow: boolean;
  /** No wave was expected here when the code that begins at this place was compiled: waves come through the engine. */
  readonly strayedFrom: Place | undefined;
}

/** What compiling has cost and covers, for benchmarks. */
export interface CompileStatistics {
  modules: number;
  instructions: number;
  /** Instructions that call the interpreter. */
  interpreted: number;
  wasmBytes: number;
  /** Executed by the interpreter so far, by operation. */
  readonly executedInterpreted: Map<string, number>;
  /** Milliseconds of writing modules, and of the host's compiler. */
  writeTime: number;
  hostTime: number;
}

/** The compiled form of loaded code for one matrix mode; it lives as long as that. */
class CompiledUnits {
  readonly loaded: LoadedCode;
  readonly mfma: MatrixMode;
  readonly statistics: CompileStatistics = {
    modules: 0,
    instructions: 0,
    interpreted: 0,
    executedInterpreted: new Map(),
    wasmBytes: 0,
    writeTime: 0,
    hostTime: 0,
  };
  readonly units: Unit[] = [];
  /** Vector registers that the code so far can name, at least one of each file. */
  registers: readonly [number, number] = [1, 1];
  /** The wave that is running, and the instruction an import has been called for (-1: none). */
  wave: Wave | undefined;
  pc = -1;
  /** `workgroup.clock` and the budget when the running module was entered. */
  clock = 0;
  budget = 0;
  private readonly entries = new Map<number, Entry>();
  /** Places where no wave was expected, by key, and where the code that was compiled without them begins. */
  private readonly leftOut = new Map<number, Place>();
  private strayUnits = 0;
  private strays = 0;
  private readonly imports: WebAssembly.ModuleImports;
  private readonly memory: DeviceMemory;

  private readonly instrument: Instrument | undefined;
  private readonly areSteps: boolean;

  /** `areSteps`: every block is one instruction. */
  constructor(loaded: LoadedCode, memory: DeviceMemory, mfma: MatrixMode, instrument?: Instrument, areSteps = false) {
    this.instrument = instrument;
    this.areSteps = areSteps;
    this.loaded = loaded;
    this.memory = memory;
    this.mfma = mfma;
    const interpret = (_wave: number, pc: number): void => this.interpret(pc);
    this.imports = {
      memory: memory.wasm,
      interpret,
      interpretAt: (_wave: number, pc: number, budget: number) => {
        const w = this.wave as Wave;
        w.running = this.budget - budget;
        w.workgroup.clock = this.clock + w.running;
        this.interpret(pc);
        w.running = 0;
      },
      ...memoryImports(interpret, memory, this.instrument !== undefined),
      fmaExactly,
      fillTrigTable: fillTrigTable(memory),
      ...this.instrumentImports(),
    };
  }

  /** The imports of the instrument; a throw leaves `pc` set. */
  private instrumentImports(): WebAssembly.ModuleImports {
    return Object.fromEntries(
      Object.entries(this.instrument?.imports ?? {}).map(([name, call]) => [
        name,
        (wave: number, pc: number): unknown => {
          this.pc = pc;
          const result = call(wave, pc);
          this.pc = -1;
          return result;
        },
      ]),
    );
  }

  /** What compiled code has written is in memory. */
  settle(): void {
    this.memory.settle();
  }

  /** One instruction by the interpreter; a throw leaves `pc` set. */
  private interpret(pc: number): void {
    const w = this.wave as Wave;
    const address = this.loaded.region.base + pc;
    this.pc = pc;
    const bound = this.loaded.at(address);
    w.refresh();
    w.pc = address + bound.size;
    bound.step(w);
    this.pc = -1;
  }

  /** Whether the instrument has the instruction at an offset interpreted. */
  isLeftOut(pc: number): boolean {
    return this.instrument?.isLeftOut?.(pc) === true;
  }

  has(place: Place): boolean {
    return this.entries.has(keyOf(place));
  }

  /** The code of a place where a wave is, compiled when it is new; undefined when no more is compiled. */
  entry(place: Place, w: Wave): Entry | undefined {
    const key = keyOf(place);
    const known = this.entries.get(key);
    if (known === undefined) return this.units.length < MAX_UNITS ? this.reach(place, key, w) : undefined;
    if (known.strayedFrom === undefined || ++this.strays < GATHER_AFTER) return known;
    this.gather(known.strayedFrom);
    return this.entry(place, w);
  }

  /** Compiles what a wave can reach from where it is, as far as that is known. */
  private reach(place: Place, key: number, w: Wave): Entry {
    const root = this.leftOut.get(key);
    const strayUnits = this.strayUnits + (root === undefined ? 0 : 1);
    const isKnown = this.instrument === undefined && !this.areSteps && strayUnits <= MOST_STRAYS;
    return this.compile(place, root ?? place, root === undefined ? 'reached' : 'strayed', {
      known: (p) => this.entries.has(keyOf(p)),
      start: isKnown ? w : undefined,
    });
  }

  /** Compiles all that waves have reached from a place as one unit. */
  private gather(root: Place): void {
    this.strays = 0;
    const reached = new Set(this.entries.keys());
    this.compile(root, root, 'gathered', { known: () => false, open: (p) => reached.has(keyOf(p)) });
  }

  /** Forgets the places where waves strayed to from a root. */
  private forget(root: Place): void {
    for (const [key, { strayedFrom }] of this.entries) {
      if (strayedFrom === undefined || keyOf(strayedFrom) !== keyOf(root)) continue;
      this.entries.delete(key);
      this.leftOut.delete(key);
    }
  }

  private compile(
    place: Place,
    root: Place,
    origin: UnitOrigin,
    how: Partial<Pick<UnitJob, 'known' | 'open' | 'start'>>,
  ): Entry {
    const { region, target } = this.loaded;
    const ordinary = this.units.length - this.strayUnits - (origin === 'strayed' ? 1 : 0);
    const made = makeUnit({
      image: region.bytes,
      place,
      origin,
      root,
      target,
      mfma: this.mfma,
      shared: this.memory.isShared,
      start: undefined,
      ...how,
      decode: (pc) => (this.isLeftOut(pc) ? undefined : this.loaded.decodeAt(pc)),
      limit: this.areSteps ? STEPS_LIMIT : ordinary < LARGE_UNITS ? undefined : SMALL_LIMIT,
      blockLimit: this.areSteps ? 1 : undefined,
      cache: this.memory.moduleCache,
      instrument: this.instrument,
    });
    const { unit, wasmBytes, writeTime, hostTime } = made;
    const began = performance.now();
    this.add(unit);
    const s = this.statistics;
    s.modules++;
    s.instructions += unit.blocks.reduce((sum, { pcs }) => sum + pcs.length, 0);
    s.interpreted += unit.blocks.reduce((sum, { interpreted }) => sum + interpreted.length, 0);
    s.wasmBytes += wasmBytes;
    s.writeTime += writeTime;
    s.hostTime += hostTime + performance.now() - began;
    return this.entries.get(keyOf(place)) as Entry;
  }

  /** Has waves run a unit from here on. */
  private add(compiled: CompiledUnit): void {
    const { module, blocks, families, origin, root, leftOut, registers } = compiled;
    const instance = new WebAssembly.Instance(module, { env: this.imports });
    const unit: Unit = {
      compiled,
      exports: instance.exports as unknown as Exports,
      encodings: families.map(encodingIndex),
    };
    this.units.push(unit);
    this.registers = [Math.max(registers[0], this.registers[0]), Math.max(registers[1], this.registers[1])];
    if (origin === 'strayed') this.strayUnits++;
    if (origin === 'gathered') this.forget(root);
    for (const [block, { pc, mode, late, endsRow, pcs }] of blocks.entries()) {
      const key = keyOf({ pc, mode });
      if (origin !== 'gathered' && this.entries.has(key)) continue;
      const strayedFrom = this.leftOut.get(key);
      this.entries.set(key, { unit, block, late, empty: pcs.length === 0, endsRow, strayedFrom });
    }
    for (const p of leftOut) if (!this.entries.has(keyOf(p))) this.leftOut.set(keyOf(p), root);
  }

  /** Takes over what another thread has compiled of the same code, in its order. */
  takeOver(units: readonly CompiledUnit[]): void {
    for (const unit of units) this.add(unit);
  }
}

/** The mode of the place where a wave is. */
function placeMode(w: Wave): number {
  return (w.mode & MODE_MASK) | (w.gprIndexing ? INDEXES_REGISTERS : 0) | (w.vskip ? SKIPS_VECTORS : 0);
}

type UnitsByMode = WeakMap<LoadedCode, Map<MatrixMode, CompiledUnits>>;
const wholeUnits: UnitsByMode = new WeakMap();
const stepUnits: UnitsByMode = new WeakMap();

function compiledUnits({ loaded, memory, launch }: CompileJob, areSteps: boolean): CompiledUnits {
  const unitsOf = areSteps ? stepUnits : wholeUnits;
  let modes = unitsOf.get(loaded);
  if (modes === undefined) {
    modes = new Map();
    unitsOf.set(loaded, modes);
  }
  let compiled = modes.get(launch.mfma);
  if (compiled === undefined) {
    compiled = new CompiledUnits(loaded, memory, launch.mfma, undefined, areSteps);
    modes.set(launch.mfma, compiled);
  }
  return compiled;
}

/** What has been compiled of loaded code in this thread, for others to take over. */
export function compiledSoFar(loaded: LoadedCode, mfma: MatrixMode): readonly CompiledUnit[] {
  return (
    wholeUnits
      .get(loaded)
      ?.get(mfma)
      ?.units.map(({ compiled }) => compiled) ?? []
  );
}

/** Takes over what another thread has compiled of the same code, so that nothing is decoded and compiled again. */
export function takeOverCompiled(job: CompileJob, units: readonly CompiledUnit[]): void {
  compiledUnits(job, false).takeOver(units);
}

const instrumented = new WeakMap<Instrument, CompiledUnits>();

/** An instrument belongs to one loaded code, one matrix mode, and blocks or single instructions. */
function instrumentedCode(
  { loaded, memory, launch }: CompileJob,
  instrument: Instrument,
  areSteps: boolean,
): CompiledUnits {
  let compiled = instrumented.get(instrument);
  if (compiled === undefined) {
    compiled = new CompiledUnits(loaded, memory, launch.mfma, instrument, areSteps);
    instrumented.set(instrument, compiled);
  }
  return compiled;
}

export class CompiledEngine implements Engine {
  readonly slice = QUANTUM;
  private readonly compiled: CompiledUnits;
  private readonly loaded: LoadedCode;
  private counts: number[] = [];
  private sinceDrain = 0;

  private readonly instrument: Instrument | undefined;
  /** States (STATE_MASK) in which there is no compiled code. */
  private readonly unfollowed: number;
  /** Executes single instructions, when the instrument wants those compiled, too. */
  private readonly steps: CompiledEngine | undefined;

  /** Code with an instrument is kept as long as the instrument; `areSteps`: a wave can be run for any number of instructions. */
  constructor(job: CompileJob, instrument?: Instrument, areSteps = false) {
    this.instrument = instrument;
    this.unfollowed = instrument === undefined ? 0 : STATE_MASK & ~(instrument.followedStates ?? 0);
    this.compiled =
      instrument === undefined ? compiledUnits(job, areSteps) : instrumentedCode(job, instrument, areSteps);
    this.loaded = job.loaded;
    this.steps = instrument?.compilesSteps === true ? new CompiledEngine(job, undefined, true) : undefined;
  }

  get statistics(): Readonly<CompileStatistics> {
    return this.compiled.statistics;
  }

  get registers(): readonly [number, number] {
    return this.compiled.registers;
  }

  prepare(w: Wave): void {
    const pc = w.pc - this.loaded.region.base;
    const entry = this.compiled.isLeftOut(pc) ? undefined : this.compiled.entry({ pc, mode: placeMode(w) }, w);
    // V8 compiles at the first call; one without a budget runs nothing.
    if (entry !== undefined && !entry.empty) entry.unit.exports.run(w.pointer, entry.block, 0);
  }

  /** Whether the place where a wave is has code: it begins a block that has been compiled. */
  isCompiled(w: Wave): boolean {
    return this.compiled.has({ pc: w.pc - this.loaded.region.base, mode: placeMode(w) });
  }

  runWave(w: Wave, limit: number, isTurnStart: boolean): boolean {
    const { compiled, loaded } = this;
    const base = loaded.region.base;
    let executed = 0;
    compiled.wave = w;
    this.instrument?.enter(w);
    while (executed < limit && w.isRunning) {
      const pc = w.pc - base;
      const mode = placeMode(w);
      const isFollowed = (mode & this.unfollowed) === 0;
      const regular = pc >= 0 && pc < loaded.region.size && isFollowed && !compiled.isLeftOut(pc);
      const entry = regular ? compiled.entry({ pc, mode }, w) : undefined;
      if (entry === undefined || entry.empty) {
        const bound = loaded.at(base + pc);
        if (bound.landsLate && !(isTurnStart && executed === 0) && !w.inLoadRow) return true;
        this.step(w, base + pc);
        executed++;
        continue;
      }
      if (entry.late && !(isTurnStart && executed === 0) && !w.inLoadRow) return true;
      if (entry.endsRow) w.inLoadRow = false;
      const { run, left } = entry.unit.exports;
      const budget = limit - executed;
      compiled.clock = w.workgroup.clock;
      compiled.budget = budget;
      let reason = LATE;
      let done = 0;
      try {
        reason = run(w.pointer, entry.block, budget);
        done = budget - left();
      } catch (error) {
        done = budget - left() - this.undo(entry.unit, w);
        if (compiled.pc >= 0) w.pc = base + compiled.pc;
        compiled.pc = -1;
        throw error;
      } finally {
        compiled.settle();
        executed += done;
        w.executed += done;
        w.workgroup.clock = compiled.clock + done;
        this.sinceDrain += done;
      }
      if (reason === LATE) return true;
    }
    if (this.sinceDrain > DRAIN_AFTER) this.drain();
    return false;
  }

  /** One instruction by the interpreter or `steps`, outside compiled code. It may name any register through M0. */
  private step(w: Wave, pc: number): void {
    const bound = this.loaded.at(pc);
    this.compiled.registers = [AGPR_BASE, AGPR_BASE];
    w.refresh();
    this.instrument?.step(w, pc, bound);
    const row = bound.loadRow ?? w.inLoadRow;
    if (this.steps !== undefined) {
      this.steps.runWave(w, 1, true);
      w.inLoadRow = row;
      this.instrument?.stepped?.(w, pc, bound);
      return;
    }
    w.pc = pc + bound.size;
    try {
      bound.step(w);
    } catch (error) {
      w.pc = pc;
      throw error;
    }
    this.count(bound.family, 1);
    this.countInterpreted(bound.instruction.row.operation, 1);
    w.inLoadRow = row;
    w.executed++;
    w.workgroup.clock++;
    this.instrument?.stepped?.(w, pc, bound);
  }

  /** Takes back the instructions of a block that did not run because one of them threw; their number. */
  private undo({ compiled, encodings }: Unit, w: Wave): number {
    const { pc } = this.compiled;
    if (pc < 0) return 0;
    const mode = placeMode(w);
    for (const block of compiled.blocks) {
      const at = block.mode === mode ? block.pcs.indexOf(pc) : -1;
      if (at < 0) continue;
      const lost = block.families.slice(at);
      for (const family of lost) this.count(encodings[family] as number, -1);
      return lost.length;
    }
    return 0;
  }

  /** Counts instructions of an encoding family, by its index in ENCODINGS. */
  private count(encoding: number, times: number): void {
    this.counts[encoding] = (this.counts[encoding] ?? 0) + times;
  }

  private countInterpreted(operation: string, times: number): void {
    const { executedInterpreted } = this.compiled.statistics;
    executedInterpreted.set(operation, (executedInterpreted.get(operation) ?? 0) + times);
  }

  private drain(): void {
    this.sinceDrain = 0;
    for (const { compiled, exports, encodings } of this.compiled.units) {
      for (const [n, { families, interpreted }] of compiled.blocks.entries()) {
        const times = exports.take(n);
        if (times === 0) continue;
        for (const operation of interpreted) this.countInterpreted(operation, times);
        for (const family of families) this.count(encodings[family] as number, times);
      }
    }
  }

  takeCounts(counts: number[]): void {
    this.drain();
    this.steps?.takeCounts(counts);
    for (let i = 0; i < ENCODINGS.length; i++) {
      const n = this.counts[i];
      if (n !== undefined) counts[i] = (counts[i] ?? 0) + n;
    }
    this.counts = [];
  }
}
