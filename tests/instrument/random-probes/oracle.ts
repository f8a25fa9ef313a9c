// What a random probe must find, from an observer of the original on the reference interpreter: the values of its statements whenever
// one of its points is reached.

import { initialRegisters } from '../../../src/check/index.ts';
import type { DispatchInfo, Monitor } from '../../../src/device/sim/dispatch/monitor.ts';
import { WAVE_SCRATCH_BASE } from '../../../src/device/sim/state/layout.ts';
import { AGPR_BASE, EXEC, LANES, VCC, type Wave } from '../../../src/device/sim/state/wave.ts';
import { popcount } from '../../../src/device/sim/tools/lanes.ts';
import { isLane, isWide, type Statement, type Value } from '../../../src/instrument/values.ts';
import { registerFromText } from '../../../src/isa/index.ts';
import { effectsOf, Slot, slotsOf } from '../../../src/program/index.ts';
import { type RandomPoint, TABLE } from './generate.ts';

const MASK32 = 0xffffffffn;
const MASK64 = 0xffffffffffffffffn;
const M0 = 124;
/** Bytes around what a dispatch allocates, its scratch, arguments and packet, whose addresses may differ between the runs. */
const REACH = 1 << 18;

/** A record as text, to compare lists whatever their order. */
export type Row = string;

/** What the probe must have at the end. */
export interface Expected {
  /** By the name of the counter. */
  readonly totals: Map<string, bigint>;
  /** By address. */
  readonly sites: Map<number, bigint>;
  readonly rows: Map<Row, number>;
  appended: number;
  /** Points whose values depended on registers that nothing had written, or on where the code is: they are not compared. */
  readonly tainted: Set<number>;
  /** Totals that are not compared. */
  readonly taintedTotals: Set<string>;
  /** The counters of the table. */
  readonly table: bigint[];
  isTableTainted: boolean;
  /** How many records there are is not compared. */
  isAppendedTainted: boolean;
}

export function rowText(
  pc: number,
  number: number,
  wide: bigint,
  lanes: ArrayLike<number>,
  wideLanes: ArrayLike<bigint>,
): Row {
  return [pc, number, wide, ...Array.from(lanes), ...Array.from(wideLanes)].join(' ');
}

const ALL = MASK64;
/** Lanes of their results come from other lanes. */
const ACROSS_LANES = /lane_|lane16|lane32|permute|swizzle|mfma|mfmac|_dpp|permlane/;

/** The lanes of each register that hold what the kernel computed from what it was given; of scalar registers all or none. */
class WrittenLanes extends Map<number, bigint> {
  /** Whether these lanes of a register are written. */
  override has(slot: number, lanes: bigint = ALL): boolean {
    const own = this.get(slot) ?? 0n;
    return slot < Slot.VGPR0 ? own === ALL : (own & lanes) === lanes;
  }

  /** What an instruction with these active lanes writes is as good as what it reads. */
  execute(instruction: Parameters<typeof effectsOf>[0], exec: bigint): void {
    const { uses, defs } = effectsOf(instruction);
    const isAcross = ACROSS_LANES.test(instruction.row.operation);
    let lanes = ALL;
    for (const { first, count } of uses) {
      for (let slot = first; slot < first + count; slot++) {
        const isTracked =
          slot < 102 || slot >= Slot.SCC || slot === Slot.M0 || slot === Slot.VCC || slot === Slot.VCC + 1;
        if (!isTracked) continue;
        if (slot < Slot.VGPR0 || isAcross) lanes = this.has(slot, ALL) ? lanes : 0n;
        else lanes &= (this.get(slot) ?? 0n) | ~exec;
      }
    }
    const isWhole = (lanes & exec) === exec;
    for (const { first, count } of defs) {
      for (let slot = first; slot < first + count; slot++) {
        const old = this.get(slot) ?? 0n;
        if (slot < Slot.VGPR0) this.set(slot, isWhole && lanes !== 0n ? ALL : 0n);
        else if (isAcross)
          this.set(slot, lanes === 0n ? 0n : /mfma/.test(instruction.row.operation) ? ALL : old | exec);
        else this.set(slot, ((old & ~exec) | (lanes & exec)) & ALL);
      }
    }
  }
}

