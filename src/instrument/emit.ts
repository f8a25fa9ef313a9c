// Machine code of the statements of one point. Before it: SCC is saved where it may still be read, and EXEC. Memory is accessed by lane 0
// or by the kernel's active lanes; behind it the wave is as it was, but for the wait counters, which only rise: a kernel's own waits
// become stricter by that, never weaker.
import { registerFromText, type TargetName, targetInfo } from '../isa/index.ts';
import { type AsmPlace, filledIn, placeOf } from './asm-text.ts';
import { assembleLines } from './assemble.ts';
import { hookLines } from './emit-hook.ts';
import { type Sum, sumLines } from './emit-sums.ts';
import { hex, type PointResources, ValueEmitter } from './emit-values.ts';
import { fieldOffsets, type Gathering, type PlacedState, recordSize } from './state.ts';
import { clobberedBy, isLane, isWide, type Statement, type Value, valuesOf, writtenBy } from './values.ts';
import type { ProbeInstruction } from './view.ts';
import type { WaveCounter } from './wave-counters.ts';

/** A use of probe memory: see `MemoryReference` of the rewriter. */
export interface MemoryUse {
  readonly state: PlacedState;
  readonly site: number;
  readonly pc: number;
  readonly low: number;
  readonly high: number;
  /** Bytes behind the start of the state, besides those of the site. */
  readonly offset?: number;
}

export interface EmittedPoint {
  readonly code: Uint8Array;
  readonly uses: readonly MemoryUse[];
  readonly lastSgpr: number;
  readonly lastVgpr: number;
  /** Waits for everything outstanding that the code makes. */
  readonly drains: number;
}

/** Asks for 32 bits behind the instruction, which the rewriter fills. */
const PLACEHOLDER = '0x7fffffff';

/** How an atomic asks for the value that was there: a flag that targets name differently. */
function returnFlag(target: TargetName): string {
  return targetInfo(target).scopedCachePolicy ? 'sc0' : 'glc';
}

/** The 32-bit parts of a scalar register. */
function halvesOf(name: string): string[] {
  const tuple = /^s\[(\d+):(\d+)\]$/.exec(name);
  if (tuple !== null) return [`s${tuple[1]}`, `s${tuple[2]}`];
  return name === 'vcc' ? ['vcc_lo', 'vcc_hi'] : [name];
}

/** A statement that changes counters. */
type Gathered = Extract<Statement, { kind: 'add' | 'add-at' }>;

/** The instruction that gathers 64 bits in memory, which has the complement where `by` says so. */
function atomicName(by: Gathering): string {
  const name = { add: 'add', max: 'umax', min: 'umax', or: 'or', and: 'or', xor: 'xor' }[by];
  return `global_atomic_${name}_x2`;
}

/** Writes the code of one point. Throws `OutOfRegisters`. */
export class Emitter extends ValueEmitter {
  private readonly uses: MemoryUse[] = [];
  private readonly sites: ReadonlyMap<string, { readonly state: PlacedState; readonly site: number }>;
  private labels = 0;
  private readonly pc: number;
  private narrow: number | undefined;
  private readonly counters: ReadonlyMap<string, WaveCounter> | undefined;

  /** `counters`: those in registers, by the names of their states. */
  constructor(
    resources: PointResources,
    instruction: ProbeInstruction | undefined,
    pc: number,
    sites: ReadonlyMap<string, { readonly state: PlacedState; readonly site: number }>,
    counters?: ReadonlyMap<string, WaveCounter>,
  ) {
    super(resources, instruction);
    this.pc = pc;
    this.sites = sites;
    this.counters = counters;
  }

