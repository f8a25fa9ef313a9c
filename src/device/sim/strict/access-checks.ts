// Checks of one instruction's memory: bounds, alignment, bytes that nothing has written, kernel arguments, LDS in flight, races.
// Alignment: ROCm sets SH_MEM_CONFIG.ALIGNMENT_MODE to unaligned, so loads and stores of global memory and LDS may be at any address;
// atomics must be naturally aligned, scratch dwords by 4 (LLVM: no unaligned-scratch-access on gfx9), and scalar memory drops the
// low two address bits. Sources: CDNA3 ISA manual, "Memory Alignment", "Scalar Memory"; LLVM AMDGPUUsage, "Memory Model gfx942".

import { insertWait, waitText } from '../../../finding/index.ts';
import { immediateOf, operandNamed } from '../../../isa/operand.ts';
import { targetInfo } from '../../../isa/table/targets.ts';
import type { TargetName } from '../../../isa/types.ts';
import { neededWait } from '../../../program/index.ts';
import type { AccessPiece, AccessPlan } from '../interpreter/access-plan.ts';
import { bindScalarWord, PRIVATE_APERTURE_HIGH, SHARED_APERTURE_HIGH } from '../interpreter/operands.ts';
import { scratchAddress } from '../interpreter/spaces.ts';
import type { Region } from '../state/memory.ts';
import { EXEC, FLAT_SCRATCH, LANES, maskBit, type Wave } from '../state/wave.ts';
import { FastAccesses, type GroupState, NO_LDS, toucherOf } from './fast-accesses.ts';
import type { GlobalConflict, GlobalShadow, RegionShadow } from './global.ts';
import type { LdsConflict, LdsShadow } from './lds.ts';
import { BOTH, type StrictPlan } from './plan.ts';
import type { Toucher } from './race-page.ts';
import type { RegisterChecks } from './register-checks.ts';
import type { Origin } from './registers.ts';
import type { Reporter } from './reporter.ts';
import type { Acquisition } from './synchronisation.ts';
import type { IssuedOperation, LdsBytes } from './waits.ts';
import type { WaveShadow } from './wave-shadow.ts';

/** Regions of a dispatch that have rules of their own. */
export interface DispatchRegions {
  readonly target: TargetName;
  readonly kernarg: Region | undefined;
  /** Bytes of the kernarg segment that the kernel declares. */
  readonly kernargSize: number;
  readonly workgroups: number;
  readonly wavesPerGroup: number;
}

/** Who accesses. */
interface Actor {
  readonly w: Wave;
  readonly shadow: WaveShadow;
  readonly lds: LdsShadow;
  readonly state: GroupState;
  readonly who: Toucher;
  readonly scratch: Region | undefined;
  readonly pc: number;
  readonly plan: StrictPlan;
  readonly access: AccessPlan;
  readonly isSynchronising: boolean;
}

const HIGH_WORD = 4294967296;

export class AccessChecks {
  private readonly reporter: Reporter;
  private readonly registers: RegisterChecks;
  private readonly regions: DispatchRegions;
  readonly global: GlobalShadow;
  private readonly fast: FastAccesses;
  /** Cache policy bits of accesses that other compute units see. */
  private readonly deviceScope: number;
  private readonly followsRaces: boolean;
  private acquisitions: Acquisition[] = [];
  /** Lanes of the running instruction whose data goes to scratch. */
  private scratchLow = 0;
  private scratchHigh = 0;

  constructor(reporter: Reporter, registers: RegisterChecks, regions: DispatchRegions, global: GlobalShadow) {
    this.reporter = reporter;
    this.registers = registers;
    this.regions = regions;
    this.global = global;
    this.deviceScope = targetInfo(regions.target).scopedCachePolicy ? 16 : 1;
    this.followsRaces = regions.workgroups > 1 || regions.wavesPerGroup > 1;
    this.fast = new FastAccesses(reporter.dispatch.memory, global, regions.kernarg, this.followsRaces);
  }