/** Watches the original at the points. */
export class Oracle implements Monitor {
  readonly expected: Expected = {
    totals: new Map(),
    sites: new Map(),
    rows: new Map(),
    appended: 0,
    tainted: new Set(),
    table: new Array<bigint>(TABLE.length).fill(0n),
    isTableTainted: false,
    taintedTotals: new Set(),
    isAppendedTainted: false,
  };
  private readonly points = new Map<number, RandomPoint[]>();
  private readonly base: number;
  private info!: DispatchInfo;
  private readonly written = new WeakMap<Wave, WrittenLanes>();

  private narrowed: bigint | undefined;
  /** Turns of loops. */
  private readonly indexes = new Map<number, bigint>();
  /** Whether what was evaluated last depends on what is not the same in both runs. */
  private isDoubtful = false;

  /** Low halves of addresses that are not the same in both runs: of code objects, then of the dispatch's scratch. */
  private readonly places: readonly (readonly [number, number])[];

  /** Kernels whose scratch is larger in the other run, with its bytes a lane in this one. */
  private readonly borrowers: ReadonlyMap<string, number>;

  /**
   * `base`: the loaded address of the file's address 0; `places`: first and last address of code objects; `borrowers`: kernels that have
   * more scratch once they are probed, with the bytes a lane that they had.
   */
  constructor(
    base: number,
    points: readonly RandomPoint[],
    places: readonly (readonly [number, number])[],
    borrowers: ReadonlyMap<string, number>,
  ) {
    this.base = base;
    this.borrowers = borrowers;
    this.places = places.map(([first, last]) => [first % 2 ** 32, last % 2 ** 32]);
    for (const point of points) {
      const list = this.points.get(point.pc);
      if (list === undefined) this.points.set(point.pc, [point]);
      else list.push(point);
    }
  }

  startDispatch(info: DispatchInfo): void {
    this.info = info;
  }

  startWorkgroup(_: unknown, waves: readonly Wave[]): void {
    for (const wave of waves) {
      const written = new WrittenLanes();
      const { descriptor } = this.info.launch;
      for (const { first, count } of initialRegisters(descriptor))
        for (let i = 0; i < count; i++) written.set(first + i, ALL);
      const borrowed = this.borrowers.get(this.info.launch.kernelName);
      // Where nothing has scratch, the register that the checker allows for its offset holds nothing; with more of it waves begin elsewhere.
      const {
        userSgprCount,
        enableSgprWorkgroupIdX: x,
        enableSgprWorkgroupIdY: y,
        enableSgprWorkgroupIdZ: z,
      } = descriptor.rsrc2;
      if (descriptor.rsrc2.enablePrivateSegment === 0 || borrowed !== undefined)
        written.delete(userSgprCount + x + y + z + descriptor.rsrc2.enableSgprWorkgroupInfo);
      // The resource of scratch holds an address then that it does not hold here.
      if (borrowed === 0)
        for (let i = 0; i < 4 * descriptor.properties.enableSgprPrivateSegmentBuffer; i++) written.delete(i);
      this.written.set(wave, written);
    }
  }

  before(w: Wave, pc: number): void {
    for (const point of this.points.get(pc - this.base) ?? [])
      if (point.side === 'before' || point.side === 'entry' || point.side === 'kernel-entry') this.reached(point, w);
  }

  after(
    w: Wave,
    pc: number,
    bound: { readonly instruction: Parameters<typeof effectsOf>[0]; readonly size: number },
  ): void {
    this.written.get(w)?.execute(bound.instruction, this.ownExec(w));
    const isTaken = w.pc !== pc + bound.size || this.isTakenToNext(bound.instruction.row.operation, w);
    for (const point of this.points.get(pc - this.base) ?? [])
      if ((point.side === 'after' && !isTaken) || (point.side === 'taken' && isTaken)) this.reached(point, w);
  }