  /** The code of statements. */
  emit(statements: readonly Statement[]): EmittedPoint {
    const { isSccLive, target, drain, settle, loan, indexing } = this.resources;
    if (indexing !== undefined) this.line('s_set_gpr_idx_off');
    // Registers that are borrowed may have values on the way.
    if (settle === true) this.line('s_nop 15', 's_nop 3');
    if (drain || loan !== undefined) this.drain();
    if (loan !== undefined) this.line(...loan.before);
    const values = valuesOf(statements);
    const written = [...writtenBy(statements), ...clobberedBy(statements)];
    const keepsScc = isSccLive || written.includes('scc');
    if (keepsScc || values.some((v) => v.op === 'register' && v.name === 'scc')) this.scc = this.sgprs.one();
    if (this.scc >= 0) this.line(`s_cselect_b32 s${this.scc}, 1, 0`);
    if (this.isScalar(statements)) this.exec = 'exec';
    else {
      const exec = this.sgprs.pair();
      this.exec = `s[${exec}:${exec + 1}]`;
      this.line(`s_mov_b64 ${this.exec}, exec`);
    }
    if (values.some((v) => v.op === 'entry')) this.readKept();
    for (const statement of statements) this.statement(statement);
    this.allLanes();
    if (keepsScc) this.line(`s_cmp_lg_u32 s${this.scc}, 0`);
    // What reads a register right behind may want it written some cycles before.
    if (written.length > 0) this.line('s_nop 4');
    if (loan !== undefined) this.line(...loan.after);
    // M0 still has the index and the mode.
    if (indexing !== undefined) this.line(`s_set_gpr_idx_on m0, ${indexing}`);
    return this.emitted(target);
  }

  /** The code before the end of a wave that adds what its counters have. */
  emitSums(sums: readonly Sum[]): EmittedPoint {
    const { target, settle, indexing } = this.resources;
    if (indexing !== undefined) this.line('s_set_gpr_idx_off');
    if (settle === true) this.line('s_nop 15', 's_nop 3');
    for (const sum of sums) {
      const base = this.addressOf(sum.state);
      const [data, offset, scalar] = [this.vgprs.pair(), this.vgprs.one(), this.sgprs.one()];
      this.line(...sumLines(sum, { base: base.pair, data, offset, scalar }));
      this.vgprs.release(data, data + 1, offset);
      this.sgprs.release(base.first, base.first + 1, scalar);
    }
    return this.emitted(target);
  }

  private emitted(target: TargetName): EmittedPoint {
    return {
      code: assembleLines(target, this.lines),
      uses: this.uses,
      lastSgpr: this.sgprs.highest,
      lastVgpr: this.vgprs.highest,
      drains: this.drains,
    };
  }

  /** Whether all that statements do is done in scalar registers, with EXEC as it is. */
  private isScalar(statements: readonly Statement[]): boolean {
    return (
      statements.every((one) => one.kind === 'add' && this.counters?.has(one.state) === true) &&
      valuesOf(statements).every(({ op }) => op === 'constant' || op === 'exec' || op === 'popcount')
    );
  }

  private statement(statement: Statement): void {
    if (statement.kind === 'write') this.write(statement.register, statement.value);
    else if (statement.kind === 'add' && !isLane(statement.value)) this.add(statement);
    else {
      this.dropNarrowPair();
      if (statement.kind === 'append') this.append(statement.state, statement.fields);
      else if (statement.kind === 'hook') this.hook(statement);
      else if (statement.kind === 'asm') this.asm(statement);
      else if (statement.kind === 'add') this.addLanes(statement, undefined);
      else if (statement.kind === 'add-at') this.addLanes(statement, statement.index);
      else if (statement.kind === 'where') this.where(statement.condition, statement.body);
      else if (statement.kind === 'loop') this.loop(statement);
      else this.if(statement.condition, statement.body);
    }
  }

