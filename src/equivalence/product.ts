// Runs two programs side by side. A point is a pair of blocks that the two reach together; from each point both run to their next
// conditional branch or end, on terms. At a point, registers of either program that hold the same value on every way there share one
// term; the solver starts with as many equal as the first way shows and splits classes until nothing changes (congruence of the
// product program, found optimistically as in Alpern, Wegman and Zadeck's value numbering).
import { branchTarget } from '../isa/index.ts';
import { type CodeInstruction, type Program, Slot } from '../program/index.ts';
import type { Budget, Places } from './budget.ts';
import { NotFollowed } from './errors.ts';
import { isIdleSkip } from './idle.ts';
import { knownTrailingZeros } from './integers.ts';
import { Machine } from './machine.ts';
import { Memory, STATE_SIZE, type State } from './state.ts';
import type { Algebra, CodePlaces, Risk, Watcher } from './step.ts';
import { isConstant, type Term } from './terms.ts';

/** One of the two programs, with where its addresses count from. */
export interface Side {
  readonly program: Program;
  /** See `Step.imageShift`; undefined when addresses of the two files cannot be compared. */
  readonly imageShift: bigint | undefined;
  /** Indexes of instructions that may come too early, see `Machine`. */
  readonly early: ReadonlySet<number>;
  /** See `Step`. */
  readonly places: CodePlaces | undefined;
}

/** Where a proof stopped: an address of each program, and why. */
export class Mismatch extends Error {
  readonly places: Places;
  /** Pairs of terms of the two programs of which it would have to be shown that they are equal. */
  readonly open: readonly (readonly [Term, Term])[];

  constructor(message: string, places: Places, open: readonly (readonly [Term, Term])[] = []) {
    super(message);
    this.places = places;
    this.open = open;
  }
}

/** How a run from a point ends. */
type Stop =
  | {
      readonly kind: 'branch';
      readonly pc: number;
      readonly condition: Term;
      readonly taken: number;
      readonly next: number;
    }
  | { readonly kind: 'end'; readonly pc: number; readonly how: string };

/** A call, a return, or another jump through registers. */
interface Jump {
  readonly kind: 'jump';
  readonly to: number;
}

interface Edge {
  /** The number of the point it comes from; undefined: the entry. */
  readonly from: number | undefined;
  readonly states: readonly [State, State];
}

type CodeParts = Pick<Term, 'code' | 'codeLanes'>;

interface Point {
  readonly id: number;
  /** Address in each program; blocks begin there, and kernels with preloaded arguments. */
  readonly pcs: readonly [number, number];
  readonly ways: Map<string, Edge>;
  /** Both programs end before another branch. */
  isEnd: boolean;
  /** By register of the first program, then of the second. */
  entry: Term[] | undefined;
  /** The class a register was last in; -1: it holds the same term on every way. */
  readonly classes: Int32Array;
  /** By register: how many of its lowest bits were zero on every way that was seen. */
  readonly even: Uint8Array;
  /** Registers that nobody had written on one way that was seen. */
  readonly unspecified: Set<number>;
  /** By class: what of `Code` its registers were on any way that was seen, and in which lanes. */
  readonly code: Map<number, CodeParts>;
}

/** Told what happens on each side while the solved product is walked once more. */
export interface Observer {
  readonly access?: (side: 0 | 1, point: number, code: CodeInstruction, term: Term) => void;
  readonly risk?: (side: 0 | 1, point: number, code: CodeInstruction, risk: Risk) => void;
}

/** While the product is solved nobody listens. */
const NOBODY: Watcher = { access: () => {}, risk: () => {} };

/** Instructions that are executed on terms where loops are unrolled: a loop of known conditions may have no end. */
const UNROLLED_STEPS = 100_000;
/** Instructions between two branches, with those of called functions: a wrong jump may call for ever. */
const CALLED_STEPS = 100_000;
/** Blocks can be as long as a kernel. */
const STEPS_BETWEEN_CHECKS = 64;
/** Bytes of the states of both programs, and of what a point knows beside its entry. */
const STATES_BYTES = 16 * STATE_SIZE;
const POINT_BYTES = STATES_BYTES + 10 * STATE_SIZE;

