// A random probe for a program: random points, and at each random statements whose values an observer of the original can compute too.
import { writtenAtBlocks } from '../../../src/check/index.ts';
import { randomNumbers } from '../../../src/device/index.ts';
import {
  type Body,
  defineProbe,
  type ProbeDefinition,
  type ProbeInstruction,
  type ProbeKernel,
  type ProbeProgram,
  records,
  u64,
  u64PerSite,
  u64Table,
  type Value,
} from '../../../src/instrument/index.ts';
import { registersOf, type Statement } from '../../../src/instrument/values.ts';
import {
  addSlots,
  type CodeInstruction,
  hasSlot,
  type ProgramFunction,
  SLOT_WORDS,
  Slot,
} from '../../../src/program/index.ts';

export const TABLE = u64Table(37);

/** What a random probe keeps; kernels share the totals in turn. */
export const STATE = {
  total0: u64(),
  total1: u64(),
  total2: u64(),
  total3: u64(),
  sites: u64PerSite({ inRegisters: true }),
  table: TABLE,
  rows: records({ number: 'u32', wide: 'u64', lanes: 'lane32', wideLanes: 'lane64' }, { capacity: 1500 }),
};
export const TOTALS = ['total0', 'total1', 'total2', 'total3'] as const;
export type State = typeof STATE;

/** A point of a random probe, with what it does. */
export interface RandomPoint {
  readonly side: 'before' | 'after' | 'taken' | 'entry' | 'kernel-entry';
  readonly pc: number;
  readonly kernel: ProbeKernel;
  readonly statements: readonly Statement[];
}

export interface RandomProbe {
  readonly probe: ProbeDefinition<State>;
  /** Filled when the probe is put into a program. */
  readonly points: RandomPoint[];
}

/** Most points of a kernel that is alone. */
const MANY = 60;
/** Instructions of a kernel among others that may all become points. */
const SHORT = 400;

/** Instructions behind which nothing comes next. */
const LEAVES = /^s_(endpgm|setpc|swappc|call|branch$|rfe|trap|sethalt)/;

class Generator {
  private readonly random: () => number;
  readonly points: RandomPoint[] = [];
  private program!: ProbeProgram;
  /** Registers that the kernel or function names, by file. */
  private readonly named = { s: new Set<number>(), v: new Set<number>(), a: new Set<number>() };

  /** Registers that may be read where code is written; undefined for any. */
  private ready: Uint32Array | undefined;
  private readonly written = new Map<ProgramFunction, ReturnType<typeof writtenAtBlocks>>();
  private total: (typeof TOTALS)[number] = 'total0';
  /** The turns of the loops around what is written. */
  private readonly turns: Value[] = [];
  /** Most points of a kernel, unless all its instructions are. */
  private readonly most: number;

  constructor(seed: number, most: number) {
    this.most = most;
    this.random = randomNumbers(seed);
  }

  private below(n: number): number {
    return Math.floor(this.random() * n);
  }

  private pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  place(
    program: ProbeProgram,
    at: Parameters<ProbeDefinition<State>['instrument']>[0]['at'],
    kernels: readonly ProbeKernel[],
  ): void {
    this.program = program;
    // Functions that nothing calls any more are of no kernel.
    for (const [n, kernel] of program.kernels.entries()) {
      this.total = TOTALS[n % TOTALS.length] as (typeof TOTALS)[number];
      this.placeIn(kernel, at, kernels);
    }
  }

  /** Random points in one kernel or function. */
  private placeIn(
    own: ProbeKernel,
    at: Parameters<ProbeDefinition<State>['instrument']>[0]['at'],
    kernels: readonly ProbeKernel[],
  ): void {
    const { blocks } = own;
    const all = blocks.flatMap((block) => block.instructions);
    this.noteRegisters(all);
    const isEvery = this.random() < 0.1 && (this.most === MANY || all.length < SHORT);
    const count = isEvery ? all.length : 1 + this.below(this.most);
    for (let n = 0; n < count; n++) {
      const one = count === all.length ? (all[n] as ProbeInstruction) : this.pick(all);
      const dice = this.random();
      if (dice < 0.5) at.before(one, (p) => this.write('before', one, p));
      else if (dice < 0.75 && !LEAVES.test(one.operation)) at.after(one, (p) => this.write('after', one, p));
      else if (dice < 0.85) {
        const branch = this.pick(blocks).instructions.at(-1) as ProbeInstruction;
        if (/^s_(cbranch_(scc|vcc|exec)|branch$)/.test(branch.operation))
          at.taken(branch, (p) => this.write('taken', branch, p));
      } else if (dice < 0.95) {
        const block = this.pick(blocks);
        at.entry(block, (p) => {
          p.atomicAdd('sites', this.pick([1, block.length, 2 ** 33]));
          this.note('entry', block.instructions[0] as ProbeInstruction, p);
        });
      } else {
        const kernel = kernels.includes(own) ? own : this.pick(kernels);
        const first = kernel.blocks.find((b) => b.pc === kernel.entry)?.instructions[0];
        if (first !== undefined)
          at.kernelEntry(kernel, (p) => {
            this.ready = undefined;
            p.atomicAdd('sites', this.uniform(p, kernel, 2));
            this.note('kernel-entry', first, p);
          });
      }
    }
  }

