// Checks of one instruction's registers: results that have not come back, values that nothing has written; and what becomes defined.

import { insertWait, type RunRuleId } from '../../../../finding/index.ts';
import { operandIndex, operandNamed } from '../../../../isa/operand.ts';
import { ignoredModifier } from '../../../../isa/semantics/index.ts';
import {
  type MemoryKind,
  neededWait,
  Slot,
  type SlotRange,
  slotName,
  slotNames,
  slotsOf,
} from '../../../../program/index.ts';
import { EXEC, maskBit, type Wave } from '../../state/wave.ts';
import { BOTH, type StrictPlan, type VectorRead } from '../plan.ts';
import type { Reporter } from '../reporter.ts';
import type { Origin } from './registers.ts';
import type { IssuedOperation } from './waits.ts';
import type { WaveShadow } from './wave-shadow.ts';

function common(a: readonly SlotRange[], b: readonly SlotRange[]): Set<number> {
  const out = new Set<number>();
  for (const x of a) {
    for (const y of b) {
      const end = Math.min(x.first + x.count, y.first + y.count);
      for (let slot = Math.max(x.first, y.first); slot < end; slot++) out.add(slot);
    }
  }
  return out;
}

/** Lowest lane of a mask in two words, -1 for none. */
export function firstLane(low: number, high: number): number {
  if (low !== 0) return 31 - Math.clz32(low & -low);
  return high === 0 ? -1 : 63 - Math.clz32(high & -high);
}

/** Reports of one load behind which the pages that it reads count as written. */
const MANY_REPORTS = 64;

export class RegisterChecks {
  private readonly reporter: Reporter;
  /** Lanes of the instruction's results that its sources leave undefined. */
  private carriedLow = 0;
  private carriedHigh = 0;
  private carriedOrigin: Origin | undefined;

  /** By the place of a load of global memory, how often the use of what nothing had written has been reported. */
  private readonly reportedLoads = new Map<number, number>();

  constructor(reporter: Reporter) {
    this.reporter = reporter;
  }

  /**
   * Whether it has been reported often that values of the load at a place of the image come from global memory that nothing has written. A kernel that
   * works on such memory would take a hundred times as long if each of its values were followed.
   */
  isReportedLoad(pc: number): boolean {
    return (this.reportedLoads.get(pc) ?? 0) >= MANY_REPORTS;
  }

  /** Registers of operations that have not been waited for: read or overwritten too early. */
  checkWaits(w: Wave, shadow: WaveShadow, pc: number, plan: StrictPlan): void {
    const { uses, keeps, defs } = plan.effects;
    const { registers } = shadow;
    if (registers.outstanding[0] === 0) return;
    if (!registers.isPending(uses) && !registers.isPending(keeps) && !registers.isPending(defs)) return;
    const { queue } = shadow;
    const { kind } = plan.role;
    const inOrder = kind === 'vm' || kind === 'lds' ? kind : undefined;
    this.collide('waits/read-before-return', w, shadow, pc, plan, uses, undefined);
    if (queue.total === 0) return;
    this.collide('waits/write-before-return', w, shadow, pc, plan, defs, inOrder);
    this.collide('waits/write-before-return', w, shadow, pc, plan, keeps, inOrder);
  }

  private collide(
    code: RunRuleId,
    w: Wave,
    shadow: WaveShadow,
    pc: number,
    plan: StrictPlan,
    ranges: readonly SlotRange[],
    except: MemoryKind | undefined,
  ): void {
    if (ranges.length === 0 || !shadow.queue.touches(ranges)) return;
    for (const operation of shadow.queue.take(ranges, except)) {
      this.reportCollision(code, w, shadow, pc, plan, ranges, operation);
    }
  }

  private reportCollision(
    code: RunRuleId,
    w: Wave,
    shadow: WaveShadow,
    pc: number,
    plan: StrictPlan,
    ranges: readonly SlotRange[],
    operation: IssuedOperation,
  ): void {
    const { reporter } = this;
    reporter.report(code, w, pc, () => {
      const registers = slotNames(common(ranges, operation.plan.effects.defs));
      const other = reporter.other('writes the register', operation.pc, w.index, w.workgroup.id);
      const verb = code === 'waits/read-before-return' ? 'read' : 'overwritten';
      const many = registers.length > 1 || registers.some((r) => r.includes(':'));
      return {
        registers,
        related: [other],
        lane: plan.reads.length === 0 ? undefined : activeLane(w),
        message: `${registers.join(', ')} ${many ? 'are' : 'is'} ${verb} before '${other?.place.instruction}' is known to have returned.`,
        edits: [insertWait(pc, neededWait(operation.kind, shadow.queue.ageOf(operation)))],
      };
    });
  }

