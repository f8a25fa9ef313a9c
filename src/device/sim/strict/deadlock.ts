// Proves that a workgroup can never end: every live wavefront waits at a barrier or is in a loop that came back to a state it had
// before, bit for bit, with no memory changed since by any of them. The typical case is a spin lock that one lane of a wavefront
// holds while EXEC keeps the others spinning. Looked for only after a wavefront has executed many instructions.
//
// Under a program's runtime others change memory, too: the host what it shares, its copies and other kernels everything. So a loop
// that reads memory is gone around once more to learn where (`reads`), and what the host can see proves nothing.
import { semanticsOf } from '../../../isa/semantics/index.ts';
import { PRIVATE_APERTURE_HIGH } from '../../apertures.ts';
import { type AccessPiece, type AccessPlan, accessPlan } from '../interpreter/access-plan.ts';
import type { BoundInstruction } from '../interpreter/loaded-code.ts';
import { bindLeavesMemory } from '../interpreter/memory-access.ts';
import { flatSpace, globalSpace, ldsSpace, type Space, scratchSpace } from '../interpreter/spaces.ts';
import { WAVE_SCRATCH_BASE } from '../state/layout.ts';
import { MemoryFault } from '../state/region.ts';
import { EXEC, LANES, maskBit, type Wave } from '../state/wave.ts';
import { Residents } from './races/residents.ts';
import type { Reporter } from './reporter.ts';

/** Instructions of a wavefront in one workgroup before its loops are looked at. */
const PATIENCE = 200_000;
/** Milliseconds that copies of the host and kernels of other streams have to change device memory that wavefronts wait for. */
const QUIET_MS = 10_000;

/** Who else may change memory while a dispatch runs. */
export interface Others {
  /** The program looks at this address while kernels run, and may write there. */
  readonly isSeenByHost: (address: number) => boolean;
  /** Nobody changes this address while the dispatch runs: arguments, code. */
  readonly isConstant: (address: number) => boolean;
  /** Whether another dispatch runs at the same time. */
  readonly areRunning: () => boolean;
  /** Milliseconds from any moment. */
  readonly now: () => number;
}

/** A wavefront of a workgroup. */
interface Watched {
  readonly wave: Wave;
}

interface LoopWatch {
  instructions: number;
  /** Checkpoint of Brent's cycle finding: visits of the backward branch target until the next one is taken. */
  pc: number;
  visits: number;
  nextCheckpoint: number;
  scalars: Int32Array | undefined;
  vectors: Int32Array | undefined;
  scratch: Int32Array | undefined;
  scc: boolean;
  /** Changes of memory when the checkpoint was taken, and when the loop was proved to repeat (-1: it was not). */
  changes: number;
  /** Something other workgroups could change was read since. */
  readsGlobal: boolean;
  /** One address of each page that the loop reads, from its first repetition on. */
  reads: Map<number, number> | undefined;
  provedAt: number;
  provedPc: number;
  /** Instructions when it was last proved, and of one time around. */
  provedThen: number;
  period: number;
  checkpointThen: number;
}

function newWatch(): LoopWatch {
  return {
    instructions: 0,
    pc: -1,
    visits: 0,
    nextCheckpoint: 1,
    scalars: undefined,
    vectors: undefined,
    scratch: undefined,
    scc: false,
    changes: 0,
    readsGlobal: false,
    reads: undefined,
    provedAt: -1,
    provedPc: -1,
    provedThen: 0,
    period: 0,
    checkpointThen: 0,
  };
}

const SPACES: Readonly<Record<AccessPlan['space'], Space>> = {
  global: globalSpace,
  lds: ldsSpace,
  scratch: scratchSpace,
  flat: flatSpace,
};

/** Bytes of a wavefront's scratch that are compared. */
const MOST_SCRATCH = 2 ** 20;

const scratchBytes = (w: Wave): number => LANES * w.workgroup.dispatch.scratchPerLane;

/** The scratch of a wavefront, where code without optimisation has its variables, as far as it is compared. */
export function scratchOf(w: Wave): Int32Array {
  const bytes = Math.min(MOST_SCRATCH, scratchBytes(w));
  return new Int32Array(w.memory.wasm.buffer, bytes === 0 ? 0 : w.field(WAVE_SCRATCH_BASE), bytes / 4);
}