  private write(name: string, value: Value): void {
    const register = registerFromText(name);
    this.allLanes();
    if (register !== undefined && (register.file === 'v' || register.file === 'a')) {
      const data = this.vgprs.pair();
      if (isLane(value)) this.lanes(value, data);
      else this.broadcast(value, data);
      if (register.dwords === 2 && isLane(value) && !isWide(value)) this.line(`v_mov_b32_e32 v${data + 1}, 0`);
      for (let i = 0; i < register.dwords; i++) {
        const move = register.file === 'v' ? 'v_mov_b32_e32 v' : 'v_accvgpr_write_b32 a';
        this.line(`${move}${register.index + i}, v${data + i}`);
      }
      this.vgprs.release(data, data + 1);
      return;
    }
    const held = this.copied(value);
    const halves = name === 'exec' ? halvesOf(this.exec) : name === 'scc' ? [`s${this.scc}`] : halvesOf(name);
    for (const [i, half] of halves.entries())
      this.line(`s_mov_b32 ${half}, ${i === 0 ? held.low : isWide(value) ? held.high : '0'}`);
    if (name === 'exec') this.line(`s_mov_b64 exec, ${this.exec}`);
    held.release();
  }

  /** A value that is one for the wave, in all active lanes. */
  private broadcast(value: Value, to: number): void {
    const held = this.uniform(value);
    this.allLanes();
    this.line(`v_mov_b32_e32 v${to}, ${held.low}`, `v_mov_b32_e32 v${to + 1}, ${isWide(value) ? held.high : '0'}`);
    held.release();
  }

  /** Text with the registers of its inputs and outputs in it; what it overwrites is kept around it. */
  private asm({ asm, text, inputs }: Extract<Statement, { kind: 'asm' }>): void {
    const places = new Map<string, AsmPlace>();
    const given: (() => void)[] = [];
    for (const [i, value] of inputs.entries()) {
      const name = text.inputs[i] as string;
      if (isLane(value)) {
        const { first } = this.lanePair(value, () => this.allLanes());
        places.set(name, placeOf(value, first));
        given.push(() => this.vgprs.release(first, first + 1));
      } else {
        const held = this.uniform(value);
        const to = this.pair();
        this.line(`s_mov_b32 ${to.low}, ${held.low}`, `s_mov_b32 ${to.high}, ${isWide(value) ? held.high : '0'}`);
        held.release();
        places.set(name, placeOf(value, to.first));
        given.push(to.release);
      }
    }
    for (const { name, type } of text.outputs) {
      const place = placeOf({ type }, type.startsWith('lane') ? this.vgprs.pair() : this.sgprs.pair());
      places.set(name, place);
      this.outputs.set(`${asm} ${name}`, place);
    }
    this.allLanes();
    const kept = text.clobbers.map((name) => this.keptRegister(name));
    const label = this.labels;
    const names = text.lines.flatMap((line) => (line.kind === 'label' ? [line.name] : []));
    this.labels += names.length;
    const labelOf = (name: string): number => label + names.indexOf(name);
    this.line('s_mov_b64 exec, -1', ...kept.flatMap(({ keep }) => keep), `s_mov_b64 exec, ${this.exec}`, 's_nop 4');
    for (const line of text.lines) {
      if (line.kind === 'text') this.line(filledIn(line.text, places));
      else if (line.kind === 'label') this.line({ label: labelOf(line.name) });
      else this.line({ branch: line.branch, to: labelOf(line.name) });
    }
    if (text.hasMemory) this.drain();
    this.line('s_nop 4', 's_mov_b64 exec, -1', ...kept.flatMap(({ give }) => give), `s_mov_b64 exec, ${this.exec}`);
    for (const { release } of kept) release();
    for (const release of given) release();
  }

  /** Lines, in all lanes, that keep a register of the kernel and give it back. */
  private keptRegister(name: string): {
    readonly keep: string[];
    readonly give: string[];
    readonly release: () => void;
  } {
    const isVector = name.startsWith('v') && !name.startsWith('vcc');
    if (isVector || name.startsWith('a')) {
      const to = this.vgprs.one();
      return {
        keep: [isVector ? `v_mov_b32_e32 v${to}, ${name}` : `v_accvgpr_read_b32 v${to}, ${name}`],
        give: [isVector ? `v_mov_b32_e32 ${name}, v${to}` : `v_accvgpr_write_b32 ${name}, v${to}`],
        release: () => this.vgprs.release(to),
      };
    }
    const to = this.sgprs.one();
    return {
      keep: [`s_mov_b32 s${to}, ${name}`],
      give: [`s_mov_b32 ${name}, s${to}`],
      release: () => this.sgprs.release(to),
    };
  }

