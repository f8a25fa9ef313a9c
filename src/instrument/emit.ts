// Machine code of the statements of one point. Before it: SCC is saved where it may still be read, and EXEC. Memory is accessed by lane 0
// or by the kernel's active lanes; behind it the wave is as it was, but for the wait counters, which only rise: a kernel's own waits
// become stricter by that, never weaker.
// Source: CDNA3 ISA manual, "Data Dependency Resolution"; LLVM's GCNHazardRecognizer (wait states between VALU and scalar reads).

import type { Register, TargetName } from '../isa/index.ts';
import { registerFromText } from '../isa/index.ts';
import { operandNamed } from '../isa/operand.ts';
import { slotsOf } from '../program/index.ts';
import { addressValue } from './address.ts';
import { assembleLine, assembleLines, type Line } from './assemble.ts';
import { RegisterPool } from './pool.ts';
import type { ProbeInstruction } from './select.ts';
import { fieldOffsets, type PlacedState, recordSize } from './state.ts';
import { type EntryValue, isWide, type Statement, type Value, valuesOf } from './values.ts';

/** A value in a register, or a constant: `s4`, `s[4:5]`, `v7`, `5`. */
interface Held {
  /** The low and, of 64 bits, the high half as operands. */
  readonly low: string;
  readonly high: string;
  /** The pair as one operand; undefined for constants and for halves that are no pair. */
  readonly pair: string | undefined;
  readonly release: () => void;
}

/** What a point has to work with. */
export interface PointResources {
  readonly target: TargetName;
  readonly sgprs: readonly number[];
  readonly vgprs: readonly number[];
  /** SCC may be read behind the point. */
  readonly isSccLive: boolean;
  /** Where what the wave knew at its start is kept. */
  readonly entry: ((value: EntryValue) => { readonly register: number; readonly lane: number }) | undefined;
  /** Registers that are read at the point may not have returned from memory. */
  readonly drain: boolean;
  /** Matrix instructions may still have to write registers that are used here. */
  readonly settle?: boolean | undefined;
}

/** A use of probe memory: see `MemoryReference` of the rewriter. */
export interface MemoryUse {
  readonly state: PlacedState;
  readonly site: number;
  readonly pc: number;
  readonly low: number;
  readonly high: number;
}

export interface EmittedPoint {
  readonly code: Uint8Array;
  readonly uses: readonly MemoryUse[];
  readonly lastSgpr: number;
  readonly lastVgpr: number;
  /** Waits for everything outstanding that the code makes. */
  readonly drains: number;
}

const NOTHING = (): void => {};
/** Asks for 32 bits behind the instruction, which the rewriter fills. */
const PLACEHOLDER = '0x7fffffff';

const returnFlags = new Map<TargetName, string>();

/** How an atomic asks for the value that was there: a flag that targets name differently. */
function returnFlag(target: TargetName): string {
  let flag = returnFlags.get(target);
  if (flag === undefined) {
    try {
      assembleLine(target, 'global_atomic_add_x2 v[0:1], v2, v[4:5], s[0:1] sc0');
      flag = 'sc0';
    } catch {
      flag = 'glc';
    }
    returnFlags.set(target, flag);
  }
  return flag;
}

/** Writes the code of one point. Throws `OutOfRegisters`. */
export class Emitter {
  private readonly resources: PointResources;
  private readonly instruction: ProbeInstruction | undefined;
  private readonly lines: Line[] = [];
  private readonly uses: MemoryUse[] = [];
  private readonly sgprs: RegisterPool;
  private readonly vgprs: RegisterPool;
  private readonly sites: ReadonlyMap<string, { readonly state: PlacedState; readonly site: number }>;
  private exec = '';
  private isOneLane = false;
  private labels = 0;
  private drains = 0;
  private narrow: number | undefined;