/** Whether all active lanes are about to store to the wavefront's scratch, which is compared. */
function isOfScratch(w: Wave, plan: AccessPlan): boolean {
  if (plan.isScalar || scratchBytes(w) > MOST_SCRATCH) return false;
  if (plan.space !== 'flat') return plan.space === 'scratch';
  const pieces = plan.pieces(w);
  for (let lane = 0; lane < LANES; lane++) {
    if (!maskBit(w.sgprs[EXEC] as number, w.sgprs[EXEC + 1] as number, lane)) continue;
    for (const piece of pieces)
      if (Math.floor(plan.address(w, lane, piece) / 2 ** 32) !== PRIVATE_APERTURE_HIGH) return false;
  }
  return true;
}

/** Whether all active lanes are about to store what the bytes hold already. */
function storesTheSame(w: Wave, plan: AccessPlan): boolean {
  if (plan.isScalar || plan.toLds) return false;
  const space = SPACES[plan.space];
  const pieces = plan.pieces(w);
  const isSame = (lane: number, { register, half, bytes }: AccessPiece, address: number): boolean => {
    for (let n = 0; n < bytes; n++) {
      const word = w.vgprs[(register + (n >>> 2)) * LANES + lane] as number;
      const byte = ((half === 'high' ? word >>> 16 : word) >>> (8 * (n & 3))) & 255;
      if ((space.load(w, address + n, 1) & 255) !== byte) return false;
    }
    return true;
  };
  return inActiveLanes(w, (lane) =>
    pieces.every((piece) => {
      const address = plan.address(w, lane, piece);
      return address < 0 || (piece.register >= 0 && isSame(lane, piece, address));
    }),
  );
}

/** Whether something holds in all active lanes that an instruction is about to access memory in. */
function inActiveLanes(w: Wave, holds: (lane: number) => boolean): boolean {
  const { lane: current } = w;
  try {
    for (let lane = 0; lane < LANES; lane++) {
      if (!maskBit(w.sgprs[EXEC] as number, w.sgprs[EXEC + 1] as number, lane)) continue;
      w.lane = lane;
      if (!holds(lane)) return false;
    }
    return true;
  } catch (error) {
    // The access itself says so.
    if (error instanceof MemoryFault) return false;
    throw error;
  } finally {
    w.lane = current;
  }
}

export class DeadlockFinder {
  private readonly reporter: Reporter;
  /** The wavefronts of all resident workgroups, and what is known of those that were looked at. */
  private readonly groups = new Residents<readonly Watched[], readonly Watched[]>();
  private readonly watches = new Map<Wave, LoopWatch>();
  /** Whether no further workgroup can begin. */
  private readonly allStarted: () => boolean;
  private readonly others: Others | undefined;
  /** Times that a watched wavefront changed memory. */
  private changes = 0;
  private examinedFrom = 0;
  /** Since when nothing but the host or another kernel could let the wavefronts go on. */
  private quiet: { readonly changes: number; readonly since: number } | undefined;
  private isPatient = false;
  /** The instruction stores to its wavefront's scratch, which is part of the states that are compared, or what its bytes hold already: code without optimisation does so in each round of a loop. */
  private tellsNobody = false;
  private readonly plans = new Map<BoundInstruction, AccessPlan | null>();
  /** Of atomics, what says whether one leaves memory as it is in a lane. */
  private readonly atomics = new Map<BoundInstruction, ReturnType<typeof bindLeavesMemory>>();

  /** Without `others` nobody else changes memory. */
  constructor(reporter: Reporter, allStarted: () => boolean, others?: Others) {
    this.reporter = reporter;
    this.allStarted = allStarted;
    this.others = others;
  }

  /** Wavefronts begin; the same array is given when they end. */
  startWorkgroup(waves: readonly Watched[]): void {
    this.changes++;
    this.groups.add(waves, waves);
  }

  endWorkgroup(waves: readonly Watched[]): void {
    this.changes++;
    this.groups.delete(waves);
    if (this.watches.size > 0) for (const { wave } of waves) this.watches.delete(wave);
  }

  private watchOf(wave: Wave): LoopWatch {
    let watch = this.watches.get(wave);
    if (watch === undefined) {
      watch = newWatch();
      this.watches.set(wave, watch);
    }
    return watch;
  }

  /** All wavefronts of resident workgroups. */
  private all(): [Wave, LoopWatch][] {
    return this.groups.values.flat().map(({ wave }) => [wave, this.watchOf(wave)]);
  }

  /** Looks at all wavefronts from now on, as if they had run for long: nothing is known of what they did. */
  examine(): void {
    this.changes++;
    this.examinedFrom = this.changes;
    for (const [, watch] of this.all()) {
      watch.instructions = PATIENCE;
      watch.visits = 0;
      watch.nextCheckpoint = 1;
      watch.pc = -1;
    }
  }

