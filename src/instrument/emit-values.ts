// Machine code that computes values: those that are one for the wave in scalar registers, those by lane in vector registers. A class that
// emit.ts extends with statements.
// Source: CDNA3 ISA manual, "Data Dependency Resolution"; LLVM's GCNHazardRecognizer (wait states between VALU and scalar reads).

import type { Register, TargetName } from '../isa/index.ts';
import { registerFromText } from '../isa/index.ts';
import { operandNamed } from '../isa/operand.ts';
import { slotsOf } from '../program/index.ts';
import { addressValue } from './address.ts';
import type { AsmPlace } from './asm-text.ts';
import type { Line } from './assemble.ts';
import type { Loan } from './borrow.ts';
import type { EntryValue, KeptPlace } from './entry-value.ts';
import { laneOperation, maskOf } from './lane-operations.ts';
import { RegisterPool } from './pool.ts';
import { isLane, isWide, type Operation, type Value } from './values.ts';
import type { ProbeInstruction } from './view.ts';

/** A value in a register, or a constant: `s4`, `s[4:5]`, `v7`, `5`. */
export interface Held {
  /** The low and, of 64 bits, the high half as operands. */
  readonly low: string;
  readonly high: string;
  /** The pair as one operand; undefined for constants and for halves that are no pair. */
  readonly pair: string | undefined;
  readonly release: () => void;
}

/** Where what the wave knew at its start is kept: lanes of a vector or an accumulation register, or of a dword in scratch. */
export interface KeptValues {
  readonly place: KeptPlace;
  readonly laneOf: (value: EntryValue) => number;
}

/** What a point has to work with. */
export interface PointResources {
  readonly target: TargetName;
  readonly sgprs: readonly number[];
  readonly vgprs: readonly number[];
  /** SCC may be read behind the point. */
  readonly isSccLive: boolean;
  /** The mode of s_set_gpr_idx_on that is on at the point. */
  readonly indexing?: string | undefined;
  /** Where what the wave knew at its start is kept. */
  readonly entry: KeptValues | undefined;
  /** Registers that are read at the point may not have returned from memory. */
  readonly drain: boolean;
  /** Matrix instructions may still have to write registers that are used here. */
  readonly settle?: boolean | undefined;
  /** Some of the registers are borrowed. */
  readonly loan: Loan | undefined;
}

const NOTHING = (): void => {};

/** Lines of code, registers to write them with, and whether EXEC is the kernel's or lane 0. */
export class ValueEmitter {
  protected readonly resources: PointResources;
  protected readonly instruction: ProbeInstruction | undefined;
  protected readonly lines: Line[] = [];
  protected readonly sgprs: RegisterPool;
  protected readonly vgprs: RegisterPool;
  /** Where EXEC of the kernel is kept, and SCC. */
  protected exec = '';
  protected scc = -1;
  protected drains = 0;
  /** The vector register that kept values are read from. */
  private kept = -1;
  private isOneLane = false;
  /** The registers that count the turns of loops. */
  protected readonly indexes = new Map<number, number>();
  /** Where outputs of assembly text are, by its number and their names. */
  protected readonly outputs = new Map<string, AsmPlace>();

  constructor(resources: PointResources, instruction: ProbeInstruction | undefined) {
    this.resources = resources;
    this.instruction = instruction;
    this.sgprs = new RegisterPool('s', resources.sgprs);
    this.vgprs = new RegisterPool('v', resources.vgprs);
  }

  protected line(...lines: readonly Line[]): void {
    this.lines.push(...lines);
  }

  protected drain(): void {
    this.line('s_waitcnt vmcnt(0) lgkmcnt(0)');
    this.drains++;
  }

  protected oneLane(): void {
    if (!this.isOneLane) this.line('s_mov_b64 exec, 1');
    this.isOneLane = true;
  }

  protected allLanes(): void {
    if (this.isOneLane) this.line(`s_mov_b64 exec, ${this.exec}`);
    this.isOneLane = false;
  }