/** How many of a value's lowest bits are known to be zero; of other things none. */
const evenBits = (term: Term): number => (term.kind === 'i32' || term.kind === 'i64' ? knownTrailingZeros(term) : 0);

const NO_CODE: CodeParts = { code: 0, codeLanes: 0n };
const joinCode = (x: CodeParts, y: CodeParts): CodeParts =>
  y.code === 0 ? x : { code: x.code | y.code, codeLanes: x.codeLanes | y.codeLanes };

export class Product {
  private readonly algebra: Algebra;
  private readonly sides: readonly [Side, Side];
  private readonly machines: readonly [Machine, Machine];
  private readonly budget: Budget;
  private readonly isUnrolling: boolean;
  private readonly isWithoutSkips: boolean;
  private readonly points = new Map<string, Point>();
  /** Instructions executed on terms, of both programs. */
  steps = 0;

  /**
   * `isUnrolling`: a branch whose condition is known is followed, however often, so that loops may be unrolled in one program.
   * `isWithoutSkips`: branches that only save time (`isIdleSkip`) are not taken, so that one program may lack them.
   */
  constructor(
    algebra: Algebra,
    sides: readonly [Side, Side],
    budget: Budget,
    { isUnrolling, isWithoutSkips }: { readonly isUnrolling: boolean; readonly isWithoutSkips: boolean },
  ) {
    this.algebra = algebra;
    this.isUnrolling = isUnrolling;
    this.isWithoutSkips = isWithoutSkips;
    this.sides = sides;
    this.budget = budget;
    const machine = ({ imageShift, early, places }: Side): Machine => new Machine(algebra, imageShift, early, places);
    this.machines = [machine(sides[0]), machine(sides[1])];
  }

  /** Points that were found. */
  get size(): number {
    return this.points.size;
  }

  /** Solves the product from pairs of entry addresses. Throws `Mismatch`, `LimitReached`. */
  solve(entries: readonly (readonly [number, number])[], initial: readonly [State, State]): void {
    const work: Point[] = [];
    const push = (point: Point): void => {
      if (!work.includes(point)) work.push(point);
    };
    for (const pcs of entries) {
      const point = this.point(pcs);
      point.ways.set('entry', { from: undefined, states: initial });
      this.budget.hold(STATES_BYTES);
      if (this.meet(point)) push(point);
    }
    while (work.length > 0) {
      // The earliest block first: loops settle before what follows them.
      work.sort((x, y) => y.pcs[0] - x.pcs[0] || y.pcs[1] - x.pcs[1]);
      const point = work.pop() as Point;
      for (const next of this.run(point)) push(next);
    }
    this.compareEndless();
  }

  /** What never ends has no last state: where no end can be reached, memory is the same at every point. */
  private compareEndless(): void {
    const { predecessors } = this;
    const list = [...this.points.values()];
    const ending = new Set(list.filter(({ isEnd }) => isEnd).map(({ id }) => id));
    const work = [...ending];
    for (let id = work.pop(); id !== undefined; id = work.pop()) {
      for (const from of predecessors.get(id) ?? []) {
        if (from === undefined || ending.has(from)) continue;
        ending.add(from);
        work.push(from);
      }
    }
    for (const point of list) {
      if (!ending.has(point.id)) this.compareMemories(this.statesAt(point), point.pcs);
    }
  }

  /** Walks every point of the solved product once. */
  observe({ access, risk }: Observer): void {
    for (const point of this.points.values()) {
      const states = this.statesAt(point);
      for (const side of [0, 1] as const) {
        this.trace(side, point.pcs[side], states[side], {
          access: (code, term) => access?.(side, point.id, code, term),
          risk: (code, what) => risk?.(side, point.id, code, what),
        });
      }
    }
  }