  /** Something let wavefronts go on: nothing proved before holds. */
  changed(): void {
    this.changes++;
  }

  /** How often something has let wavefronts go on since they are looked at. */
  get progress(): number {
    return this.changes - this.examinedFrom;
  }

  /** Whether, since this was last asked, a deadlock only waited for others to have had their time. */
  takePatience(): boolean {
    const { isPatient } = this;
    this.isPatient = false;
    return isPatient;
  }

  /** An instruction is about to execute. */
  before(w: Wave, bound: BoundInstruction): void {
    this.tellsNobody = false;
    const watch = this.watches.get(w);
    const plan = watch === undefined ? null : this.planOf(bound);
    if (watch === undefined || plan === null) return;
    plan.prepare(w);
    if (watch.instructions + 1 >= PATIENCE && plan.kind !== 'load') {
      const isStore = plan.kind === 'store';
      this.tellsNobody = isStore ? isOfScratch(w, plan) || storesTheSame(w, plan) : this.leavesMemory(w, bound, plan);
    }
    const { reads } = watch;
    if (reads === undefined || plan.space === 'lds' || plan.space === 'scratch') return;
    const pieces = plan.pieces(w);
    for (let lane = 0; lane < (plan.isScalar ? 1 : LANES); lane++) {
      if (!plan.isScalar && !maskBit(w.sgprs[EXEC] as number, w.sgprs[EXEC + 1] as number, lane)) continue;
      for (const piece of pieces) {
        const address = plan.address(w, lane, piece);
        if (address >= 0) reads.set(Math.floor(address / 4096), address);
      }
    }
  }

  /** Whether an atomic leaves memory as it is in all active lanes: a comparison that fails, a lock that is taken already. */
  private leavesMemory(w: Wave, bound: BoundInstruction, plan: AccessPlan): boolean {
    const op = semanticsOf(bound.instruction.row.operation);
    if (op?.kind !== 'atomic' || plan.isScalar || op.pairStride !== undefined) return false;
    let leaves = this.atomics.get(bound);
    if (leaves === undefined) {
      leaves = bindLeavesMemory(bound.instruction, op);
      this.atomics.set(bound, leaves);
    }
    const [leavesLane, piece] = [leaves, plan.pieces(w)[0] as AccessPiece];
    return inActiveLanes(w, (lane) => {
      const address = plan.address(w, lane, piece);
      return address < 0 || leavesLane(w, lane, address);
    });
  }

  private planOf(bound: BoundInstruction): AccessPlan | null {
    let plan = this.plans.get(bound);
    if (plan === undefined) {
      plan = accessPlan(bound.instruction, semanticsOf(bound.instruction.row.operation)) ?? null;
      this.plans.set(bound, plan);
    }
    return plan;
  }

  /** An instruction has executed; `pc` is where it is, the wave's pc where it goes on. */
  after(w: Wave, pc: number, bound: BoundInstruction): void {
    const watch = this.watchOf(w);
    if (++watch.instructions < PATIENCE) return;
    if (this.mayChangeMemory(w, watch, bound)) this.changes++;
    const next = w.pc - this.reporter.dispatch.loaded.region.base;
    if (next > pc || w.state !== 'running') return;
    this.visit(w, watch, next);
  }

  /** Whether it is a store or an atomic, of any lane, that leaves something else than was there. */
  private mayChangeMemory(w: Wave, watch: LoopWatch, bound: BoundInstruction): boolean {
    const plan = this.planOf(bound);
    if (plan === null) return false;
    if (plan.space !== 'lds') watch.readsGlobal = true;
    if ((plan.kind === 'load' && !plan.toLds) || this.tellsNobody) return false;
    return ((w.sgprs[EXEC] as number) | (w.sgprs[EXEC + 1] as number)) !== 0;
  }