  /** Puts a value by lane into the register pair that begins at `to`. EXEC is the kernel's. */
  protected lanes(value: Value, to: number): void {
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
    } else if (value.op === 'output') {
      const { first, wide } = this.outputs.get(`${value.asm} ${value.name}`) as AsmPlace;
      for (const i of wide ? [0, 1] : [0]) this.line(`v_mov_b32_e32 v${to + i}, v${first + i}`);
    } else if (value.op === 'address' && this.instruction !== undefined) {
      const carry = this.sgprs.pair();
      const scratch = this.sgprs.pair();
      const index = this.vgprs.one();
      this.line(...addressValue(this.instruction, { to, index, carry, scratch }));
      this.vgprs.release(index);
      this.sgprs.release(carry, carry + 1, scratch, scratch + 1);
    } else if ('args' in value) this.laneValue(value.op as Operation, value.args, isWide(value), to);
    else throw new Error(`no code for ${value.op} by lane`);
  }

  /** An operation in every active lane. */
  private laneValue(op: Operation, args: readonly Value[], wide: boolean, to: number): void {
    const pairs = args.map((arg) => this.lanePair(arg, () => this.allLanes()));
    this.allLanes();
    this.operate(op, pairs, wide, to);
  }

  /** An operation with EXEC as it is; its operands' registers are given back. */
  private operate(op: Operation, pairs: readonly { first: number; wide: boolean }[], wide: boolean, to: number): void {
    const mask = this.sgprs.pair();
    this.line(...laneOperation(op, wide, to, pairs, mask));
    this.sgprs.release(mask, mask + 1);
    for (const { first } of pairs) this.vgprs.release(first, first + 1);
  }

  /** A value in vector registers of its own, the upper one zero when it has 32 bits; `lanes` sets those that one for the wave goes to. */
  protected lanePair(value: Value, lanes: () => void): { readonly first: number; readonly wide: boolean } {
    const wide = isWide(value);
    if (isLane(value)) {
      const first = this.vgprs.pair();
      this.allLanes();
      this.lanes(value, first);
      // Of an address the carries were in scalar registers that may be read next.
      if (value.op === 'address') this.line('s_nop 1');
      this.allLanes();
      if (!wide) this.line(`v_mov_b32_e32 v${first + 1}, 0`);
      return { first, wide };
    }
    const held = this.uniform(value);
    const first = this.vgprs.pair();
    lanes();
    this.line(`v_mov_b32_e32 v${first}, ${held.low}`, `v_mov_b32_e32 v${first + 1}, ${wide ? held.high : '0'}`);
    held.release();
    return { first, wide };
  }

  /** A float that is one for the wave: scalar units have no floats, lane 0 computes it. */
  private floatValue(op: Operation, args: readonly Value[], wide: boolean): Held {
    const pairs = args.map((arg) => this.lanePair(arg, () => this.oneLane()));
    const result = this.vgprs.pair();
    this.oneLane();
    this.operate(op, pairs, wide, result);
    return this.taken(result, wide, (i) => `v_readfirstlane_b32 ${i === 0 ? 'LOW' : 'HIGH'}, v${result + i}`);
  }

  /** What instructions take of a pair of vector registers, which is given back; of each half, `LOW` and `HIGH` stand for the scalar ones. */
  private taken(data: number, wide: boolean, take: (half: number) => string): Held {
    const to = this.pair();
    this.line('s_nop 1');
    for (const i of wide ? [0, 1] : [0]) this.line(take(i).replace('LOW', to.low).replace('HIGH', to.high));
    this.line('s_nop 1');
    this.vgprs.release(data, data + 1);
    return to;
  }

  /** One value of those by lane: what the first active lane has, or a lane by its number. */
  private oneOfLanes(op: 'first' | 'read-lane', [value, lane]: readonly Value[]): Held {
    const number = lane === undefined ? undefined : this.uniform(lane);
    const { first } = this.lanePair(value as Value, () => this.allLanes());
    this.allLanes();
    // A lane's number is written some cycles before it is used.
    if (number !== undefined) this.line('s_nop 3');
    const to = this.taken(first, isWide(value as Value), (i) => {
      const half = i === 0 ? 'LOW' : 'HIGH';
      return op === 'first'
        ? `v_readfirstlane_b32 ${half}, v${first + i}`
        : `v_readlane_b32 ${half}, v${first + i}, ${number?.low}`;
    });
    number?.release();
    return to;
  }

  /** The active lanes where a value is not zero. */
  protected ballot(value: Value): Held & { readonly first: number; readonly pair: string } {
    const pair = this.lanePair(value, () => this.allLanes());
    this.allLanes();
    const to = this.pair();
    this.line(...maskOf(pair, to.pair));
    this.vgprs.release(pair.first, pair.first + 1);
    return to;
  }

  /** Evaluates a value that is one for the wave. */
  protected uniform(value: Value): Held {
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
        if (address.pair === undefined)
          this.line(`s_mov_b32 ${to.low}, ${address.low}`, `s_mov_b32 ${to.high}, ${address.high}`);
        this.line(
          `s_load_dword${isWide(value) ? 'x2' : ''} ${isWide(value) ? to.pair : to.low}, ${address.pair ?? to.pair}, ${hex(value.offset)}`,
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
      case 'ballot':
        return this.ballot(value.args[0] as Value);
      case 'first':
      case 'read-lane':
        return this.oneOfLanes(value.op, value.args);
      case 'index':
        return { low: `s${this.indexes.get(value.loop)}`, high: '0', pair: undefined, release: NOTHING };
      case 'output': {
        const { first, wide } = this.outputs.get(`${value.asm} ${value.name}`) as AsmPlace;
        return this.named(wide ? `s[${first}:${first + 1}]` : `s${first}`);
      }
      case 'lane-id':
        throw new Error('lane-id is no value of the wave');
      default:
        if (/f32|f64/.test(value.op)) return this.floatValue(value.op, value.args, isWide(value));
        return this.operation(value.op, value.args, isWide(value));
    }
  }

  /** A value in a pair of its own: a register that is read may be one that is written next. */
  protected copied(value: Value): Held {
    const held = this.uniform(value);
    if (value.op === 'constant') return held;
    const to = this.pair();
    this.line(`s_mov_b32 ${to.low}, ${held.low}`, `s_mov_b32 ${to.high}, ${isWide(value) ? held.high : '0'}`);
    held.release();
    return to;
  }

  protected pair(): Held & { readonly first: number; readonly pair: string } {
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
    // Only pairs that begin with an even register are operands.
    if (tuple !== null) {
      const pair = Number(tuple[1]) % 2 === 0 ? name : undefined;
      return { low: `s${tuple[1]}`, high: `s${tuple[2]}`, pair, release: NOTHING };
    }
    if (name === 'vcc' || name === 'exec')
      return { low: `${name}_lo`, high: `${name}_hi`, pair: name, release: NOTHING };
    return { low: name, high: '0', pair: undefined, release: NOTHING };
  }

  /** Makes kept values readable; EXEC is the kernel's. */
  protected readKept(): void {
    const { entry } = this.resources;
    if (entry === undefined) throw new Error('no values are kept');
    const { file, at } = entry.place;
    this.kept = file === 'v' ? at : this.vgprs.one();
    if (file === 'v') return;
    const zero = entry.place.needsRegister === true ? this.sgprs.one() : -1;
    // A vector instruction right in front may have written the register: memory reads it five wait states later.
    if (zero >= 0) this.line('s_nop 3', `s_mov_b32 s${zero}, 0`);
    const read =
      file === 'a'
        ? [`v_accvgpr_read_b32 v${this.kept}, a${at}`]
        : [
            `scratch_load_dword v${this.kept}, off, ${zero < 0 ? 'off' : `s${zero}`} offset:${at}`,
            's_waitcnt vmcnt(0)',
          ];
    if (file === 'scratch') this.drains++;
    if (zero >= 0) this.sgprs.release(zero);
    this.line('s_mov_b64 exec, -1', ...read, `s_mov_b64 exec, ${this.exec}`, 's_nop 1');
  }

  private entry(value: EntryValue, wide: boolean): Held {
    const lane = this.resources.entry?.laneOf(value) ?? 0;
    const to = this.pair();
    this.line(`v_readlane_b32 ${to.low}, v${this.kept}, ${lane}`);
    if (wide) this.line(`v_readlane_b32 ${to.high}, v${this.kept}, ${lane + 1}`);
    this.line('s_nop 1');
    return to;
  }

  /** Lines that put a kept value into a register or a pair. */
  protected entryInto(value: EntryValue, { index, dwords }: Register): string[] {
    const lane = this.resources.entry?.laneOf(value) ?? 0;
    const lines = Array.from({ length: dwords }, (_, i) => `v_readlane_b32 s${index + i}, v${this.kept}, ${lane + i}`);
    return [...lines, 's_nop 1'];
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
      case 'rem': {
        // A quotient that is right or one too small, so the rest is less than twice the divisor.
        const divisor = Number((args[1] as { readonly value: bigint }).value);
        this.binary('s_mul_hi_u32', to.low, a.low, hex(divisor === 1 ? 0xffffffff : Math.floor(2 ** 32 / divisor)));
        this.binary('s_mul_i32', to.low, to.low, hex(divisor));
        this.binary('s_sub_u32', to.low, a.low, to.low);
        this.binary('s_sub_u32', to.high, to.low, hex(divisor));
        this.binary('s_min_u32', to.low, to.low, to.high);
        break;
      }
      case 'add':
      case 'sub': {
        const [low, high] = op === 'add' ? ['s_add_u32', 's_addc_u32'] : ['s_sub_u32', 's_subb_u32'];
        this.binary(low, to.low, a.low, b.low);
        if (wide) this.binary(high, to.high, highs[0] as string, highs[1] as string);
        break;
      }
      case 'equal':
        this.binary('s_xor_b32', to.low, a.low, b.low);
        this.binary('s_xor_b32', to.high, highs[0] as string, highs[1] as string);
        this.line(
          `s_or_b32 ${to.low}, ${to.low}, ${to.high}`,
          `s_cmp_eq_u32 ${to.low}, 0`,
          `s_cselect_b32 ${to.low}, 1, 0`,
        );
        break;
      case 'less':
        // What is borrowed is in SCC.
        this.binary('s_sub_u32', to.low, a.low, b.low);
        this.binary('s_subb_u32', to.high, highs[0] as string, highs[1] as string);
        this.line(`s_cselect_b32 ${to.low}, 1, 0`);
        break;
      case 'select': {
        const [, then, otherwise] = held as [Held, Held, Held];
        this.line(`s_or_b32 ${to.low}, ${a.low}, ${highs[0]}`, `s_cmp_lg_u32 ${to.low}, 0`);
        this.binary('s_cselect_b32', to.low, then.low, otherwise.low);
        if (wide) this.binary('s_cselect_b32', to.high, highs[1] as string, highs[2] as string);
        break;
      }
      case 'shl':
      case 'shr': {
        const direction = op === 'shl' ? 's_lshl' : 's_lshr';
        if (!wide) this.binary(`${direction}_b32`, to.low, a.low, b.low);
        else {
          this.line(`s_mov_b32 ${to.low}, ${a.low}`, `s_mov_b32 ${to.high}, ${a.high}`);
          this.line(`${direction}_b64 ${to.pair}, ${to.pair}, ${b.low}`);
        }
        break;
      }
      case 'and':
      case 'or':
      case 'xor':
        this.binary(`s_${op}_b32`, to.low, a.low, b.low);
        if (wide) this.binary(`s_${op}_b32`, to.high, highs[0] as string, highs[1] as string);
        break;
      default:
        this.binary(
          ({ mul: 's_mul_i32', min: 's_min_u32', max: 's_max_u32' } as Record<string, string>)[op] as string,
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

/** A number as a literal. */
export function hex(value: number): string {
  return `0x${(value >>> 0).toString(16)}`;
}