  /** For each point by its number: the points that lead to it; undefined among them is the entry. */
  get predecessors(): ReadonlyMap<number, readonly (number | undefined)[]> {
    return new Map([...this.points.values()].map(({ id, ways }) => [id, [...ways.values()].map(({ from }) => from)]));
  }

  private point(pcs: readonly [number, number]): Point {
    const key = pcs.join(',');
    let point = this.points.get(key);
    if (point === undefined) {
      const id = this.points.size;
      point = {
        id,
        pcs,
        ways: new Map(),
        isEnd: false,
        entry: undefined,
        classes: new Int32Array(2 * STATE_SIZE).fill(-1),
        even: new Uint8Array(2 * STATE_SIZE).fill(64),
        unspecified: new Set(),
        code: new Map(),
      };
      this.points.set(key, point);
      this.budget.hold(POINT_BYTES);
    }
    return point;
  }

  private statesAt(point: Point): [State, State] {
    const entry = point.entry as Term[];
    return [entry.slice(0, STATE_SIZE), entry.slice(STATE_SIZE)];
  }

  /** Runs both programs from a point; the points whose entry changed. */
  private run(point: Point): Point[] {
    const states = this.statesAt(point);
    const stops = ([0, 1] as const).map((side) => this.trace(side, point.pcs[side], states[side], NOBODY)) as [
      Stop,
      Stop,
    ];
    const [a, b] = stops;
    const places = [a.pc, b.pc] as const;
    if (a.kind === 'end' && b.kind === 'end') {
      point.isEnd = true;
      this.compareEnds(a, b, states, places);
      return [];
    }
    if (a.kind === 'end' || b.kind === 'end') throw new Mismatch('one kernel ends where the other goes on', places);
    const changed: Point[] = [];
    for (const [name, pcs] of this.waysOut(a, b, places)) {
      const next = this.point(pcs);
      const way = `${point.id}:${name}`;
      if (!next.ways.has(way)) this.budget.hold(STATES_BYTES);
      next.ways.set(way, { from: point.id, states });
      if (this.meet(next)) changed.push(next);
    }
    return changed;
  }

  private compareEnds(
    a: Extract<Stop, { kind: 'end' }>,
    b: Extract<Stop, { kind: 'end' }>,
    states: readonly [State, State],
    places: readonly [number, number],
  ): void {
    if (a.how !== b.how) throw new Mismatch(`one kernel ends with ${a.how}, the other with ${b.how}`, places);
    this.compareMemories(states, places);
  }

  private compareMemories([x, y]: readonly [State, State], places: readonly [number, number]): void {
    // A wavefront that ended holds up no barrier: the others may read what it left in LDS.
    for (const [memory, name] of [
      [Memory.GLOBAL, 'device memory'],
      [Memory.LDS, 'LDS'],
    ] as const) {
      const [before, after] = [x[memory] as Term, y[memory] as Term];
      if (before !== after) this.explainMemory(before, after, name, places);
    }
  }

  /** Throws the first write or other effect of the second program that the first has not, or the other way round. */
  private explainMemory(before: Term, after: Term, memory: string, places: readonly [number, number]): never {
    const { memories } = this.algebra;
    const [x, y] = [memories.history(before), memories.history(after)];
    const authors: [Map<Term, number>, Map<Term, number>] = [new Map(), new Map()];
    this.observe({
      access: (side, _point, code, term) => {
        if (!authors[side].has(term)) authors[side].set(term, code.pc);
      },
    });
    const lone = (own: readonly Term[], other: readonly Term[]): Term | undefined => {
      const known = new Set(other);
      return own.find((term) => !known.has(term));
    };
    const [lost, extra] = [lone(x, y), lone(y, x)];
    const pcs = [lost && authors[0].get(lost), extra && authors[1].get(extra)] as const;
    const open: (readonly [Term, Term])[] = lost !== undefined && extra !== undefined ? [[lost, extra]] : [];
    open.push([before, after]);
    if (pcs[0] === undefined && pcs[1] === undefined) {
      throw new Mismatch(`what the kernels have done to ${memory} is not shown to be the same`, places, open);
    }
    if (pcs[1] === undefined) throw new Mismatch('the edited kernel lacks a write, or orders it otherwise', pcs, open);
    if (pcs[0] === undefined)
      throw new Mismatch('the edited kernel writes what the baseline does not, or orders it otherwise', pcs, open);
    throw new Mismatch('address or value of a write are not shown to be the same', pcs, open);
  }