  /** A backward branch was taken to `target`. */
  private visit(w: Wave, watch: LoopWatch, target: number): void {
    const isSame = watch.pc === target && watch.changes === this.changes && this.isRepeated(w, watch);
    if (isSame && watch.readsGlobal && this.others !== undefined && watch.reads === undefined) {
      watch.reads = new Map();
      watch.checkpointThen = watch.instructions;
      return;
    }
    if (isSame) {
      watch.provedAt = this.changes;
      watch.provedPc = target;
      watch.period = watch.instructions - watch.checkpointThen;
      watch.provedThen = watch.instructions;
      watch.checkpointThen = watch.instructions;
      this.conclude(w);
    } else if (watch.pc === target) watch.reads = undefined;
    if (watch.pc === target && ++watch.visits < watch.nextCheckpoint) return;
    if (watch.pc !== target && watch.visits > 0 && watch.visits < watch.nextCheckpoint) {
      watch.visits++;
      return;
    }
    watch.pc = target;
    watch.visits = 0;
    watch.nextCheckpoint = Math.min(1 << 20, watch.nextCheckpoint * 2);
    watch.scalars = w.sgprs.slice();
    watch.vectors = w.vgprs.slice();
    watch.scratch = scratchOf(w).slice();
    watch.scc = w.scc;
    watch.changes = this.changes;
    watch.checkpointThen = watch.instructions;
    if (isSame) return;
    watch.readsGlobal = false;
    watch.reads = undefined;
  }

  private isRepeated(w: Wave, watch: LoopWatch): boolean {
    const { scalars, vectors, scratch, scc } = watch;
    if (scalars === undefined || vectors === undefined || scratch === undefined || scc !== w.scc) return false;
    for (let i = 0; i < scalars.length; i++) if (scalars[i] !== w.sgprs[i]) return false;
    // What has come back to a state once does so again as long as nobody changes memory.
    if (this.others === undefined && watch.provedAt === this.changes && watch.provedPc === watch.pc) return true;
    for (let i = 0; i < vectors.length; i++) if (vectors[i] !== w.vgprs[i]) return false;
    const now = scratchOf(w);
    for (let i = 0; i < scratch.length; i++) if (scratch[i] !== now[i]) return false;
    return true;
  }

  /** Whether a wavefront's loop was proved to repeat, and it is in that loop still: others may have let it out. */
  private isStuck(watch: LoopWatch): boolean {
    return watch.provedAt === this.changes && watch.instructions - watch.provedThen <= watch.period;
  }

  private canGoOn(wave: Wave): boolean {
    return wave.state === 'running' && !this.isStuck(this.watchOf(wave));
  }

  /** Whether any wavefront of a resident workgroup is so. */
  private isAny(is: (wave: Wave) => boolean): boolean {
    return this.groups.values.some((waves) => waves.some(({ wave }) => is(wave)));
  }

  /** Whether the host or another kernel may yet change what wavefronts read. */
  private mayBeFreed(watches: readonly LoopWatch[]): boolean {
    const { others, changes } = this;
    if (others === undefined) return false;
    const addresses = watches.flatMap(({ reads }) => [...(reads?.values() ?? [])]);
    const open = addresses.filter((address) => !others.isConstant(address));
    if (open.length === 0) return false;
    if (open.some((address) => others.isSeenByHost(address))) return true;
    const now = others.now();
    if (this.quiet?.changes !== changes || others.areRunning()) this.quiet = { changes, since: now };
    const isEarly = now - this.quiet.since < QUIET_MS;
    this.isPatient ||= isEarly;
    return isEarly;
  }

  /** Reports a deadlock when no wavefront can go on. */
  private conclude(w: Wave): void {
    const isOfGroup = (wave: Wave): boolean => wave.workgroup === w.workgroup;
    const readsOthers = (wave: Wave): boolean => wave.state === 'running' && this.watchOf(wave).readsGlobal;
    const watchesOthers = this.isAny((wave) => isOfGroup(wave) && readsOthers(wave));
    if (this.isAny((wave) => (watchesOthers || isOfGroup(wave)) && this.canGoOn(wave))) return;
    if (watchesOthers && !this.allStarted()) return;
    const all = this.all();
    if (watchesOthers && this.mayBeFreed(all.map(([, watch]) => watch))) return;
    const group = all.filter(([wave]) => isOfGroup(wave));
    const numbers = (state: Wave['state']): number[] =>
      group.filter(([wave]) => wave.state === state).map(([wave]) => wave.index);
    const looping = numbers('running');
    const waiting = numbers('barrier');
    const exec = ((w.sgprs[EXEC] as number) | (w.sgprs[EXEC + 1] as number)) === 0 ? ' with EXEC = 0' : '';
    const others = waiting.length === 0 ? '' : `; wavefront ${waiting.join(', ')} waits at a barrier for it`;
    const pc = this.watches.get(w)?.provedPc;
    this.reporter.fatal('schedule/deadlock', w, pc, () => ({
      message: `Wavefront ${looping.join(', ')} repeats the same loop${exec} without changing a register or memory${others}: the workgroup never ends.`,
      advice: 'Let the lanes that hold what the others wait for go on: no spinning while EXEC has turned them off.',
    }));
  }
}