  /** All accesses of an instruction; the LDS bytes that it writes. Defines the registers that a load writes. */
  check(w: Wave, state: GroupState, pc: number, plan: StrictPlan): readonly LdsBytes[] | undefined {
    const access = plan.access as AccessPlan;
    const shadow = state.waves[w.index] as WaveShadow;
    const isSynchronising = this.isSynchronising(plan);
    access.prepare(w);
    const quick = this.fast.check(w, shadow, state, pc, plan, isSynchronising);
    if (quick !== undefined) return quick === NO_LDS ? undefined : quick;
    const { lds, scratch } = state;
    const who = toucherOf(w, state, pc);
    const actor: Actor = { w, shadow, lds, state, who, scratch, pc, plan, access, isSynchronising };
    if (access.kind === 'atomic') state.usesAtomics = true;
    const pieces = access.pieces(w);
    if (access.isScalar) return this.checkScalar(actor, pieces);
    const low = w.sgprs[EXEC] as number;
    const high = w.sgprs[EXEC + 1] as number;
    this.scratchLow = 0;
    this.scratchHigh = 0;
    const written: LdsBytes[] = [];
    for (const piece of pieces) {
      const bytes = this.checkPiece(actor, piece, low, high, piece === pieces[pieces.length - 1]);
      if (bytes !== undefined) written.push(bytes);
    }
    for (const read of plan.dataReads) {
      this.registers.checkVector(w, shadow, pc, read, low & ~this.scratchLow, high & ~this.scratchHigh);
    }
    return written.length === 0 ? undefined : written;
  }

  /** What the last access acquires once its values have come back. */
  takeAcquisitions(): readonly Acquisition[] | undefined {
    if (this.acquisitions.length === 0) return undefined;
    const taken = this.acquisitions;
    this.acquisitions = [];
    return taken;
  }

  /** Atomics order workgroups, and so do accesses that go past the caches of a compute unit (LLVM's memory model). */
  private isSynchronising({ cachePolicy, access }: StrictPlan): boolean {
    return access?.kind === 'atomic' || (cachePolicy & this.deviceScope) !== 0;
  }

  /** `isLast`: of the pieces of a lane, the first to be dropped. */
  private checkPiece(
    actor: Actor,
    piece: AccessPiece,
    low: number,
    high: number,
    isLast: boolean,
  ): LdsBytes | undefined {
    const { w, access, shadow } = actor;
    let undefinedLow = 0;
    let undefinedHigh = 0;
    let origin: Origin | undefined;
    const ldsAddresses: number[] = [];
    const writesLds = access.toLds || (access.kind !== 'load' && (access.space === 'lds' || access.space === 'flat'));
    for (let lane = 0; lane < LANES; lane++) {
      if (!maskBit(low, high, lane)) continue;
      w.lane = lane;
      const address = access.address(w, lane, piece);
      let isDefined = true;
      const at = this.locate(access, address);
      if (address >= 0) {
        if (at === 'lds') {
          const offset = address % HIGH_WORD;
          isDefined = this.checkLds(actor, piece, lane, offset, access.kind);
          if (writesLds) ldsAddresses.push(offset);
        } else if (at === 'scratch') isDefined = this.checkScratch(actor, piece, lane, address % HIGH_WORD);
        else isDefined = this.checkGlobal(actor, piece, lane, address);
      }
      if (address < 0 && isLast) this.dropped(actor, lane);
      if (access.toLds) {
        const to = access.ldsAddress(w, lane, piece);
        const bytes = Math.max(4, piece.bytes);
        if (address >= 0) {
          this.checkLds(actor, { ...piece, bytes }, lane, to, 'store');
          ldsAddresses.push(to);
        } else if (to + bytes <= w.workgroup.lds.byteLength) {
          // What a buffer's bounds drop arrives as zeros, if at all: nobody waits for it.
          actor.lds.setWritten(to, bytes, true);
        }
      }
      if (isDefined) continue;
      origin ??= { space: at, address: at === 'global' ? address : address % HIGH_WORD, pc: actor.pc };
      if (lane < 32) undefinedLow |= 1 << lane;
      else undefinedHigh |= 1 << (lane - 32);
    }
    if (access.kind !== 'store' && piece.register >= 0) {
      for (let n = 0; n < Math.max(1, piece.bytes / 4); n++) {
        const register = piece.register + n;
        shadow.registers.define(register, BOTH, low, high);
        if ((undefinedLow | undefinedHigh) !== 0) {
          shadow.registers.undefine(register, BOTH, undefinedLow, undefinedHigh);
          if (origin !== undefined) shadow.registers.origins.set(register + 256, origin);
        }
      }
    }
    if (ldsAddresses.length === 0) return undefined;
    const bytes = Math.max(access.toLds ? 4 : 1, piece.bytes);
    return { addresses: Uint32Array.from(ldsAddresses), count: ldsAddresses.length, bytes };
  }