  private *waysOut(
    a: Extract<Stop, { kind: 'branch' }>,
    b: Extract<Stop, { kind: 'branch' }>,
    places: readonly [number, number],
  ): Generator<[string, readonly [number, number]]> {
    const { integers } = this.algebra;
    const isSame = a.condition === b.condition;
    const isOpposite = a.condition === integers.not(b.condition) || integers.not(a.condition) === b.condition;
    if (!isSame && !isOpposite) {
      throw new Mismatch('the kernels branch on values that are not shown to be the same', places, [
        [a.condition, b.condition],
        [a.condition, integers.not(b.condition)],
      ]);
    }
    const [taken, next] = isSame ? [b.taken, b.next] : [b.next, b.taken];
    if (!isConstant(a.condition, 0n)) yield ['taken', [a.taken, taken]];
    if (!isConstant(a.condition, 1n)) yield ['next', [a.next, next]];
  }

  /** Runs one program to its next conditional branch or end, changing `state`; past branches whose condition is known when told to. */
  private trace(side: 0 | 1, start: number, state: State, watcher: Watcher): Stop {
    const seen = new Set<number>();
    const before = this.steps;
    let pc = start;
    for (;;) {
      if (seen.has(pc)) throw this.stopped(side, pc, 'a loop without a conditional branch');
      seen.add(pc);
      this.checkLimits(side, pc);
      const end = this.runBlock(side, pc, state, watcher);
      if (typeof end === 'number') pc = end;
      else if (end.kind === 'jump') {
        // A function may be called again.
        if (this.steps - before > CALLED_STEPS) this.budget.end('the instructions that are allowed are used up');
        seen.clear();
        pc = end.to;
      } else if (this.isUnrolling && end.kind === 'branch' && end.condition.op === 'const') {
        if (this.steps > UNROLLED_STEPS) this.budget.end('the instructions that are allowed are used up');
        seen.clear();
        pc = isConstant(end.condition, 1n) ? end.taken : end.next;
      } else return end;
    }
  }

  private stopped(side: 0 | 1, pc: number, why: string): Mismatch {
    return new Mismatch(why, side === 0 ? [pc, undefined] : [undefined, pc]);
  }

  /** Executes a block from an address in it; where control goes when there is one way only. */
  private runBlock(side: 0 | 1, start: number, state: State, watcher: Watcher): Stop | Jump | number {
    const { program } = this.sides[side];
    const machine = this.machines[side];
    const block = program.blockAt(start);
    let code = program.at(start);
    if (block === undefined || code === undefined)
      throw this.stopped(side, start, 'control leaves the code that was found');
    for (let i = code.index; i < block.end; i++) {
      code = program.instructions[i] as CodeInstruction;
      if (++this.steps % STEPS_BETWEEN_CHECKS === 0) this.checkLimits(side, code.pc);
      let outcome: ReturnType<Machine['step']>;
      try {
        outcome = machine.step(code, state, watcher);
      } catch (error) {
        if (error instanceof NotFollowed) throw this.stopped(side, code.pc, error.message);
        throw error;
      }
      if (outcome === undefined) continue;
      if (outcome.kind === 'end') return { kind: 'end', pc: code.pc, how: outcome.how };
      if (outcome.kind === 'jump') return { kind: 'jump', to: this.jump(side, code, outcome.target) };
      const taken = this.checked(side, code, branchTarget(code.instruction, code.pc));
      if (this.isWithoutSkips && isIdleSkip(program, code)) return code.pc + code.instruction.size;
      if (outcome.condition.op === 'const' && code.instruction.row.flags.has('isBarrier')) return taken;
      const next = this.checked(side, code, code.pc + code.instruction.size);
      return { kind: 'branch', pc: code.pc, condition: outcome.condition, taken, next };
    }
    return this.checked(side, code, code.pc + code.instruction.size);
  }