  /** Values that nothing has written. */
  checkReads(w: Wave, shadow: WaveShadow, pc: number, plan: StrictPlan): void {
    const { registers } = shadow;
    this.carriedLow = 0;
    this.carriedHigh = 0;
    this.carriedOrigin = undefined;
    for (const slot of plan.scalarReads) {
      if (!registers.isScalarDefined(slot)) this.reportUndefined(w, shadow, pc, slot, undefined);
    }
    if (plan.reads.length === 0) return;
    const low = w.sgprs[EXEC] as number;
    const high = w.sgprs[EXEC + 1] as number;
    for (const read of plan.reads) {
      if (read.isWhole) this.checkVector(w, shadow, pc, read, -1, -1);
      else if (plan.isLaneWise && (plan.writes.length > 0 || !registers.isNeverWritten(read))) {
        // Where a branch was not taken a value may be undefined; compilers compute with it and drop the result.
        let badLow = registers.undefinedLanes(read, low, 0);
        let badHigh = registers.undefinedLanes(read, high, 1);
        if ((badLow | badHigh) === 0) continue;
        if (plan.laneSources !== undefined && isFirstSource(plan, read)) {
          [badLow, badHigh] = movedLanes(plan.laneSources, badLow, badHigh, low, high);
        }
        this.carriedLow |= badLow;
        this.carriedHigh |= badHigh;
        const slot = read.register + 256;
        this.carriedOrigin ??= registers.origins.get(slot) ?? { space: 'register', address: slot, pc };
      } else this.checkVector(w, shadow, pc, read, low, high);
    }
  }

  /** One operand in some lanes. */
  checkVector(w: Wave, shadow: WaveShadow, pc: number, read: VectorRead, low: number, high: number): void {
    const { registers } = shadow;
    const badLow = registers.undefinedLanes(read, low, 0);
    const badHigh = registers.undefinedLanes(read, high, 1);
    if ((badLow | badHigh) === 0) return;
    const isPartial = !registers.isNeverWritten(read);
    this.reportUndefined(w, shadow, pc, read.register + 256, firstLane(badLow, badHigh), isPartial);
    registers.define(read.register, BOTH, low, high);
  }

  private reportUndefined(
    w: Wave,
    shadow: WaveShadow,
    pc: number,
    slot: number,
    lane: number | undefined,
    isPartial = false,
  ): void {
    const { reporter } = this;
    const origin = shadow.registers.origins.get(slot);
    const root = origin?.space === 'register' ? origin : undefined;
    const name = slotName(slot);
    const inLane = lane === undefined ? '' : ` in lane ${lane}`;
    if (slot < 256) shadow.registers.setScalar(slot, true);
    if (origin === undefined || origin.space === 'register') {
      const others = isPartial ? 'it has a value in other lanes only' : 'nothing has written it';
      reporter.report('registers/uninitialised', w, pc, () => ({
        registers: [name],
        lane,
        related: [root && reporter.other('computes it', root.pc, w.index, w.workgroup.id)],
        message:
          root === undefined
            ? `${name} is read${inLane}, but ${others}.`
            : `${name} is used${inLane}; it is computed from ${slotName(root.address)}, which has no value there.`,
        advice: `Write ${slotName(root?.address ?? slot)} before '${reporter.text(root?.pc ?? pc)}', in every lane that EXEC enables there.`,
      }));
      return;
    }
    if (origin.space === 'kernarg') {
      reporter.report('memory/kernarg-overrun', w, pc, () => ({
        registers: [name],
        address: origin.address,
        related: [reporter.other('loads it', origin.pc, w.index, w.workgroup.id)],
        message: `${name} was loaded from behind the end of the kernarg segment.`,
        advice: 'Load less, or raise .amdhsa_kernarg_size and .kernarg_segment_size.',
      }));
      return;
    }
    const space = origin.space;
    if (space === 'global') this.reportedLoads.set(origin.pc, (this.reportedLoads.get(origin.pc) ?? 0) + 1);
    reporter.report('memory/uninitialised', w, pc, () => ({
      registers: [name],
      lane,
      space,
      address: origin.address,
      related: [reporter.other('loads it', origin.pc, w.index, w.workgroup.id)],
      allocation: space === 'global' ? reporter.near(origin.address) : undefined,
      message: `${name}${inLane} comes from ${space} address 0x${origin.address.toString(16)}, which nothing has written.`,
      advice: `Write the ${space === 'lds' ? 'LDS' : space} bytes before they are loaded.`,
    }));
  }