  private noteRegisters(all: readonly ProbeInstruction[]): void {
    for (const numbers of Object.values(this.named)) numbers.clear();
    for (const { code } of all) {
      for (const o of code.instruction.operands) {
        if (o.kind !== 'reg' || (o.file !== 's' && o.file !== 'v' && o.file !== 'a')) continue;
        for (let i = 0; i < o.dwords; i++) this.named[o.file].add(o.index + i);
      }
    }
  }

  private note(side: RandomPoint['side'], one: ProbeInstruction, p: Body<State>): void {
    this.points.push({ side, pc: one.pc, kernel: one.block.kernel, statements: p.statements });
  }

  private write(side: 'before' | 'after' | 'taken', one: ProbeInstruction, p: Body<State>): void {
    const { kernel } = one.block;
    // Now and then registers that may hold nothing, whose values are not compared.
    this.ready = this.random() < 0.1 ? undefined : this.writtenAt(one, side === 'before');
    this.statements(p, kernel, 1 + this.below(3), 2);
    this.note(side, one, p);
  }

  private statements(p: Body<State>, kernel: ProbeKernel, count: number, depth: number): void {
    for (let n = 0; n < count; n++) {
      const dice = this.random();
      if (dice < 0.25)
        p.atomicAdd('sites', this.random() < 0.25 ? this.laneValue(p, kernel, 2) : this.uniform(p, kernel, 3));
      else if (dice < 0.3)
        p.atomicAddAt('table', this.narrowLanes(p, kernel), this.random() < 0.5 ? 1 : this.laneValue(p, kernel, 1));
      else if (dice < 0.6) p.atomicAdd(this.total, this.uniform(p, kernel, 3));
      else if (dice < 0.8 && depth > 0) {
        const inner = (): void => this.statements(p, kernel, 1 + this.below(2), depth - 1);
        if (dice < 0.7) p.if(this.uniform(p, kernel, 2), inner);
        else if (dice < 0.76) p.where(this.laneValue(p, kernel, 2), inner);
        else
          p.loop(p.and(this.narrow(p, kernel, 1), 3), (index) => {
            this.turns.push(index);
            inner();
            this.turns.pop();
          });
      } else {
        p.append('rows', {
          number: this.narrow(p, kernel, 2),
          wide: this.uniform(p, kernel, 2),
          lanes: this.narrowLanes(p, kernel),
          wideLanes: this.laneValue(p, kernel, 2),
        });
      }
    }
  }

  /** The registers that every path to an instruction, or behind it, has written. */
  private writtenAt({ block, code }: ProbeInstruction, isBefore: boolean): Uint32Array {
    const { subject } = block.kernel;
    let known = this.written.get(subject);
    if (known === undefined) {
      known = writtenAtBlocks(this.program.lifted, subject);
      this.written.set(subject, known);
    }
    const every = known.get(block.index)?.every.slice() ?? new Uint32Array(SLOT_WORDS);
    for (let i = block.block.first; i < code.index + (isBefore ? 0 : 1); i++)
      addSlots(every, (this.program.lifted.instructions[i] as CodeInstruction).effects.defs);
    return every;
  }

  private narrow(p: Body<State>, kernel: ProbeKernel, depth: number): Value {
    for (;;) {
      const value = this.uniform(p, kernel, depth);
      if (value.type === 'u32') return value;
    }
  }

  private isReady(slot: number): boolean {
    return this.ready === undefined || hasSlot(this.ready, slot);
  }

  /** A register of a file that the program names, or a pair of two such. */
  private register(file: 's' | 'v' | 'a', wide: boolean): string | undefined {
    const base = { s: 0, v: Slot.VGPR0, a: Slot.AGPR0 }[file];
    const { named } = this;
    const isFit = (n: number): boolean => named[file].has(n) && (file !== 's' || n < 102) && this.isReady(base + n);
    const list = [...named[file]];
    const from = this.below(list.length);
    const first = [...list.slice(from), ...list.slice(0, from)].find((n) => isFit(n) && (!wide || isFit(n + 1)));
    if (first === undefined || (file === 's' && wide && first === 101)) return undefined;
    return wide ? `${file}[${first}:${first + 1}]` : `${file}${first}`;
  }

  private narrowLanes(p: Body<State>, kernel: ProbeKernel): Value {
    const value = this.laneValue(p, kernel, 2);
    return value.type === 'lane32' ? value : this.lanes(p, false);
  }