  /** A buffer's `num_records` drops a lane: loads give zero, stores do nothing. */
  private dropped({ w, pc, access }: Actor, lane: number): void {
    this.reporter.report('memory/dropped', w, pc, () => ({
      lane,
      space: 'global',
      message: `The ${access.kind} of lane ${lane} is behind the records of its buffer resource: ${access.kind === 'load' ? 'it gives zero' : 'nothing is written'}.`,
      advice:
        'Where this is no bounds test, compare the num_records of the resource (bytes, or elements of a stride) with the buffer.',
    }));
  }

  private locate(access: AccessPlan, address: number): 'global' | 'lds' | 'scratch' {
    if (access.space !== 'flat') return access.space;
    const high = Math.floor(address / HIGH_WORD);
    if (high === SHARED_APERTURE_HIGH) return 'lds';
    return high === PRIVATE_APERTURE_HIGH ? 'scratch' : 'global';
  }

  // Global ----------------------------------------------------------------------------------------------------------------------

  /** Whether the bytes that are read are defined. */
  private checkGlobal(actor: Actor, piece: AccessPiece, lane: number, address: number): boolean {
    const { access, w, pc } = actor;
    const { bytes } = piece;
    const { memory } = this.reporter.dispatch;
    const region = memory.find(address, bytes);
    if (region === undefined) return this.outside(actor, lane, address, bytes);
    const offset = address - region.base;
    if (access.kind !== 'load' && region.readOnlyRanges.length > 0 && region.isReadOnly(address, bytes)) {
      this.reporter.fatal('memory/read-only', w, pc, () => ({
        lane,
        space: 'global',
        address,
        allocation: this.reporter.near(address),
        message: `The store of ${bytes} bytes at 0x${address.toString(16)} goes to read-only memory '${region.label}'.`,
        advice: 'Pass a buffer that the kernel may write.',
      }));
    }
    if (access.kind === 'atomic' && address % bytes !== 0) this.misaligned(actor, lane, 'global', address, bytes);
    const of = this.global.of(region);
    if (region === actor.scratch) {
      this.markScratch(lane);
      return this.touchScratch(actor, piece, lane, of, offset, bytes);
    }
    if (region === this.regions.kernarg) {
      if (offset + bytes <= this.regions.kernargSize) return true;
      this.kernargOverrun(actor, lane, address);
      return true;
    }
    if (access.kind === 'load') {
      this.races(actor, piece, lane, of, offset, bytes, false);
      if (of.written === undefined || isAnyWritten(of, offset, bytes)) return true;
      return false;
    }
    if (access.kind === 'atomic' && of.written !== undefined && !isAnyWritten(of, offset, bytes)) {
      this.uninitialised(actor, lane, 'global', address);
    }
    this.races(actor, piece, lane, of, offset, bytes, true);
    of.setWritten(offset, bytes, true);
    return true;
  }

  private outside({ w, pc, access }: Actor, lane: number | undefined, address: number, bytes: number): never {
    const { reporter } = this;
    const { memory } = reporter.dispatch;
    const what = access.kind;
    const place = `0x${address.toString(16)}`;
    const freed = memory.freedAt(address);
    if (freed !== undefined) {
      const allocation = { label: freed.label, base: freed.base, size: freed.size, distance: 0 };
      return reporter.fatal('memory/use-after-free', w, pc, () => ({
        lane,
        space: 'global',
        address,
        allocation,
        message: `The ${what} of ${bytes} bytes at ${place} is in '${freed.label}', which has been freed.`,
        advice: 'Free the buffer after the last dispatch that uses it.',
      }));
    }
    return reporter.fatal('memory/out-of-bounds', w, pc, () => ({
      lane,
      space: 'global',
      address,
      allocation: reporter.near(address),
      message: `The ${what} of ${bytes} bytes at ${place} is outside of every allocation.`,
      advice: 'Check the sizes of the buffers, the grid, and the bounds test of the kernel.',
    }));
  }