  /** Whether an instruction behind which the next one follows is a branch to it that was taken: compilers leave `s_branch 0`. */
  private isTakenToNext(operation: string, w: Wave): boolean {
    if (operation === 's_branch') return true;
    const [, what, when] = /^s_cbranch_(scc|vcc|exec)(.+)$/.exec(operation) ?? [];
    if (what === undefined || when === undefined) return false;
    const vcc = ((w.sgprs[VCC] as number) | (w.sgprs[VCC + 1] as number)) !== 0;
    const isSet = { scc: w.scc, vcc, exec: this.ownExec(w) !== 0n }[what];
    return isSet === (when === '1' || when === 'nz');
  }

  private reached(point: RandomPoint, w: Wave): void {
    for (const statement of point.statements) this.statement(point, statement, w);
  }

  private taint(): void {
    this.isDoubtful = true;
  }

  /** What a statement changes, when it is not known whether or by how much. */
  private doubt(point: RandomPoint, statement: Statement): void {
    const { expected } = this;
    expected.tainted.add(point.pc);
    if ('body' in statement) for (const inner of statement.body) this.doubt(point, inner);
    else if (statement.kind === 'append') expected.isAppendedTainted = true;
    else if (statement.kind === 'add-at') expected.isTableTainted = true;
    else if (statement.kind === 'add' && statement.state !== 'sites') expected.taintedTotals.add(statement.state);
  }

  /** A word of a register; one that may be an address of code, scratch or the launch is not the same in both runs. */
  private word(value: number, w: Wave): bigint {
    const { scratchPerWave, kernarg, packet } = this.info.launch;
    const scratch = scratchPerWave === 0 ? kernarg : w.field(WAVE_SCRATCH_BASE);
    for (const at of [scratch, kernarg, packet]) if (Math.abs((value >>> 0) - (at % 2 ** 32)) < REACH) this.taint();
    for (const [first, last] of this.places) if (value >>> 0 >= first && value >>> 0 <= last) this.taint();
    return BigInt(value >>> 0);
  }

  private statement(point: RandomPoint, statement: Statement, w: Wave): void {
    const { expected } = this;
    this.isDoubtful = false;
    switch (statement.kind) {
      case 'add': {
        const value = isLane(statement.value)
          ? this.lanes(statement.value, w).reduce((sum, x, lane) => (this.isActive(lane, w) ? sum + x : sum), 0n)
          : this.uniform(statement.value, w);
        if (this.isDoubtful) this.doubt(point, statement);
        else if (statement.state !== 'sites')
          expected.totals.set(statement.state, ((expected.totals.get(statement.state) ?? 0n) + value) & MASK64);
        else expected.sites.set(point.pc, ((expected.sites.get(point.pc) ?? 0n) + value) & MASK64);
        return;
      }
      case 'if': {
        const isTrue = this.uniform(statement.condition, w) !== 0n;
        if (this.isDoubtful) this.doubt(point, statement);
        else if (isTrue) for (const inner of statement.body) this.statement(point, inner, w);
        return;
      }
      case 'where': {
        const lanes = this.lanes(statement.condition, w);
        const mask = lanes.reduce(
          (sum, x, lane) => (this.isActive(lane, w) && x !== 0n ? sum | (1n << BigInt(lane)) : sum),
          0n,
        );
        const outer = this.narrowed;
        if (this.isDoubtful) this.doubt(point, statement);
        else if (mask !== 0n) {
          this.narrowed = mask;
          for (const inner of statement.body) this.statement(point, inner, w);
          this.narrowed = outer;
        }
        return;
      }
      case 'loop': {
        const count = this.uniform(statement.count, w);
        if (this.isDoubtful) this.doubt(point, statement);
        else
          for (let turn = 0n; turn < count; turn++) {
            this.indexes.set(statement.loop, turn);
            for (const inner of statement.body) this.statement(point, inner, w);
          }
        return;
      }
      case 'add-at': {
        const { length } = TABLE;
        const index = this.everyLane(statement.index, w);
        const value = this.everyLane(statement.value, w);
        const isByLane = isLane(statement.index) || isLane(statement.value);
        if (this.isDoubtful) this.doubt(point, statement);
        else
          for (let lane = 0; lane < (isByLane ? LANES : 1); lane++) {
            if (isByLane && !this.isActive(lane, w)) continue;
            const at = Math.min(Number(index[lane]), length - 1);
            expected.table[at] = ((expected.table[at] as bigint) + (value[lane] as bigint)) & MASK64;
          }
        return;
      }
      case 'append': {
        const { number, wide, lanes, wideLanes } = statement.fields as Record<string, Value>;
        const active = (list: bigint[]): bigint[] => list.map((x, lane) => (this.isActive(lane, w) ? x : 0n));
        const row = rowText(
          point.pc,
          Number(this.uniform(number as Value, w)),
          this.uniform(wide as Value, w),
          active(this.lanes(lanes as Value, w)).map(Number),
          active(this.lanes(wideLanes as Value, w)),
        );
        if (this.isDoubtful) expected.tainted.add(point.pc);
        expected.rows.set(row, (expected.rows.get(row) ?? 0) + 1);
        expected.appended++;
        return;
      }
      default:
        throw new Error(`no oracle for ${statement.kind}`);
    }
  }