  /**
   * An output modifier that hardware ignores: with MODE.IEEE, or where results keep denormals (bits 9, 5 and 7 of MODE).
   */
  checkModifier(w: Wave, pc: number, { outputModifier, instruction }: StrictPlan): void {
    const reason = ignoredModifier(w.mode, outputModifier);
    if (reason === undefined) return;
    this.reporter.report('modes/omod-ignored', w, pc, () => ({
      message: `The output modifier of '${instruction.row.mnemonic}' does nothing: ${reason}.`,
      advice:
        'Multiply the result with an instruction, or change the mode (.amdhsa_ieee_mode, .amdhsa_float_denorm_mode_32).',
    }));
  }

  /**
   * What the instruction's results become, unless its memory access has said so already. The values of `unknown` scalar slots are not
   * those that the instruction will see.
   */
  define(w: Wave, shadow: WaveShadow, plan: StrictPlan, unknown?: ReadonlySet<number>): void {
    const { registers } = shadow;
    const low = w.sgprs[EXEC] as number;
    const high = w.sgprs[EXEC + 1] as number;
    if (plan.special !== 'none' && this.defineSpecial(w, shadow, plan, low, high, unknown)) return;
    if (plan.copies.length > 0) {
      this.copy(shadow, plan, low, high);
      return;
    }
    for (const slot of plan.scalarWrites) registers.setScalar(slot, true);
    // Undefined lanes of the first and of the second register, as two words each.
    const bad: [number, number, number, number] = [0, 0, 0, 0];
    const origins: [Origin | undefined, Origin | undefined] = [undefined, undefined];
    for (const read of plan.partReads) {
      const [badLow, badHigh] = [registers.undefinedLanes(read, low, 0), registers.undefinedLanes(read, high, 1)];
      bad[read.part * 2] |= badLow;
      bad[read.part * 2 + 1] |= badHigh;
      if ((badLow | badHigh) !== 0) origins[read.part] ??= registers.origins.get(read.register + 256);
    }
    const [writtenLow, writtenHigh] =
      plan.laneSources === undefined ? [low, high] : writtenLanes(plan.laneSources, low, high);
    for (const { register, halves, isWhole } of plan.writes) {
      if (isWhole) registers.define(register, halves, -1, -1);
      else registers.define(register, halves, writtenLow, writtenHigh);
    }
    this.carriedLow &= writtenLow;
    this.carriedHigh &= writtenHigh;
    if ((this.carriedLow | this.carriedHigh) !== 0 && plan.isLaneWise) {
      for (const { register, halves } of plan.writes) {
        registers.undefine(register, halves, this.carriedLow, this.carriedHigh);
        if (this.carriedOrigin !== undefined) registers.origins.set(register + 256, this.carriedOrigin);
      }
    }
    for (const part of [0, 1] as const) {
      const [lanes, upper] = [bad[part * 2] as number, bad[part * 2 + 1] as number];
      if ((lanes | upper) === 0) continue;
      const register = plan.writes[part]?.register ?? 0;
      registers.undefine(register, BOTH, lanes, upper);
      setOrigin(registers, register + 256, origins[part]);
    }
  }

  private copy({ registers }: WaveShadow, plan: StrictPlan, low: number, high: number): void {
    const { copies } = plan;
    const { vectors } = registers;
    // All sources first: v_swap_b32 exchanges.
    const before = copies.map(({ from }) => {
      if (from < 0) return undefined;
      return from < 256 ? registers.isScalarDefined(from) : vectors.slice((from - 256) * 4, (from - 256) * 4 + 4);
    });
    copies.forEach(({ to, from }, i) => {
      const source = before[i];
      const origin = from < 0 ? undefined : registers.origins.get(from);
      if (to < 256) registers.setScalar(to, source !== false);
      else if (source === undefined || source === true) registers.define(to - 256, BOTH, low, high);
      else if (source === false) registers.undefine(to - 256, BOTH, low, high);
      else {
        for (let n = 0; n < 4; n++) {
          const mask = (n & 1) === 0 ? low : high;
          const at = (to - 256) * 4 + n;
          vectors[at] = ((vectors[at] as number) & ~mask) | ((source[n] as number) & mask);
        }
      }
      setOrigin(registers, to, origin);
    });
  }