  private hook({ state, hook, implicit, args }: Extract<Statement, { kind: 'hook' }>): void {
    const use = this.sites.get(state);
    if (use === undefined) throw new Error(`no site of ${state}`);
    const given = args.map((arg) => this.lanePair(arg, () => (hook.isOnce ? this.oneLane() : this.allLanes())).first);
    if (hook.isOnce) this.oneLane();
    else this.allLanes();
    const label = this.labels;
    this.labels += hook.steps.length;
    const lines = hookLines(hook, {
      target: this.resources.target,
      pc: this.pc,
      sgprs: this.sgprs,
      vgprs: this.vgprs,
      label,
      exec: this.exec,
      implicit,
      args: given,
      entry: (value, to) => this.entryInto(value, to),
      address: (offset, marks) => this.uses.push(Object.assign(marks, { ...use, offset })),
    });
    this.drains++;
    this.line(...lines);
    for (const first of given) this.vgprs.release(first, first + 1);
    if (hook.writesExec) this.line(`s_mov_b64 exec, ${hook.isOnce ? '1' : this.exec}`);
  }

  private if(condition: Value, body: readonly Statement[]): void {
    const held = this.uniform(condition);
    const label = this.labels++;
    if (isWide(condition) && held.pair !== undefined) this.line(`s_cmp_lg_u64 ${held.pair}, 0`);
    else {
      const either = this.sgprs.one();
      this.line(
        `s_or_b32 s${either}, ${held.low}, ${isWide(condition) ? held.high : '0'}`,
        `s_cmp_lg_u32 s${either}, 0`,
      );
      this.sgprs.release(either);
    }
    held.release();
    this.allLanes();
    this.line({ branch: 's_cbranch_scc0', to: label });
    for (const statement of body) this.statement(statement);
    this.dropNarrowPair();
    this.allLanes();
    this.line({ label });
  }

  /** The lanes are those that are active for the statements inside. */
  private where(condition: Value, body: readonly Statement[]): void {
    const label = this.labels++;
    const mask = this.ballot(condition);
    const outer = this.exec;
    this.line(`s_cmp_eq_u64 ${mask.pair}, 0`, { branch: 's_cbranch_scc1', to: label });
    this.exec = mask.pair;
    this.line(`s_mov_b64 exec, ${mask.pair}`);
    for (const statement of body) this.statement(statement);
    this.dropNarrowPair();
    this.allLanes();
    this.exec = outer;
    this.line(`s_mov_b64 exec, ${outer}`, { label });
    mask.release();
  }

  private loop({ loop, count, body }: Extract<Statement, { kind: 'loop' }>): void {
    const times = this.copied(count);
    const index = this.sgprs.one();
    const [top, end] = [this.labels++, this.labels++];
    this.indexes.set(loop, index);
    this.allLanes();
    this.line(`s_mov_b32 s${index}, 0`, { label: top }, `s_cmp_ge_u32 s${index}, ${times.low}`);
    this.line({ branch: 's_cbranch_scc1', to: end });
    for (const statement of body) this.statement(statement);
    this.dropNarrowPair();
    this.allLanes();
    this.line(`s_add_u32 s${index}, s${index}, 1`, { branch: 's_branch', to: top }, { label: end });
    this.sgprs.release(index);
    times.release();
  }