  private everyLane(value: Value, w: Wave): bigint[] {
    return isLane(value) ? this.lanes(value, w) : new Array<bigint>(LANES).fill(this.uniform(value, w));
  }

  private lanes(value: Value, w: Wave): bigint[] {
    if (value.op === 'lane-id') return Array.from({ length: LANES }, (_, n) => BigInt(n));
    if ('args' in value && value.op !== 'load') {
      const args = value.args.map((arg) => this.everyLane(arg, w));
      const mask = isWide(value) ? MASK64 : MASK32;
      return Array.from({ length: LANES }, (_, n) => {
        const operands = args.map((list) => list[n] as bigint);
        return whole(value.op, operands, isWide(value)) & mask;
      });
    }
    if (value.op !== 'register') throw new Error(`no oracle for ${value.op} by lane`);
    const { file, index, dwords } = this.register(value.name, w);
    const first = (file === 'a' ? AGPR_BASE : 0) + index;
    const word = (n: number, lane: number): bigint => this.word(w.vgprs[(first + n) * LANES + lane] as number, w);
    return Array.from({ length: LANES }, (_, lane) => word(0, lane) | (dwords === 2 ? word(1, lane) << 32n : 0n));
  }

  private register(name: string, w: Wave) {
    const register = registerFromText(name);
    const range = register && slotsOf(register);
    if (register === undefined || range === undefined) throw new Error(`no register ${name}`);
    for (let i = 0; i < range.count; i++) this.named(range.first + i, w);
    return register;
  }

  private scalar(n: number, w: Wave): bigint {
    return this.word(w.sgprs[n] as number, w);
  }

  private uniform(value: Value, w: Wave): bigint {
    if (isLane(value)) throw new Error('a value by lane');
    const result = this.unmasked(value, w);
    return result & (isWide(value) ? MASK64 : MASK32);
  }

  private isActive(lane: number, w: Wave): boolean {
    return ((this.exec(w) >> BigInt(lane)) & 1n) === 1n;
  }

  /** The active lanes: the wave's, or of them those of `where`. */
  private exec(w: Wave): bigint {
    return this.narrowed ?? this.ownExec(w);
  }

  private ownExec(w: Wave): bigint {
    return BigInt((w.sgprs[EXEC] as number) >>> 0) | (BigInt((w.sgprs[EXEC + 1] as number) >>> 0) << 32n);
  }