  constructor(
    resources: PointResources,
    instruction: ProbeInstruction | undefined,
    sites: ReadonlyMap<string, { readonly state: PlacedState; readonly site: number }>,
  ) {
    this.resources = resources;
    this.instruction = instruction;
    this.sites = sites;
    this.sgprs = new RegisterPool('s', resources.sgprs);
    this.vgprs = new RegisterPool('v', resources.vgprs);
  }

  /** The code of statements. */
  emit(statements: readonly Statement[]): EmittedPoint {
    const { isSccLive, target, drain, settle } = this.resources;
    const scc =
      isSccLive || valuesOf(statements).some((v) => v.op === 'register' && v.name === 'scc') ? this.sgprs.one() : -1;
    if (scc >= 0) this.line(`s_cselect_b32 s${scc}, 1, 0`);
    const exec = this.sgprs.pair();
    this.exec = `s[${exec}:${exec + 1}]`;
    this.line(`s_mov_b64 ${this.exec}, exec`);
    if (settle === true) this.line('s_nop 15', 's_nop 3');
    if (drain) this.drain();
    this.scc = scc;
    for (const statement of statements) this.statement(statement);
    this.allLanes();
    if (isSccLive) this.line(`s_cmp_lg_u32 s${scc}, 0`);
    return {
      code: assembleLines(target, this.lines),
      uses: this.uses,
      lastSgpr: this.sgprs.highest,
      lastVgpr: this.vgprs.highest,
      drains: this.drains,
    };
  }

  private scc = -1;

  private line(...lines: readonly Line[]): void {
    this.lines.push(...lines);
  }

  private drain(): void {
    this.line('s_waitcnt vmcnt(0) lgkmcnt(0)');
    this.drains++;
  }

  private oneLane(): void {
    if (!this.isOneLane) this.line('s_mov_b64 exec, 1');
    this.isOneLane = true;
  }

  private allLanes(): void {
    if (this.isOneLane) this.line(`s_mov_b64 exec, ${this.exec}`);
    this.isOneLane = false;
  }