  /** An address that control goes to, which must be an instruction. */
  private checked(side: 0 | 1, code: CodeInstruction, pc: number | undefined): number {
    if (pc === undefined || this.sides[side].program.at(pc) === undefined) {
      throw this.stopped(side, code.pc, 'control leaves the code that was found');
    }
    return pc;
  }

  /** A jump through registers is followed when the address is known. */
  private jump(side: 0 | 1, code: CodeInstruction, target: Term): number {
    const { terms, integers } = this.algebra;
    const known = this.sides[side].places?.addresses.get(target);
    if (known !== undefined) return this.checked(side, code, known);
    const offset = integers.sub(target, terms.symbol('image', 'i64'));
    if (offset.op !== 'const') throw this.stopped(side, code.pc, 'a jump to an address that is not known');
    return this.checked(side, code, Number(BigInt.asIntN(64, offset.value + (this.sides[side].imageShift ?? 0n))));
  }

  private checkLimits(side: 0 | 1, pc: number): void {
    const [a, b] = this.budget.places;
    this.budget.places = side === 0 ? [pc, b] : [a, pc];
    this.budget.check();
  }

  /** Gives back what the states took; the terms stay. */
  release(): void {
    for (const { ways } of this.points.values()) this.budget.hold(-POINT_BYTES - STATES_BYTES * ways.size);
  }

  /** Computes what a point's registers hold from all ways to it; whether that changed. */
  private meet(point: Point): boolean {
    const ways = [...point.ways.values()];
    const classes = new Map<string, number>();
    const entry: Term[] = new Array(2 * STATE_SIZE);
    const { terms } = this.algebra;
    for (let i = 0; i < entry.length; i++) {
      const side = i < STATE_SIZE ? 0 : 1;
      const slot = side === 0 ? i : i - STATE_SIZE;
      const values = ways.map((way) => way.states[side][slot] as Term);
      const [first] = values as [Term];
      const isAgreed = values.every((v) => v === first) && !terms.mentions(first, point.id);
      if (isAgreed && point.classes[i] === -1) {
        entry[i] = first;
        continue;
      }
      // Classes only ever split: those that were apart stay apart.
      const key = `${point.classes[i]}|${values.map((v) => v.id).join(',')}`;
      let name = classes.get(key);
      if (name === undefined) {
        name = i;
        classes.set(key, name);
      }
      point.classes[i] = name;
      // By the register the class is named after, so that the same name always means the same.
      const isUniform = (name < STATE_SIZE ? name : name - STATE_SIZE) < Slot.VGPR0;
      let even = point.even[i] as number;
      for (const value of values) even = Math.min(even, evenBits(value));
      point.even[i] = even;
      if (values.some((v) => v.isUnspecified)) point.unspecified.add(name);
      const isUnspecified = point.unspecified.has(name);
      const known = point.code.get(name) ?? NO_CODE;
      const code = first.kind === 'effect' ? NO_CODE : values.reduce(joinCode, known);
      point.code.set(name, code);
      entry[i] = terms.phi(point.id, name, first.kind, { isUniform, even, isUnspecified, ...code });
    }
    const before = point.entry;
    point.entry = entry;
    return before === undefined || before.some((t, i) => t !== entry[i]);
  }
}