  private misaligned(
    { w, pc, access }: Actor,
    lane: number | undefined,
    space: 'global' | 'lds' | 'scratch',
    address: number,
    alignment: number,
  ): void {
    this.reporter.report('memory/misaligned', w, pc, () => ({
      lane,
      space,
      address,
      message: `The ${access.isScalar ? 'scalar ' : ''}${access.kind} at 0x${address.toString(16)} must be aligned to ${alignment} bytes.`,
      advice:
        access.isScalar && access.kind !== 'atomic'
          ? 'Use an address that is a multiple of 4: scalar memory drops the low two bits.'
          : `Use an address that is a multiple of ${alignment}.`,
    }));
  }

  private uninitialised({ w, pc }: Actor, lane: number | undefined, space: 'global' | 'lds', address: number): void {
    this.reporter.report('memory/uninitialised', w, pc, () => ({
      lane,
      space,
      address,
      allocation: space === 'global' ? this.reporter.near(address) : undefined,
      message: `The atomic reads ${space} address 0x${address.toString(16)}, which nothing has written.`,
      advice: `Initialise the ${space === 'lds' ? 'LDS' : 'buffer'} first.`,
    }));
  }

  private kernargOverrun({ w, pc }: Actor, lane: number | undefined, address: number): void {
    const { kernarg, kernargSize } = this.regions;
    this.reporter.report('memory/kernarg-overrun', w, pc, () => ({
      lane,
      space: 'global',
      address,
      message: `Byte ${address - (kernarg?.base ?? 0)} of the kernarg segment is read; the kernel declares ${kernargSize} bytes.`,
      advice: 'Raise .amdhsa_kernarg_size and .kernarg_segment_size, or correct the offset.',
    }));
  }

  /** Accesses of other workgroups to the same bytes, dword by dword. */
  private races(
    actor: Actor,
    piece: AccessPiece,
    lane: number,
    of: RegionShadow,
    offset: number,
    bytes: number,
    isWrite: boolean,
  ): void {
    if (!this.followsRaces) return;
    const { who, isSynchronising, access } = actor;
    this.synchronise(actor, of.region.base + offset, isWrite);
    for (let at = offset; at < offset + bytes; ) {
      const size = Math.min(4 - (at & 3), offset + bytes - at);
      const conflict = isWrite
        ? this.global.write(of, at, size, who, isSynchronising)
        : isSynchronising
          ? undefined
          : this.global.read(of, at, size, who);
      if (
        conflict !== undefined &&
        !(
          conflict.other === 'write' &&
          access.kind === 'store' &&
          this.isSame(actor, piece, lane, of, at, size, offset)
        )
      ) {
        this.globalRace(actor, lane, of.region.base + at, conflict, isWrite);
      }
      at += size;
    }
  }

  /** What an access of an address that workgroups share acquires and releases. */
  private synchronise({ state, shadow, access, isSynchronising, pc }: Actor, address: number, isWrite: boolean): void {
    if (this.regions.workgroups < 2) return;
    const { synchronisation } = this.global;
    if (access.kind !== 'store') {
      const seen = synchronisation.seenAt(address);
      if (seen !== undefined) this.acquisitions.push(seen);
    }
    if (isSynchronising && isWrite) synchronisation.release(state.number, address, shadow.completeStores(), pc);
  }

  /** Whether a store leaves the bytes as they are: several workgroups may write the same value. */
  private isSame(
    { w, plan }: Actor,
    piece: AccessPiece,
    lane: number,
    of: RegionShadow,
    at: number,
    size: number,
    start: number,
  ): boolean {
    if (piece.register < 0 || plan.operation?.kind !== 'store') return false;
    const skip = at - start;
    const word = w.vgprs[(piece.register + (skip >>> 2)) * LANES + lane] as number;
    const value = piece.half === 'high' ? word >>> 16 : word;
    for (let n = 0; n < size; n++) {
      if (((value >>> (8 * ((skip + n) & 3))) & 255) !== of.region.bytes[at + n]) return false;
    }
    return true;
  }