  private statement(statement: Statement): void {
    if (statement.kind === 'add') this.add(statement.state, statement.value);
    else {
      this.dropNarrowPair();
      if (statement.kind === 'append') this.append(statement.state, statement.fields);
      else this.if(statement.condition, statement.body);
    }
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

  private add(state: string, value: Value): void {
    const held = this.uniform(value);
    const base = this.addressOf(state);
    this.oneLane();
    const isNarrow = !isWide(value);
    const data = isNarrow ? this.narrowPair() : this.vgprs.pair();
    // The high half of a value of 32 bits is zero, and so is the offset.
    const offset = isNarrow ? data + 1 : this.vgprs.one();
    this.line(`v_mov_b32_e32 v${data}, ${held.low}`);
    if (!isNarrow) this.line(`v_mov_b32_e32 v${data + 1}, ${held.high}`, `v_mov_b32_e32 v${offset}, 0`);
    this.line(`global_atomic_add_x2 v${offset}, v[${data}:${data + 1}], ${base.pair}`);
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

  /** Puts a value by lane into the register pair that begins at `to`. EXEC is the kernel's. */
  private lanes(value: Value, to: number): void {
    if (value.op === 'lane-id') {
      this.line(`v_mbcnt_lo_u32_b32 v${to}, -1, 0`, `v_mbcnt_hi_u32_b32 v${to}, -1, v${to}`);
    } else if (value.op === 'register') {
      const register = registerFromText(value.name) as Register;
      for (let i = 0; i < register.dwords; i++) {
        const from = register.index + i;
        this.line(
          register.file === 'a' ? `v_accvgpr_read_b32 v${to + i}, a${from}` : `v_mov_b32_e32 v${to + i}, v${from}`,
        );
      }
    } else if (value.op === 'address' && this.instruction !== undefined) {
      const carry = this.sgprs.pair();
      const scratch = this.sgprs.pair();
      const index = this.vgprs.one();
      this.line(...addressValue(this.instruction, { to, index, carry, scratch }));
      this.vgprs.release(index);
      this.sgprs.release(carry, carry + 1, scratch, scratch + 1);
    } else throw new Error(`no code for ${value.op} by lane`);
  }

  /** Evaluates a value that is one for the wave. */
  private uniform(value: Value): Held {
    switch (value.op) {
      case 'constant': {
        const [low, high] = [value.value & 0xffffffffn, value.value >> 32n];
        return { low: hex(Number(low)), high: hex(Number(high)), pair: undefined, release: NOTHING };
      }
      case 'exec':
        return this.named(this.exec);
      case 'register':
        return value.name === 'scc'
          ? { low: `s${this.scc}`, high: '0', pair: undefined, release: NOTHING }
          : this.named(value.name);
      case 'time': {
        const to = this.pair();
        this.line(`s_memtime ${to.pair}`, 's_waitcnt lgkmcnt(0)');
        this.drains++;
        return to;
      }
      case 'hardware': {
        const to = this.sgprs.one();
        this.line(`s_getreg_b32 s${to}, hwreg(${value.register})`);
        return { low: `s${to}`, high: '0', pair: undefined, release: () => this.sgprs.release(to) };
      }
      case 'entry':
        return this.entry(value.value, isWide(value));
      case 'load': {
        const address = this.uniform(value.args[0]);
        const to = this.pair();
        this.line(
          `s_load_dword${isWide(value) ? 'x2' : ''} ${isWide(value) ? to.pair : to.low}, ${address.pair}, ${hex(value.offset)}`,
          's_waitcnt lgkmcnt(0)',
        );
        this.drains++;
        address.release();
        return to;
      }
      case 'address':
        return this.scalarAddress();
      case 'ballot-class':
        return this.ballotClass(value.args[0] as Value);
      case 'lane-id':
        throw new Error('lane-id is no value of the wave');
      default:
        return this.operation(value.op, value.args, isWide(value));
    }
  }

  private pair(): Held & { readonly first: number; readonly pair: string } {
    const first = this.sgprs.pair();
    return {
      first,
      low: `s${first}`,
      high: `s${first + 1}`,
      pair: `s[${first}:${first + 1}]`,
      release: () => this.sgprs.release(first, first + 1),
    };
  }

  private named(name: string): Held {
    const tuple = /^s\[(\d+):(\d+)\]$/.exec(name);
    if (tuple !== null) return { low: `s${tuple[1]}`, high: `s${tuple[2]}`, pair: name, release: NOTHING };
    if (name === 'vcc') return { low: 'vcc_lo', high: 'vcc_hi', pair: 'vcc', release: NOTHING };
    return { low: name, high: '0', pair: undefined, release: NOTHING };
  }

  private entry(value: EntryValue, wide: boolean): Held {
    const place = this.resources.entry?.(value);
    if (place === undefined) throw new Error(`no place for ${value}`);
    const to = this.pair();
    this.line(`v_readlane_b32 ${to.low}, v${place.register}, ${place.lane}`);
    if (wide) this.line(`v_readlane_b32 ${to.high}, v${place.register}, ${place.lane + 1}`);
    return to;
  }

  private scalarAddress(): Held {
    const { instruction } = (this.instruction as ProbeInstruction).code;
    const base = operandNamed(instruction, 'sbase');
    const offset = operandNamed(instruction, 'offset');
    const register = operandNamed(instruction, 'soffset');
    const to = this.pair();
    if (base?.kind !== 'reg') throw new Error('a scalar load has a base');
    const first = slotsOf(base)?.first ?? 0;
    this.line(`s_mov_b64 ${to.pair}, ${base.dwords === 2 ? base.text : `s[${first}:${first + 1}]`}`);
    // Of a buffer descriptor the address has 48 bits.
    if (base.dwords === 4) this.line(`s_and_b32 ${to.high}, ${to.high}, 0xffff`);
    const parts = [
      ...(offset?.kind === 'imm' && offset.value !== 0
        ? [{ low: hex(offset.value >>> 0), high: offset.value < 0 ? '-1' : '0' }]
        : []),
      ...(register?.kind === 'reg' ? [{ low: register.text, high: '0' }] : []),
    ];
    for (const { low, high } of parts) {
      this.line(`s_add_u32 ${to.low}, ${to.low}, ${low}`, `s_addc_u32 ${to.high}, ${to.high}, ${high}`);
    }
    return to;
  }

  /** Lanes whose float is NaN or infinite: the classes 0, 1, 2 and 9 of v_cmp_class. */
  private ballotClass(value: Value): Held {
    this.allLanes();
    const data = this.vgprs.pair();
    const mask = this.vgprs.one();
    this.lanes(value, data);
    const to = this.pair();
    const operand = isWide(value) ? `v[${data}:${data + 1}]` : `v${data}`;
    this.line(
      `v_mov_b32_e32 v${mask}, 0x207`,
      `v_cmp_class_f${isWide(value) ? 64 : 32}_e64 ${to.pair}, ${operand}, v${mask}`,
      's_nop 1',
    );
    this.vgprs.release(data, data + 1, mask);
    return to;
  }

  private operation(op: string, args: readonly Value[], wide: boolean): Held {
    const held = args.map((arg) => this.uniform(arg));
    const [a, b] = held as [Held, Held];
    const to = this.pair();
    const highs = args.map((arg, i) => (isWide(arg) ? (held[i] as Held).high : '0'));
    switch (op) {
      case 'popcount':
        this.line(...this.counted(args[0] as Value, a, to));
        break;
      case 'is-zero':
        this.line(
          `s_or_b32 ${to.low}, ${a.low}, ${highs[0]}`,
          `s_cmp_eq_u32 ${to.low}, 0`,
          `s_cselect_b32 ${to.low}, 1, 0`,
        );
        break;
      case 'add':
      case 'sub': {
        const [low, high] = op === 'add' ? ['s_add_u32', 's_addc_u32'] : ['s_sub_u32', 's_subb_u32'];
        this.binary(low, to.low, a.low, b.low);
        if (wide) this.binary(high, to.high, highs[0] as string, highs[1] as string);
        break;
      }
      case 'and':
      case 'or':
        this.binary(`s_${op}_b32`, to.low, a.low, b.low);
        if (wide) this.binary(`s_${op}_b32`, to.high, highs[0] as string, highs[1] as string);
        break;
      default:
        this.binary(
          ({ mul: 's_mul_i32', shl: 's_lshl_b32', shr: 's_lshr_b32' } as Record<string, string>)[op] as string,
          to.low,
          a.low,
          b.low,
        );
    }
    for (const one of held) one.release();
    return to;
  }

  /** An instruction takes one literal: two go through a move. */
  private binary(mnemonic: string, to: string, a: string, b: string): void {
    const isLiteral = (text: string): boolean => text.startsWith('0x') && Number(text) > 64;
    if (isLiteral(a) && isLiteral(b)) {
      const other = this.sgprs.one();
      this.line(`s_mov_b32 s${other}, ${a}`, `${mnemonic} ${to}, s${other}, ${b}`);
      this.sgprs.release(other);
    } else this.line(`${mnemonic} ${to}, ${a}, ${b}`);
  }

  private counted(value: Value, a: Held, to: Held): Line[] {
    if (!isWide(value)) return [`s_bcnt1_i32_b32 ${to.low}, ${a.low}`];
    if (a.pair !== undefined) return [`s_bcnt1_i32_b64 ${to.low}, ${a.pair}`];
    return [
      `s_bcnt1_i32_b32 ${to.low}, ${a.low}`,
      `s_bcnt1_i32_b32 ${to.high}, ${a.high}`,
      `s_add_u32 ${to.low}, ${to.low}, ${to.high}`,
    ];
  }
}

function hex(value: number): string {
  return `0x${(value >>> 0).toString(16)}`;
}