  /** Every active lane adds to a counter, or to one of a table: lane 0 alone when nothing is by lane. */
  private addLanes({ state, by, value }: Gathered, index: Value | undefined): void {
    const shape = this.sites.get(state)?.state.shape;
    const isByLane = isLane(value) || (index !== undefined && isLane(index));
    const lanes = (): void => (isByLane ? this.allLanes() : this.oneLane());
    const data = this.lanePair(value, lanes).first;
    const at = this.lanePair(index ?? { type: 'u32', op: 'constant', value: 0n }, lanes).first;
    const base = this.addressOf(state);
    lanes();
    if (shape?.kind === 'table') {
      const last = this.vgprs.one();
      this.line(
        `v_mov_b32_e32 v${last}, ${hex(shape.length - 1)}`,
        `v_min_u32_e32 v${at}, v${at}, v${last}`,
        `v_lshlrev_b32_e32 v${at}, 3, v${at}`,
      );
      this.vgprs.release(last);
    }
    this.line(`${atomicName(by)} v${at}, v[${data}:${data + 1}], ${base.pair}`);
    this.vgprs.release(data, data + 1, at, at + 1);
    this.sgprs.release(base.first, base.first + 1);
  }

  /** The address of a piece of state in a scalar pair. */
  private addressOf(name: string): { readonly first: number; readonly pair: string } {
    const use = this.sites.get(name);
    if (use === undefined) throw new Error(`no site of ${name}`);
    const first = this.sgprs.pair();
    const marks = { pc: 0, low: 0, high: 0 };
    this.line(
      `s_getpc_b64 s[${first}:${first + 1}]`,
      {
        mark: (at) => {
          marks.pc = at;
        },
      },
      `s_add_u32 s${first}, s${first}, ${PLACEHOLDER}`,
      {
        mark: (at) => {
          marks.low = at - 4;
        },
      },
      `s_addc_u32 s${first + 1}, s${first + 1}, ${PLACEHOLDER}`,
      {
        mark: (at) => {
          marks.high = at - 4;
        },
      },
    );
    this.uses.push({
      ...use,
      get pc() {
        return marks.pc;
      },
      get low() {
        return marks.low;
      },
      get high() {
        return marks.high;
      },
    });
    return { first, pair: `s[${first}:${first + 1}]` };
  }

  private add({ state, by, value }: Gathered): void {
    const held = this.uniform(value);
    const counter = this.counters?.get(state);
    if (counter !== undefined) {
      this.line(`s_add_u32 s${counter.low}, s${counter.low}, ${held.low}`);
      if (counter.high !== undefined) this.line(`s_addc_u32 s${counter.high}, s${counter.high}, 0`);
      held.release();
      return;
    }
    const base = this.addressOf(state);
    this.oneLane();
    const isNarrow = !isWide(value);
    const data = isNarrow ? this.narrowPair() : this.vgprs.pair();
    // The high half of a value of 32 bits is zero, and so is the offset.
    const offset = isNarrow ? data + 1 : this.vgprs.one();
    this.line(`v_mov_b32_e32 v${data}, ${held.low}`);
    if (!isNarrow) this.line(`v_mov_b32_e32 v${data + 1}, ${held.high}`, `v_mov_b32_e32 v${offset}, 0`);
    this.line(`${atomicName(by)} v${offset}, v[${data}:${data + 1}], ${base.pair}`);
    if (!isNarrow) this.vgprs.release(data, data + 1, offset);
    this.sgprs.release(base.first, base.first + 1);
    held.release();
  }

  /** A pair whose high half is zero in lane 0, kept from one counter to the next. */
  private narrowPair(): number {
    if (this.narrow === undefined) {
      this.narrow = this.vgprs.pair();
      this.line(`v_mov_b32_e32 v${this.narrow + 1}, 0`);
    }
    return this.narrow;
  }

  private dropNarrowPair(): void {
    if (this.narrow !== undefined) this.vgprs.release(this.narrow, this.narrow + 1);
    this.narrow = undefined;
  }