  private globalRace(actor: Actor, lane: number, address: number, conflict: GlobalConflict, isWrite: boolean): void {
    const { w, pc, state, isSynchronising } = actor;
    const { reporter } = this;
    const isOwn = conflict.workgroup === state.number;
    if (isOwn && (state.usesAtomics || isSynchronising)) return;
    if (conflict.releasePc !== undefined) {
      this.unreleased(actor, lane, address, conflict, conflict.releasePc);
      return;
    }
    reporter.report('races/global', w, pc, () => {
      const { workgroup, wave } = conflict;
      const id = workgroup < 0 ? undefined : reporter.workgroupId(workgroup);
      const who = isOwn
        ? wave < 0
          ? 'other wavefronts'
          : `wavefront ${wave}`
        : id === undefined
          ? 'other workgroups'
          : `workgroup ${id.join(',')}`;
      const where = isOwn ? 'with no barrier between' : 'in the same dispatch, in no defined order';
      return {
        lane,
        space: 'global',
        address,
        allocation: reporter.near(address),
        related: [reporter.other('touches the same bytes', conflict.pc, isOwn && wave >= 0 ? wave : undefined, id)],
        message: `0x${address.toString(16)} is ${isWrite ? 'written' : 'read'} here and ${conflict.other === 'write' ? 'written' : 'read'} by ${who} ${where}.`,
        advice: isOwn
          ? 'Put an s_barrier between the two, use an atomic, or give each wavefront bytes of its own.'
          : 'Use an atomic, give each workgroup bytes of its own, or split the work into two dispatches.',
      };
    });
  }

  /** A store that was not known to be complete when what orders the workgroups was stored. */
  private unreleased(
    { w, pc }: Actor,
    lane: number,
    address: number,
    { workgroup, wave, pc: storePc }: GlobalConflict,
    releasePc: number,
  ): void {
    const { reporter } = this;
    reporter.report('races/unreleased', w, pc, () => {
      const id = reporter.workgroupId(workgroup);
      const release = reporter.other('hands the data over', releasePc, undefined, id);
      return {
        lane,
        space: 'global',
        address,
        allocation: reporter.near(address),
        related: [reporter.other('stores the data', storePc, wave, id), release],
        message: `0x${address.toString(16)} is used here because of '${release?.place.instruction}' of workgroup ${id.join(',')}, which was executed before the store of its wavefront ${wave} to this address was known to be complete.`,
        advice: `Let every wavefront that stores wait (s_waitcnt vmcnt(0)) before '${release?.place.instruction}', behind buffer_wbl2 where the target has it; other wavefronts than the one that executes it before an s_barrier.`,
      };
    });
  }

  // Scratch ---------------------------------------------------------------------------------------------------------------------

  private markScratch(lane: number): void {
    if (lane < 32) this.scratchLow |= 1 << lane;
    else this.scratchHigh |= 1 << (lane - 32);
  }

  private checkScratch(actor: Actor, piece: AccessPiece, lane: number, offset: number): boolean {
    const { w, shadow, pc, access, scratch } = actor;
    const { bytes } = piece;
    const limit = w.workgroup.dispatch.scratchPerLane;
    if (scratch === undefined || offset + bytes > limit) {
      return this.reporter.fatal('memory/scratch-out-of-bounds', w, pc, () => ({
        lane,
        space: 'scratch',
        address: offset,
        message: `The ${access.kind} of ${bytes} bytes at scratch offset ${offset} is beyond the ${limit} bytes of a lane.`,
        advice: 'Raise .amdhsa_private_segment_fixed_size and .private_segment_fixed_size, or correct the offset.',
      }));
    }
    if (!shadow.registers.isScalarDefined(FLAT_SCRATCH)) {
      this.reporter.report('registers/uninitialised', w, pc, () => ({
        registers: ['flat_scratch'],
        lane,
        message: 'Scratch is accessed, but nothing has written flat_scratch.',
        advice: 'Set up flat_scratch from the flat scratch init SGPRs in the prologue.',
      }));
      shadow.registers.setScalar(FLAT_SCRATCH, true);
    }
    if (offset % Math.min(4, bytes) !== 0) this.misaligned(actor, lane, 'scratch', offset, Math.min(4, bytes));
    this.markScratch(lane);
    const of = this.global.of(scratch);
    const physical = scratchAddress(w, offset) - scratch.base;
    return this.touchScratch(actor, piece, lane, of, physical, bytes);
  }

  /** Scratch holds spilled registers, defined or not: what is undefined stays so when it comes back. */
  private touchScratch(
    { shadow, access }: Actor,
    piece: AccessPiece,
    lane: number,
    of: RegionShadow,
    at: number,
    bytes: number,
  ): boolean {
    if (access.kind === 'load') {
      if (isAnyWritten(of, at, bytes)) return true;
      return false;
    }
    const isDefined =
      piece.register < 0 || access.kind === 'atomic' || shadow.registers.isLaneDefined(piece.register, lane);
    of.setWritten(at, bytes, isDefined);
    return true;
  }

