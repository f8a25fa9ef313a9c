// Names the instruction at which a run in another order goes another way: each wavefront's results are compared with those of the first
// run, instruction by instruction, and of all wavefronts the difference that happens first is kept. Beside it the last store to an address.

import { semanticsOf } from '../../../isa/semantics/index.ts';
import { effectsOf, type SlotRange } from '../../../program/index.ts';
import type { DispatchInfo, Monitor } from '../dispatch/monitor.ts';
import { type AccessPlan, accessPlan } from '../interpreter/access-plan.ts';
import type { BoundInstruction } from '../interpreter/loaded-code.ts';
import { EXEC, LANES, maskBit, type Wave } from '../state/wave.ts';

/** An instruction that a wavefront executed. */
export interface ExecutedAt {
  /** Address in the code object. */
  readonly pc: number;
  readonly instruction: string;
  readonly workgroup: readonly [number, number, number];
  readonly wavefront: number;
}

/** Instructions of a dispatch that is interpreted: late loads and results take some seconds for as many. */
export const MOST_INSTRUCTIONS = 2_000_000;

/** What reads the machine and not the kernel's data differs from run to run on hardware too. */
const CLOCKS = /^s_(?:memtime|memrealtime|getreg_b32)$/;

class Results {
  words = new Uint32Array(1024);
  count = 0;

  push(word: number): void {
    if (this.count === this.words.length) {
      const larger = new Uint32Array(2 * this.count);
      larger.set(this.words);
      this.words = larger;
    }
    this.words[this.count++] = word;
  }
}

const keyOf = ({ workgroup, index }: Wave): string => `${workgroup.id.join()} ${index}`;

abstract class ResultMonitor implements Monitor {
  protected base = 0;
  protected info: DispatchInfo | undefined;
  private readonly slots = new Map<BoundInstruction, readonly SlotRange[]>();
  private readonly keys = new Map<Wave, string>();

  startDispatch(info: DispatchInfo): void {
    this.info = info;
    this.base = info.loaded.region.base;
  }

  startWorkgroup(_group: unknown, waves: readonly Wave[]): void {
    for (const wave of waves) this.keys.set(wave, keyOf(wave));
  }

  after(w: Wave, pc: number, bound: BoundInstruction): void {
    this.result(w, this.keys.get(w) as string, pc - this.base, this.hash(w, pc, bound));
  }

  protected abstract result(w: Wave, key: string, pc: number, hash: number): void;

  /** Of the instruction, where it went on, and what it wrote (FNV-1a by words). */
  private hash(w: Wave, pc: number, bound: BoundInstruction): number {
    let hash = Math.imul(0x811c9dc5 ^ (pc - this.base), 0x01000193);
    hash = Math.imul(hash ^ (w.pc - this.base), 0x01000193);
    let slots = this.slots.get(bound);
    if (slots === undefined) {
      slots = CLOCKS.test(bound.instruction.row.operation) ? [] : effectsOf(bound.instruction).defs;
      this.slots.set(bound, slots);
    }
    for (const { first, count } of slots) {
      const isVector = first >= 256;
      const file = isVector ? w.vgprs : w.sgprs;
      const from = isVector ? (first - 256) * LANES : first;
      const end = isVector ? from + count * LANES : Math.min(from + count, file.length);
      for (let i = from; i < end; i++) hash = Math.imul(hash ^ (file[i] as number), 0x01000193);
    }
    return hash >>> 0;
  }

  protected at(w: Wave, pc: number): ExecutedAt {
    const { loaded } = this.info as DispatchInfo;
    return { pc, instruction: loaded.textAt(this.base + pc), workgroup: w.workgroup.id, wavefront: w.index };
  }
}

/** Keeps the results of every wavefront. */
export class ResultRecorder extends ResultMonitor {
  readonly results = new Map<string, Results>();

  protected result(_w: Wave, key: string, _pc: number, hash: number): void {
    let mine = this.results.get(key);
    if (mine === undefined) {
      mine = new Results();
      this.results.set(key, mine);
    }
    mine.push(hash);
  }
}

/** Compares them with those of another run, and keeps the last store to a byte. */
export class ResultComparer extends ResultMonitor {
  /** The first different result, in the order of this run. */
  first: ExecutedAt | undefined;
  /** The last store to the watched byte. */
  store: ExecutedAt | undefined;
  private readonly expected: ReadonlyMap<string, Results>;
  private readonly counts = new Map<string, number>();
  private readonly watched: number | undefined;
  private readonly plans = new Map<BoundInstruction, AccessPlan | undefined>();

  constructor({ results }: ResultRecorder, watched: number | undefined) {
    super();
    this.expected = results;
    this.watched = watched;
  }

  before(w: Wave, pc: number, bound: BoundInstruction): void {
    if (this.watched === undefined) return;
    if (!this.plans.has(bound)) {
      const { instruction } = bound;
      this.plans.set(bound, accessPlan(instruction, semanticsOf(instruction.row.operation)));
    }
    const plan = this.plans.get(bound);
    if (plan === undefined || plan.kind === 'load' || plan.space === 'lds' || plan.space === 'scratch') return;
    if (this.writes(w, plan, this.watched)) this.store = this.at(w, pc - this.base);
  }

  private writes(w: Wave, plan: AccessPlan, address: number): boolean {
    plan.prepare(w);
    const [low, high] = plan.isScalar ? [1, 0] : [w.sgprs[EXEC] as number, w.sgprs[EXEC + 1] as number];
    for (const piece of plan.pieces(w)) {
      for (let lane = 0; lane < LANES; lane++) {
        if (!maskBit(low, high, lane)) continue;
        w.lane = lane;
        const from = plan.address(w, lane, piece);
        if (from >= 0 && address >= from && address < from + piece.bytes) return true;
      }
    }
    return false;
  }

  protected result(w: Wave, key: string, pc: number, hash: number): void {
    if (this.first !== undefined) return;
    const n = this.counts.get(key) ?? 0;
    this.counts.set(key, n + 1);
    const expected = this.expected.get(key);
    if (expected === undefined || n >= expected.count || expected.words[n] !== hash) this.first = this.at(w, pc);
  }
}