  private append(state: string, fields: Readonly<Record<string, Value>>): void {
    const use = this.sites.get(state);
    const shape = use?.state.shape;
    if (use === undefined || shape?.kind !== 'records') throw new Error(`no records ${state}`);
    const offsets = fieldOffsets(shape.fields);
    const skip = this.labels++;
    const base = this.addressOf(state);
    const [index, high] = [this.sgprs.one(), this.sgprs.one()];
    const zero = this.vgprs.one();
    const [data, old] = [this.vgprs.pair(), this.vgprs.pair()];
    this.oneLane();
    this.line(
      `v_mov_b32_e32 v${data}, 1`,
      `v_mov_b32_e32 v${data + 1}, 0`,
      `v_mov_b32_e32 v${zero}, 0`,
      `global_atomic_add_x2 v[${old}:${old + 1}], v${zero}, v[${data}:${data + 1}], ${base.pair} ${returnFlag(this.resources.target)}`,
      's_waitcnt vmcnt(0)',
      `v_readfirstlane_b32 s${index}, v${old}`,
      `v_readfirstlane_b32 s${high}, v${old + 1}`,
    );
    this.drains++;
    this.vgprs.release(old, old + 1);
    this.allLanes();
    this.line(
      `s_cmp_lg_u32 s${high}, 0`,
      { branch: 's_cbranch_scc1', to: skip },
      `s_cmp_ge_u32 s${index}, ${hex(shape.capacity)}`,
      { branch: 's_cbranch_scc1', to: skip },
      `s_mul_hi_u32 s${high}, s${index}, ${hex(recordSize(shape.fields))}`,
      `s_mul_i32 s${index}, s${index}, ${hex(recordSize(shape.fields))}`,
      `s_add_u32 s${base.first}, s${base.first}, s${index}`,
      `s_addc_u32 s${base.first + 1}, s${base.first + 1}, s${high}`,
    );
    this.sgprs.release(index, high);
    // The records are behind the 8 bytes of their count; a record begins with its site.
    this.oneLane();
    this.line(
      `v_mov_b32_e32 v${data}, ${hex(use.site)}`,
      `global_store_dword v${zero}, v${data}, ${base.pair} offset:8`,
    );
    this.vgprs.release(data, data + 1);
    for (const [name, type] of Object.entries(shape.fields)) {
      const value = fields[name] as Value;
      const at = 8 + (offsets.get(name) as number);
      if (type === 'u32' || type === 'u64') this.storeUniform(value, type === 'u64', zero, base.first, at);
      else this.storeLanes(value, type === 'lane64', base.first, at);
    }
    this.allLanes();
    this.line({ label: skip });
    this.vgprs.release(zero);
    this.sgprs.release(base.first, base.first + 1);
  }

  private storeUniform(value: Value, wide: boolean, zero: number, base: number, at: number): void {
    const held = this.uniform(value);
    this.oneLane();
    const data = this.vgprs.pair();
    this.line(`v_mov_b32_e32 v${data}, ${held.low}`);
    if (wide) this.line(`v_mov_b32_e32 v${data + 1}, ${isWide(value) ? held.high : '0'}`);
    const stored = wide
      ? `global_store_dwordx2 v${zero}, v[${data}:${data + 1}]`
      : `global_store_dword v${zero}, v${data}`;
    this.line(`${stored}, s[${base}:${base + 1}] offset:${at}`);
    this.vgprs.release(data, data + 1);
    held.release();
  }

  private storeLanes(value: Value, wide: boolean, base: number, at: number): void {
    this.allLanes();
    const data = this.vgprs.pair();
    this.lanes(value, data);
    if (wide && !isWide(value)) this.line(`v_mov_b32_e32 v${data + 1}, 0`);
    const offset = this.vgprs.one();
    this.line(
      `v_mbcnt_lo_u32_b32 v${offset}, -1, 0`,
      `v_mbcnt_hi_u32_b32 v${offset}, -1, v${offset}`,
      `v_lshlrev_b32_e32 v${offset}, ${wide ? 3 : 2}, v${offset}`,
    );
    const stored = wide
      ? `global_store_dwordx2 v${offset}, v[${data}:${data + 1}]`
      : `global_store_dword v${offset}, v${data}`;
    this.line(`${stored}, s[${base}:${base + 1}] offset:${at}`);
    this.vgprs.release(data, data + 1, offset);
  }
}