  /** Instructions whose lanes or registers depend on values; true when nothing is left to define. */
  private defineSpecial(
    w: Wave,
    shadow: WaveShadow,
    plan: StrictPlan,
    low: number,
    high: number,
    unknown: ReadonlySet<number> | undefined,
  ): boolean {
    const { registers } = shadow;
    const [a = -1, b = -1, c = -1] = plan.sources;
    const target = plan.writes[0]?.register ?? -1;
    switch (plan.special) {
      case 'select': {
        const mask = c >= 0 ? c : 106;
        if (unknown?.has(mask)) return false;
        const takesB = [w.sgprs[mask] as number, w.sgprs[mask + 1] as number] as const;
        this.take(shadow, target, a, low & ~takesB[0], high & ~takesB[1]);
        this.take(shadow, target, b, low & takesB[0], high & takesB[1]);
        return true;
      }
      case 'scalarSelect': {
        const slot = plan.scalarWrites[0] ?? -1;
        if (unknown?.has(Slot.SCC) || slot < 0) return false;
        const taken = w.scc ? a : b;
        registers.setScalar(slot, taken < 0 || registers.isScalarDefined(taken));
        const origin = registers.origins.get(taken);
        if (origin !== undefined) registers.origins.set(slot, origin);
        return true;
      }
      case 'readlane':
      case 'readfirstlane': {
        const slot = plan.scalarWrites[0] ?? -1;
        const lane = plan.special === 'readlane' ? this.laneSelect(w, plan) : Math.max(0, firstLane(low, high));
        if (slot < 0 || a < 256) return false;
        registers.setScalar(slot, registers.isLaneDefined(a - 256, lane));
        const origin = registers.origins.get(a);
        if (origin !== undefined) registers.origins.set(slot, origin);
        return true;
      }
      case 'writelane': {
        const lane = this.laneSelect(w, plan);
        const mask = 1 << (lane & 31);
        const isDefined = a < 0 || a >= 256 || registers.isScalarDefined(a);
        const change = isDefined ? 'define' : 'undefine';
        registers[change](target, BOTH, lane < 32 ? mask : 0, lane < 32 ? 0 : mask);
        return true;
      }
      case 'movrels': {
        const index = a + (w.sgprs[124] as number);
        plan.scalarWrites.forEach((slot, n) => {
          registers.setScalar(slot, index + n >= 102 || registers.isScalarDefined(index + n));
        });
        return a >= 0;
      }
      case 'movreld': {
        const first = plan.scalarWrites[0] ?? 0;
        const index = first + (w.sgprs[124] as number);
        for (let n = 0; n < plan.scalarWrites.length; n++) if (index + n < 102) registers.setScalar(index + n, true);
        return true;
      }
      default:
        return false;
    }
  }

  private laneSelect(w: Wave, plan: StrictPlan): number {
    const index = operandIndex(plan.instruction.row, 'src1');
    const operand = plan.instruction.operands[index];
    if (operand?.kind === 'reg') return (w.sgprs[operand.encoding] as number) & 63;
    if (operand?.kind === 'inline') return (operand.encoding - 128) & 63;
    return operand?.kind === 'literal' ? operand.bits & 63 : 0;
  }

  /** Lanes of a register take over what a source's lanes are. */
  private take({ registers }: WaveShadow, target: number, from: number, low: number, high: number): void {
    if (from >= 256) {
      registers.copy(target, from - 256, low, high);
      const origin = registers.origins.get(from);
      if (origin !== undefined) registers.origins.set(target + 256, origin);
    } else if (from < 0 || registers.isScalarDefined(from)) registers.define(target, BOTH, low, high);
    else registers.undefine(target, BOTH, low, high);
  }
}

/** Why a register has no value, where that is known: what was known of it before does not hold. */
function setOrigin({ origins }: WaveShadow['registers'], slot: number, origin: Origin | undefined): void {
  if (origin !== undefined) origins.set(slot, origin);
  else origins.delete(slot);
}

/** Whether a read is of the operand that DPP moves between lanes. */
function isFirstSource({ instruction }: StrictPlan, { register }: VectorRead): boolean {
  const operand = operandNamed(instruction, 'src0');
  const range = operand?.kind === 'reg' ? slotsOf(operand) : undefined;
  return range !== undefined && register + 256 >= range.first && register + 256 < range.first + range.count;
}

/** Lanes in `low` and `high` as two words, of a DPP instruction those that it writes. */
function writtenLanes(sources: Int8Array, low: number, high: number): [number, number] {
  return movedLanes(sources, low, high, low, high);
}

/** The active lanes that read one of some lanes. */
function movedLanes(
  sources: Int8Array,
  fromLow: number,
  fromHigh: number,
  low: number,
  high: number,
): [number, number] {
  let [toLow, toHigh] = [0, 0];
  sources.forEach((from, lane) => {
    if (from < 0 || !maskBit(low, high, lane) || !maskBit(fromLow, fromHigh, from)) return;
    if (lane < 32) toLow |= 1 << lane;
    else toHigh |= 1 << (lane - 32);
  });
  return [toLow, toHigh];
}

function activeLane(w: Wave): number | undefined {
  const lane = firstLane(w.sgprs[EXEC] as number, w.sgprs[EXEC + 1] as number);
  return lane < 0 ? undefined : lane;
}