  private unmasked(value: Value, w: Wave): bigint {
    switch (value.op) {
      case 'constant':
        return value.value;
      case 'exec':
        return this.exec(w);
      case 'register': {
        if (value.name === 'scc') return this.named(Slot.SCC, w) && w.scc ? 1n : 0n;
        if (value.name === 'm0') return this.named(Slot.M0, w) ? this.scalar(M0, w) : 0n;
        if (value.name.startsWith('vcc')) {
          this.named(Slot.VCC, w);
          this.named(Slot.VCC + 1, w);
          const [lo, hi] = [this.scalar(VCC, w), this.scalar(VCC + 1, w)];
          return value.name === 'vcc_lo' ? lo : value.name === 'vcc_hi' ? hi : lo | (hi << 32n);
        }
        const { index, dwords } = this.register(value.name, w);
        return this.scalar(index, w) | (dwords === 2 ? this.scalar(index + 1, w) << 32n : 0n);
      }
      case 'entry': {
        const { launch } = this.info;
        const { id } = w.workgroup;
        const known: Readonly<Record<string, number>> = {
          dispatch: launch.packet,
          kernarg: launch.kernarg,
          'workgroup-x': id[0],
          'workgroup-y': id[1],
          'workgroup-z': id[2],
        };
        return BigInt(known[value.value] as number);
      }
      case 'load': {
        const at = Number(this.uniform(value.args[0], w)) + value.offset;
        const size = isWide(value) ? 8 : 4;
        const region = this.info.memory.find(at, size);
        if (region === undefined) throw new Error(`nothing at ${at.toString(16)}`);
        const bytes = region.bytes.slice(at - region.base, at - region.base + size);
        return size === 8
          ? (new BigUint64Array(bytes.buffer)[0] as bigint)
          : BigInt(new Uint32Array(bytes.buffer)[0] as number);
      }
      case 'ballot-class': {
        const arg = value.args[0] as Value;
        const [shift, ones] = isWide(arg) ? [52n, 0x7ffn] : [23n, 0xffn];
        return this.lanes(arg, w).reduce(
          (mask, x, lane) =>
            this.isActive(lane, w) && ((x >> shift) & ones) === ones ? mask | (1n << BigInt(lane)) : mask,
          0n,
        );
      }
      case 'ballot':
        return this.lanes(value.args[0] as Value, w).reduce(
          (mask, x, lane) => (this.isActive(lane, w) && x !== 0n ? mask | (1n << BigInt(lane)) : mask),
          0n,
        );
      case 'first': {
        const lane = Array.from({ length: LANES }, (_, n) => n).find((n) => this.isActive(n, w));
        // Without an active lane nothing is computed.
        if (lane === undefined) this.taint();
        return this.lanes(value.args[0] as Value, w)[lane ?? 0] as bigint;
      }
      case 'read-lane': {
        const lane = Number(this.uniform(value.args[1] as Value, w));
        if (!this.isActive(lane, w)) this.taint();
        return this.lanes(value.args[0] as Value, w)[lane] as bigint;
      }
      case 'index':
        return this.indexes.get(value.loop) as bigint;
      default:
        if (!('args' in value)) throw new Error(`no oracle for ${value.op}`);
        return whole(
          value.op,
          value.args.map((arg) => this.uniform(arg, w)),
          isWide(value),
        );
    }
  }

  /** Notes a read of a slot; true. */
  private named(slot: number, w: Wave): boolean {
    if (this.written.get(w)?.has(slot, this.exec(w)) !== true) this.taint();
    return true;
  }
}

/** An operation on whole numbers of a lane or of the wave. */
function whole(op: string, [a = 0n, b = 0n, c = 0n]: readonly bigint[], wide: boolean): bigint {
  const bits = wide ? 63n : 31n;
  switch (op) {
    case 'add':
      return a + b;
    case 'sub':
      return a - b;
    case 'mul':
      return a * b;
    case 'and':
      return a & b;
    case 'or':
      return a | b;
    case 'xor':
      return a ^ b;
    case 'shl':
      return a << (b & bits);
    case 'shr':
      return a >> (b & bits);
    case 'min':
      return a < b ? a : b;
    case 'max':
      return a < b ? b : a;
    case 'equal':
      return a === b ? 1n : 0n;
    case 'less':
      return a < b ? 1n : 0n;
    case 'is-zero':
      return a === 0n ? 1n : 0n;
    case 'select':
      return a !== 0n ? b : c;
    case 'popcount':
      return BigInt(popcount(Number(a & MASK32)) + popcount(Number(a >> 32n)));
    default:
      throw new Error(`no oracle for ${op}`);
  }
}