  // LDS -------------------------------------------------------------------------------------------------------------------------

  private checkLds(
    actor: Actor,
    piece: AccessPiece,
    lane: number | undefined,
    address: number,
    kind: AccessPlan['kind'],
  ): boolean {
    const { w, lds, pc, access } = actor;
    const { bytes } = piece;
    const size = w.workgroup.lds.byteLength;
    if (address + bytes > size) {
      return this.reporter.fatal('memory/lds-out-of-bounds', w, pc, () => ({
        lane,
        space: 'lds',
        address,
        message: `The ${kind} of ${bytes} bytes at LDS address ${address} is beyond the workgroup's ${size} bytes; hardware gives zero or another workgroup's data.`,
        advice: 'Raise .amdhsa_group_segment_fixed_size or the dynamic LDS of the dispatch, or correct the address.',
      }));
    }
    if (kind === 'atomic' && address % bytes !== 0) this.misaligned(actor, lane, 'lds', address, bytes);
    if (access.toLds && address % 4 !== 0) this.misaligned(actor, lane, 'lds', address, 4);
    const pending = lds.pendingFor(w.index, address, bytes);
    if (pending !== undefined) this.ldsPending(actor, lane, address, pending, kind);
    if (kind === 'load') {
      const conflict = lds.read(w.index, address, bytes, pc);
      if (conflict !== undefined) this.ldsRace(actor, lane, address, conflict, kind);
      for (let at = address; at < address + bytes; at++) if (lds.isWritten(at)) return true;
      return false;
    }
    const conflict = lds.write(w.index, address, bytes, pc, kind === 'atomic');
    if (conflict !== undefined && !this.isSameLds(actor, piece, lane, address)) {
      this.ldsRace(actor, lane, address, conflict, kind);
    }
    if (kind === 'atomic' && !lds.isWritten(address)) this.uninitialised(actor, lane, 'lds', address);
    lds.setWritten(address, bytes, true);
    return true;
  }

  private isSameLds(
    { w, plan, access }: Actor,
    piece: AccessPiece,
    lane: number | undefined,
    address: number,
  ): boolean {
    if (plan.operation?.kind !== 'store' || access.toLds || piece.register < 0 || lane === undefined) return false;
    const word = w.vgprs[piece.register * LANES + lane] as number;
    const value = piece.half === 'high' ? word >>> 16 : word;
    for (let n = 0; n < piece.bytes; n++) {
      if (((value >>> (8 * n)) & 255) !== w.workgroup.lds[address + n]) return false;
    }
    return true;
  }

  /** LDS bytes that an operation without a wait is still to write. */
  private ldsPending(
    actor: Actor,
    lane: number | undefined,
    address: number,
    operation: IssuedOperation,
    kind: string,
  ): void {
    const { w, pc, lds, shadow } = actor;
    const { reporter } = this;
    const isOwn = operation.wave === w.index;
    // A later load into LDS of the same wavefront returns later; other wavefronts in the same interval are a race, not a wait.
    if (isOwn ? actor.access.toLds : operation.epoch === lds.epoch) return;
    reporter.report(isOwn ? 'waits/lds-before-return' : 'waits/barrier-before-write', w, pc, () => {
      const other = reporter.other('writes LDS', operation.pc, operation.wave, w.workgroup.id);
      const text = other?.place.instruction;
      const counter = operation.kind === 'vm' ? 'vm' : operation.kind;
      const age = isOwn ? shadow.queue.ageOf(operation) : operation.barrierAge;
      const wait = neededWait(counter, age);
      return {
        lane,
        space: 'lds',
        address,
        related: [other],
        message: isOwn
          ? `LDS address ${address} is ${kind === 'load' ? 'read' : 'written'} before '${text}' is known to have written it.`
          : `LDS address ${address} is used after a barrier that wavefront ${operation.wave} passed before '${text}' was known to have written it.`,
        edits: isOwn ? [insertWait(pc, wait)] : [],
        advice: isOwn ? undefined : `Insert ${waitText(wait)} before the s_barrier that follows '${text}'.`,
      };
    });
  }