  /** A value by lane of whole numbers. */
  private laneValue(p: Body<State>, kernel: ProbeKernel, depth: number): Value {
    if (depth === 0 || this.random() < 0.4) return this.lanes(p, this.random() < 0.3);
    const a = this.laneValue(p, kernel, depth - 1);
    const b = this.random() < 0.3 ? this.uniform(p, kernel, 1) : this.laneValue(p, kernel, depth - 1);
    switch (this.below(6)) {
      case 0:
        return p.popcount(a);
      case 1:
        return p.select(this.lanes(p, this.random() < 0.3), a, b);
      case 2:
        return p[this.pick(['equal', 'less'] as const)](a, b);
      case 3: {
        const narrow = b.type === 'u32' || b.type === 'lane32' ? b : p.laneId;
        return p[this.pick(['shl', 'shr'] as const)](a, narrow);
      }
      case 4: {
        const [x, y] = [a, b].map((one) => (one.type.endsWith('32') ? one : p.laneId)) as [Value, Value];
        return p[this.pick(['mul', 'min', 'max'] as const)](x, y);
      }
      default:
        return p[this.pick(['add', 'sub', 'and', 'or', 'xor'] as const)](a, b);
    }
  }

  private lanes(p: Body<State>, wide: boolean): Value {
    const dice = this.random();
    const name = dice < 0.85 ? this.register(dice < 0.7 || this.named.a.size === 0 ? 'v' : 'a', wide) : undefined;
    return name === undefined ? p.laneId : p.readReg(name);
  }

  private uniform(p: Body<State>, kernel: ProbeKernel, depth: number): Value {
    const dice = this.below(depth > 0 ? 24 : 14);
    const constant = (): Value => p.and(this.pick([0, 1, 63, 64, 65, 0xffff, 0xfffffff0, 0x80000000]), 0xffffffff);
    switch (dice) {
      case 0:
        return constant();
      case 1:
        return p.exec;
      case 2:
        return this.isReady(Slot.SCC) ? p.readReg('scc') : p.exec;
      case 3: {
        const name = this.pick(['vcc', 'vcc_lo', 'vcc_hi', 'm0'] as const);
        const isReady = name === 'm0' ? this.isReady(Slot.M0) : this.isReady(Slot.VCC) && this.isReady(Slot.VCC + 1);
        return isReady ? p.readReg(name) : constant();
      }
      case 4:
        return kernel.isKernel ? this.pick([p.workgroupId.x, p.workgroupId.y, p.workgroupId.z]) : p.exec;
      case 5:
        return kernel.isKernel ? this.pick([p.gridSize.x, p.workgroupSize.x, p.workgroupSize.z]) : constant();
      case 6:
        return kernel.isKernel ? p.argument(this.below(3)) : constant();
      case 7: {
        const value = this.lanes(p, this.random() < 0.3);
        return p.ballotPoison(value);
      }
      case 8:
      case 9:
      case 10:
      case 11:
      case 12:
      case 13: {
        const name = this.register('s', dice > 11);
        return name === undefined ? p.exec : p.readReg(name);
      }
      case 14:
      case 15:
        return p.popcount(this.uniform(p, kernel, depth - 1));
      case 16:
        return p.isZero(this.uniform(p, kernel, depth - 1));
      case 17:
        return p[this.pick(['mul', 'min', 'max'] as const)](
          this.narrow(p, kernel, depth - 1),
          this.narrow(p, kernel, depth - 1),
        );
      case 18:
        return p[this.pick(['shl', 'shr'] as const)](
          this.uniform(p, kernel, depth - 1),
          this.narrow(p, kernel, depth - 1),
        );
      case 19: {
        const [a, b] = [this.uniform(p, kernel, depth - 1), this.uniform(p, kernel, depth - 1)];
        return this.random() < 0.5
          ? p.select(this.uniform(p, kernel, 1), a, b)
          : p[this.pick(['equal', 'less'] as const)](a, b);
      }
      case 20: {
        const value = this.laneValue(p, kernel, 1);
        return this.pick([p.ballot(value), p.first(value), p.readLane(value, this.narrow(p, kernel, 1))]);
      }
      case 21:
        return this.turns.length > 0 ? this.pick(this.turns) : constant();
      default:
        return p[this.pick(['add', 'sub', 'and', 'or', 'xor'] as const)](
          this.uniform(p, kernel, depth - 1),
          this.random() < 0.3 ? this.pick([1, 64, 1000, 2 ** 32, 2 ** 45]) : this.uniform(p, kernel, depth - 1),
        );
    }
  }
}

/** A random probe with at most so many points in a kernel, but in some all; the same seed gives the same for the same program. */
export function randomProbe(seed: number, most = MANY): RandomProbe {
  const generator = new Generator(seed, most);
  const probe = defineProbe({
    name: `random-${seed}`,
    summary: 'random statements at random points',
    state: STATE,
    instrument: ({ program, at }) =>
      generator.place(
        program,
        at,
        program.kernels.filter((k) => k.isKernel),
      ),
    report: ({ state }) => ({
      totals: TOTALS.map((name) => state[name].value),
      sites: state.sites.sites,
      table: state.table.values,
      rows: state.rows,
    }),
  });
  return { probe, points: generator.points };
}

export { registersOf };