  private ldsRace(actor: Actor, lane: number | undefined, address: number, conflict: LdsConflict, kind: string): void {
    const { w, pc, access } = actor;
    const { reporter } = this;
    const isLoadToLds = access.toLds || conflict.isLoadToLds;
    reporter.report(isLoadToLds ? 'races/lds-in-flight' : 'races/lds', w, pc, () => {
      const who = conflict.wave < 0 ? 'other wavefronts' : `wavefront ${conflict.wave}`;
      return {
        lane,
        space: 'lds',
        address,
        related: [
          reporter.other(
            'touches the same bytes',
            conflict.pc,
            conflict.wave < 0 ? undefined : conflict.wave,
            w.workgroup.id,
          ),
        ],
        message: `LDS address ${address} is ${kind === 'load' ? 'read' : 'written'} here and ${conflict.isWrite ? 'written' : 'read'} by ${who} with no barrier between.`,
        advice: 'Put an s_barrier (after the waits for the first access) between the two, or use an atomic.',
      };
    });
  }

  // Scalar ----------------------------------------------------------------------------------------------------------------------

  private checkScalar(actor: Actor, pieces: readonly AccessPiece[]): LdsBytes[] | undefined {
    const { w, shadow, access, pc, plan } = actor;
    const { registers } = shadow;
    const first = pieces[0];
    if (first === undefined) return undefined;
    if (access.space === 'lds') {
      const address = access.address(w, 0, first);
      this.checkLds(actor, first, undefined, address, access.kind);
      this.registers.define(w, shadow, plan);
      return [{ addresses: Uint32Array.of(address), count: 1, bytes: first.bytes }];
    }
    const raw = this.rawScalarAddress(actor);
    if (raw !== undefined && raw % 4 !== 0) this.misaligned(actor, undefined, 'global', raw, 4);
    const start = access.address(w, 0, first);
    for (const piece of pieces) {
      const address = access.address(w, 0, piece);
      if (address < 0) {
        if (piece.register >= 0 && access.kind === 'load') registers.setScalar(piece.register, true);
        continue;
      }
      const { bytes } = piece;
      const region = this.reporter.dispatch.memory.find(address, bytes);
      if (region === undefined) return this.outside(actor, undefined, address, bytes);
      const offset = address - region.base;
      let origin: 'kernarg' | 'global' | undefined;
      if (region === this.regions.kernarg && offset + bytes > this.regions.kernargSize) {
        // Compilers load up to the next power of two; what lies behind the end must not be used.
        if (start - region.base >= this.regions.kernargSize) this.kernargOverrun(actor, undefined, address);
        else origin = 'kernarg';
      } else if (region !== this.regions.kernarg) {
        const of = this.global.of(region);
        this.races(actor, piece, 0, of, offset, bytes, access.kind !== 'load');
        if (access.kind === 'load' && !isAnyWritten(of, offset, bytes)) origin = 'global';
        if (access.kind !== 'load') of.setWritten(offset, bytes, true);
      }
      if (access.kind === 'load' && piece.register >= 0) {
        registers.setScalar(piece.register, origin === undefined);
        if (origin !== undefined) registers.origins.set(piece.register, { space: origin, address, pc });
      }
    }
    return undefined;
  }

  /** Address of a scalar access before its low bits are dropped; undefined for buffers. */
  private rawScalarAddress({ w, plan }: Actor): number | undefined {
    const { instruction, operation } = plan;
    if (operation?.kind !== 'load' && operation?.kind !== 'store' && operation?.kind !== 'atomic') return undefined;
    if (operation.space !== 'scalar') return undefined;
    const base = operandNamed(instruction, 'sbase');
    const soffset = operandNamed(instruction, 'soffset');
    if (base?.kind !== 'reg') return undefined;
    const more = soffset === undefined ? 0 : bindScalarWord(soffset, 'i32')(w, 0) >>> 0;
    return w.address(base.encoding) + immediateOf(instruction, 'offset') + more;
  }
}

/** Whether any of the bytes has been written: code may load more than it uses. */
function isAnyWritten(of: RegionShadow, from: number, bytes: number): boolean {
  const { written } = of;
  if (written === undefined) return true;
  for (let at = from; at < from + bytes; at++) if (of.isWritten(at)) return true;
  return false;
}
