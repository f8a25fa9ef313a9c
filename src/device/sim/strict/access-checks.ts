// Checks of one instruction's memory: bounds, alignment, bytes that nothing has written, kernel arguments. LDS is in lds-checks.ts, races of
// global memory in global-races.ts, what is said about an access in access-reports.ts.
// Alignment: ROCm sets SH_MEM_CONFIG.ALIGNMENT_MODE to unaligned, so loads and stores of global memory, LDS and scratch may be at any
// address (LLVM's FeatureUnalignedScratchAccess, which gfx9 has: compilers copy private bytes by dwords); atomics must be naturally
// aligned, and scalar memory drops the low two address bits. Sources: CDNA3 ISA manual, "Memory Alignment", "Scalar Memory"; LLVM
// AMDGPUUsage, "Memory Model gfx942".

import { immediateOf, operandNamed } from '../../../isa/operand.ts';
import { targetInfo } from '../../../isa/table/targets.ts';
import { PRIVATE_APERTURE_HIGH, SHARED_APERTURE_HIGH } from '../../apertures.ts';
import type { AccessPiece, AccessPlan } from '../interpreter/access-plan.ts';
import { bindScalarWord } from '../interpreter/operands.ts';
import { scratchAddress } from '../interpreter/spaces.ts';
import { gpuWindow, WAVE_SCRATCH_BASE } from '../state/layout.ts';
import { EXEC, FLAT_SCRATCH, LANES, maskBit, type Wave } from '../state/wave.ts';
import { AccessReports, type Actor, type DispatchRegions } from './access-reports.ts';
import type { DropTable } from './drops.ts';
import { FastAccesses, type GroupState, NO_LDS, toucherOf } from './fast-accesses.ts';
import type { GlobalShadow, RegionShadow } from './global.ts';
import { LdsChecks, NEITHER } from './lds/lds-checks.ts';
import { BOTH, HIGH, LOW, type StrictPlan } from './plan.ts';
import { GlobalRaces } from './races/global-races.ts';
import { checkLanes } from './races/lane-conflicts.ts';
import { ANNOUNCES, EARLY_PLACES, earlyPlace } from './races/race-events.ts';
import { SCALAR_GLC, ScalarStores } from './races/scalar-stores.ts';
import type { RegisterChecks } from './registers/register-checks.ts';
import type { Origin } from './registers/registers.ts';
import type { LdsBytes } from './registers/waits.ts';
import { isLdsFetch, type WaveShadow } from './registers/wave-shadow.ts';
import type { Reporter } from './reporter.ts';

const HIGH_WORD = 4294967296;

/** The lanes in which halves of a loaded register stay undefined. */
class UndefinedLanes {
  private readonly lanes = new Uint32Array(4);

  add(lane: number, halves: number): void {
    for (const half of [LOW, HIGH]) {
      if ((halves & half) === 0) continue;
      const word = 2 * (half - LOW) + (lane >> 5);
      this.lanes[word] = (this.lanes[word] as number) | (1 << (lane & 31));
    }
  }

  of(half: typeof LOW | typeof HIGH): readonly [number, number] {
    const word = 2 * (half - LOW);
    return [this.lanes[word] as number, this.lanes[word + 1] as number];
  }
}

/**
 * Stores of an instruction that may be announcements: only those of one lane; their event says so (ANNOUNCES); it also says so of those that come too early (EARLY).
 */
export interface Announcers {
  readonly isOneLane: boolean;
  readonly isNoted: boolean;
  readonly areEarlyNoted: boolean;
}

export class AccessChecks {
  private readonly reporter: Reporter;
  private readonly registers: RegisterChecks;
  private readonly regions: DispatchRegions;
  readonly global: GlobalShadow;
  private readonly fast: FastAccesses;
  private readonly reports: AccessReports;
  private readonly races: GlobalRaces;
  private readonly lds: LdsChecks;
  readonly scalarStores: ScalarStores;
  /** Cache policy bits of accesses that other compute units see. */
  private readonly deviceScope: number;
  /** Lanes of the running instruction whose data goes to scratch. */
  /** Of the piece that is looked at: where lanes before have read arguments. */
  private kernargAt = NaN;
  private scratchLow = 0;
  private scratchHigh = 0;

  constructor(
    reporter: Reporter,
    registers: RegisterChecks,
    regions: DispatchRegions,
    global: GlobalShadow,
    drops: DropTable,
  ) {
    this.reporter = reporter;
    this.registers = registers;
    this.regions = regions;
    this.global = global;
    this.deviceScope = targetInfo(regions.target).scopedCachePolicy ? 16 : 1;
    this.reports = new AccessReports(reporter, regions, drops);
    this.races = new GlobalRaces(reporter, regions, global);
    this.lds = new LdsChecks(reporter, this.reports);
    this.scalarStores = new ScalarStores(reporter);
    this.fast = new FastAccesses(reporter.dispatch.memory, global, regions.kernarg);
  }

  /** What the last access of a workgroup acquires, done once its values have come back. */
  takeArrival({ number }: GroupState): (() => void) | undefined {
    return this.races.takeArrival(number);
  }

  /** As FastAccesses has them. */
  openPage(state: GroupState, offset: number): number {
    return this.fast.openPage(state, offset);
  }
  unlogPage(state: GroupState, offset: number): boolean {
    return this.fast.unlogPage(state, offset);
  }

  /** As GlobalRaces has them. */
  noteKnown(shadow: WaveShadow): void {
    this.races.noteKnown(shadow);
  }
  arrive(actor: number, number: number): void {
    this.races.arrive(actor, number);
  }
  endGroup({ number }: GroupState): void {
    this.races.endGroup(number);
    this.scalarStores.end(number);
  }

  /** Where the active lanes of a load of LDS, or of a flat one, read there, element by element. */
  addresses(w: Wave, access: AccessPlan): readonly LdsBytes[] {
    access.prepare(w);
    const elements: { readonly first: AccessPiece; bytes: number }[] = [];
    for (const piece of access.pieces(w)) {
      const last = elements.at(-1);
      if (last !== undefined && piece.offset === last.first.offset + last.bytes) last.bytes += piece.bytes;
      else elements.push({ first: piece, bytes: piece.bytes });
    }
    return elements.map(({ first, bytes }) => {
      const addresses = new Uint32Array(LANES);
      let count = 0;
      for (let lane = 0; lane < LANES; lane++) {
        if ((((w.sgprs[EXEC + (lane >>> 5)] as number) >>> (lane & 31)) & 1) === 0) continue;
        w.lane = lane;
        const address = access.address(w, lane, first);
        if (this.locate(access, address) === 'lds') addresses[count++] = address % HIGH_WORD;
      }
      return { addresses, count, bytes };
    });
  }

  /** All accesses of an instruction; the LDS bytes that it writes. Defines the registers that a load writes. */
  check(w: Wave, state: GroupState, pc: number, plan: StrictPlan): readonly LdsBytes[] | undefined {
    const access = plan.access as AccessPlan;
    const shadow = state.waves[w.index] as WaveShadow;
    const isSynchronising = this.isSynchronising(plan);
    access.prepare(w);
    if (checkLanes(this.reporter, w, pc, plan, access, isSynchronising)) this.global.log.setRepeated(pc);
    const announcers = this.announcers(plan, pc);
    const place = announcers === undefined ? pc : placeOf(w, shadow, pc, announcers);
    const isAnnouncement = place !== pc && announcers?.isNoted !== true;
    // Who reads it knows that it is done, too.
    if (place !== pc && !isAnnouncement) shadow.registers.released = shadow.storesIssued + 1;
    const noted = isAnnouncement ? pc : place;
    const isClose = isSynchronising || isAnnouncement || this.scalarStores.areAny;
    const quick = this.fast.check(w, shadow, state, pc, plan, isClose, noted);
    if (quick !== undefined) return quick === NO_LDS ? undefined : quick;
    const { lds, scratch } = state;
    const who = toucherOf(w, state, noted);
    const told =
      access.kind === 'load' || access.space === 'global'
        ? undefined
        : lds.order?.release(w.index, shadow.takeStanding());
    if (isLdsFetch(plan)) lds.order?.fetch(w.index);
    const scope = { isSynchronising, isAnnouncement };
    const actor: Actor = { w, shadow, lds, state, who, scratch, pc, plan, access, told, ...scope };
    if (access.kind === 'atomic') {
      if (plan.instruction.row.operands.some((o) => o.isOut)) lds.hasLearnt = true;
      lds.hasUpdated = true;
    } else if (lds.hasUpdated && access.kind === 'load' && this.races.isPoll(pc)) lds.hasLearnt = true;
    this.races.hasLookedAhead = false;
    const pieces = access.pieces(w);
    if (access.isScalar) return this.checkScalar(actor, pieces);
    const low = w.sgprs[EXEC] as number;
    const high = w.sgprs[EXEC + 1] as number;
    this.scratchLow = 0;
    this.scratchHigh = 0;
    const written: LdsBytes[] = [];
    const { conflicts } = this.races;
    for (const piece of pieces) {
      const bytes = this.checkPiece(actor, piece, low, high, piece === pieces[pieces.length - 1]);
      if (bytes !== undefined) written.push(bytes);
    }
    if (access.kind === 'load' && this.races.hasLookedAhead)
      this.learnAhead(actor, pieces[0] as AccessPiece, low, high);
    for (const read of plan.dataReads) {
      this.registers.checkVector(w, shadow, pc, read, low & ~this.scratchLow, high & ~this.scratchHigh);
    }
    if (isSynchronising && access.kind === 'load') this.notePoll(actor, pieces[0], this.races.conflicts === conflicts);
    return written.length === 0 ? undefined : written;
  }

  /** A load with device scope has been looked at, and `isFine`: compiled code need not ask about the like of it as long as nothing changes. */
  private notePoll({ w, access, shadow, pc }: Actor, piece: AccessPiece | undefined, isFine: boolean): void {
    const { registers } = shadow;
    const { span } = access;
    registers.poll = undefined;
    const lane = onlyLane(w.sgprs[EXEC] as number, w.sgprs[EXEC + 1] as number);
    if (!isFine || piece === undefined || access.space !== 'global' || (span !== 4 && span !== 8) || lane < 0) return;
    w.lane = lane;
    const address = access.address(w, lane, piece);
    const region = this.reporter.dispatch.memory.find(address, span);
    if (region === undefined || address % 4 !== 0) return;
    const offset = address - region.base;
    if (!this.global.of(region).hasDwords(offset, span)) return;
    const words = this.global.pages.writerWords(region, offset, span);
    if (words === undefined) return;
    registers.poll = [pc + 1, region.offset + offset, ...words, ...this.global.log.state];
  }

  /**
   * Atomics order workgroups, and so do accesses that go past the caches of a compute unit (LLVM's memory model). Scalar loads do with `glc`:
   * stream-K kernels of Tensile wait for a flag that way.
   */
  isSynchronising({ cachePolicy, access }: StrictPlan): boolean {
    if (access?.kind === 'atomic') return true;
    return (cachePolicy & (access?.isScalar === true ? SCALAR_GLC : this.deviceScope)) !== 0;
  }

  /**
   * Which stores of an instruction may be announcements: those of one lane where nobody waits in loops for what any lane stores, and whether their event says so. Of
   * parts of a dword several may be such, and the dword has one event. Undefined for none.
   */
  announcers({ access, operation }: StrictPlan, pc: number): Announcers | undefined {
    const isStore = access?.kind === 'store' && access.space !== 'lds' && access.space !== 'scratch';
    const { announcing } = this.regions;
    if (!isStore || announcing === 'nobody') return undefined;
    const isOneLane = announcing === 'one lane';
    const isNoted = operation?.kind === 'store' && operation.bytes >= 4;
    return { isOneLane, isNoted, areEarlyNoted: isNoted && !isOneLane && pc < EARLY_PLACES };
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
    const undefinedLanes = new UndefinedLanes();
    let origin: Origin | undefined;
    const ldsAddresses: number[] = [];
    const writesLds = access.toLds || (access.kind !== 'load' && (access.space === 'lds' || access.space === 'flat'));
    this.kernargAt = NaN;
    for (let lane = 0; lane < LANES; lane++) {
      if (!maskBit(low, high, lane)) continue;
      w.lane = lane;
      const address = access.address(w, lane, piece);
      // Lanes mostly read one argument.
      if (address === this.kernargAt) continue;
      let missing: number = NEITHER;
      const at = this.locate(access, address);
      if (address >= 0) {
        if (at === 'lds') {
          const offset = address % HIGH_WORD;
          missing = this.lds.check(actor, piece, lane, offset, access.kind);
          if (writesLds) ldsAddresses.push(offset);
        } else {
          const isDefined =
            at === 'scratch'
              ? this.checkScratch(actor, piece, lane, address % HIGH_WORD)
              : this.checkGlobal(actor, piece, lane, address);
          if (!isDefined) missing = BOTH;
        }
      }
      if (address < 0 && isLast) this.reports.dropped(actor, lane);
      if (access.toLds) {
        const to = access.ldsAddress(w, lane, piece);
        const bytes = Math.max(4, piece.bytes);
        if (address >= 0) {
          this.lds.check(actor, { ...piece, bytes }, lane, to, 'store');
          ldsAddresses.push(to);
        } else if (to + bytes <= w.workgroup.lds.byteLength) {
          // What a buffer's bounds drop arrives as zeros, if at all: nobody waits for it.
          actor.lds.setWritten(to, bytes, true);
        }
      }
      if (missing === NEITHER) continue;
      origin ??= this.originAt(actor, at, address);
      undefinedLanes.add(lane, missing);
    }
    if (access.kind !== 'store' && piece.register >= 0) {
      for (let n = 0; n < Math.max(1, piece.bytes / 4); n++) {
        const register = piece.register + n;
        shadow.registers.define(register, BOTH, low, high);
        if (origin === undefined) continue;
        for (const half of [LOW, HIGH] as const) {
          const [lowLanes, highLanes] = undefinedLanes.of(half);
          shadow.registers.undefine(register, half, lowLanes, highLanes);
        }
        shadow.registers.origins.set(register + 256, origin);
      }
    }
    if (ldsAddresses.length === 0) return undefined;
    const bytes = Math.max(access.toLds ? 4 : 1, piece.bytes);
    return { addresses: Uint32Array.from(ldsAddresses), count: ldsAddresses.length, bytes };
  }

  /** What is undefined comes from there: a buffer that is the wavefront's scratch is reached by a lane's bytes of that. */
  private originAt({ w, pc, access, scratch }: Actor, space: 'global' | 'lds' | 'scratch', address: number): Origin {
    if (space !== 'global') return { space, address: address % HIGH_WORD, pc };
    const isScratch = scratch !== undefined && address >= scratch.base && address < scratch.base + scratch.size;
    if (!isScratch || access.rowBytes() !== 4 * LANES) return { space, address, pc };
    const at = address - gpuWindow.base - w.field(WAVE_SCRATCH_BASE);
    return { space: 'scratch', address: 4 * Math.floor(at / (4 * LANES)) + (at & 3), pc };
  }

  private locate(access: AccessPlan, address: number): 'global' | 'lds' | 'scratch' {
    if (access.space !== 'flat') return access.space;
    const high = Math.floor(address / HIGH_WORD);
    if (high === SHARED_APERTURE_HIGH) return 'lds';
    return high === PRIVATE_APERTURE_HIGH ? 'scratch' : 'global';
  }

  // Global ----------------------------------------------------------------------------------------------------------------------

  /** A load in front of an atomic learns of others at the addresses of all its lanes, where one of them has read what atomics change. */
  private learnAhead(actor: Actor, piece: AccessPiece, low: number, high: number): void {
    const { w, access } = actor;
    for (let lane = 0; lane < LANES; lane++) {
      if (!maskBit(low, high, lane)) continue;
      w.lane = lane;
      const address = access.address(w, lane, piece);
      if (address < 0 || this.locate(access, address) !== 'global') continue;
      const region = this.reporter.dispatch.memory.find(address, piece.bytes);
      if (region !== undefined) this.races.learn(actor, this.global.of(region), address - region.base);
    }
  }

  /** Whether the bytes that are read are defined. */
  private checkGlobal(actor: Actor, piece: AccessPiece, lane: number, address: number): boolean {
    const { access, w, pc } = actor;
    const { bytes } = piece;
    const { memory } = this.reporter.dispatch;
    const region = memory.find(address, bytes);
    if (region === undefined) return this.reports.outside(actor, lane, address, bytes);
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
    if (access.kind === 'atomic' && address % bytes !== 0)
      this.reports.misaligned(actor, lane, 'global', address, bytes);
    const of = this.global.of(region);
    if (region === actor.scratch) {
      this.markScratch(lane);
      return this.touchScratch(actor, piece, lane, of, offset, access.rowBytes());
    }
    if (region === this.regions.kernarg) {
      if (offset + bytes <= this.regions.kernargSize) {
        if (access.kind === 'load' && !access.toLds) this.kernargAt = address;
        return true;
      }
      if (!this.races.isGridSync(address)) {
        this.reports.kernargOverrun(actor, lane, address);
        return true;
      }
    }
    if (this.scalarStores.areAny) this.scalarStores.access(actor, lane, address, bytes);
    if (access.kind === 'load') {
      this.races.touch(actor, piece, lane, of, offset, bytes, false);
      if (of.written === undefined || isAnyWritten(of, offset, bytes)) return true;
      if (!this.registers.isReportedLoad(pc)) return false;
      of.fillPages(offset, bytes);
      return true;
    }
    if (access.kind === 'atomic' && of.written !== undefined && !isAnyWritten(of, offset, bytes)) {
      this.reports.uninitialised(actor, lane, 'global', address);
    }
    this.races.touch(actor, piece, lane, of, offset, bytes, true);
    of.setWritten(offset, bytes, true);
    return true;
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
    if (access.kind === 'atomic' && offset % bytes !== 0)
      this.reports.misaligned(actor, lane, 'scratch', offset, bytes);
    this.markScratch(lane);
    const of = this.global.of(scratch);
    const physical = scratchAddress(w, offset) - scratch.base;
    return this.touchScratch(actor, piece, lane, of, physical, 4 * LANES);
  }

  /**
   * Scratch holds spilled registers, defined or not: what is undefined stays so when it comes back. What goes beyond the dword at `at`
   * goes on in the lane's next row, `rowBytes` further on; 0 where memory is not swizzled.
   */
  private touchScratch(
    { shadow, access }: Actor,
    piece: AccessPiece,
    lane: number,
    of: RegionShadow,
    at: number,
    rowBytes: number,
  ): boolean {
    const { bytes } = piece;
    const here = rowBytes === 0 ? bytes : Math.min(bytes, 4 - (at & 3));
    const next = at - (at & 3) + rowBytes;
    if (access.kind === 'load') return isAnyWritten(of, at, here) || isAnyWritten(of, next, bytes - here);
    const isDefined =
      piece.register < 0 || access.kind === 'atomic' || shadow.registers.isLaneDefined(piece.register, lane);
    of.setWritten(at, here, isDefined);
    of.setWritten(next, bytes - here, isDefined);
    return true;
  }

  // Scalar ----------------------------------------------------------------------------------------------------------------------

  private checkScalar(actor: Actor, pieces: readonly AccessPiece[]): LdsBytes[] | undefined {
    const { w, shadow, access, pc, plan } = actor;
    const { registers } = shadow;
    const first = pieces[0];
    if (first === undefined) return undefined;
    if (access.space === 'lds') {
      const address = access.address(w, 0, first);
      this.lds.check(actor, first, undefined, address, access.kind);
      this.registers.define(w, shadow, plan);
      return [{ addresses: Uint32Array.of(address), count: 1, bytes: first.bytes }];
    }
    const raw = this.rawScalarAddress(actor);
    if (raw !== undefined && raw % 4 !== 0) this.reports.misaligned(actor, undefined, 'global', raw, 4);
    const start = access.address(w, 0, first);
    for (const piece of pieces) {
      const address = access.address(w, 0, piece);
      if (address < 0) {
        if (piece.register >= 0 && access.kind === 'load') registers.setScalar(piece.register, true);
        continue;
      }
      const { bytes } = piece;
      const region = this.reporter.dispatch.memory.find(address, bytes);
      if (region === undefined) return this.reports.outside(actor, undefined, address, bytes);
      const offset = address - region.base;
      let origin: 'kernarg' | 'global' | undefined;
      if (region === this.regions.kernarg && offset + bytes > this.regions.kernargSize) {
        // Compilers load up to the next power of two; what lies behind the end must not be used.
        if (start - region.base >= this.regions.kernargSize) this.reports.kernargOverrun(actor, undefined, address);
        else origin = 'kernarg';
      } else if (region !== this.regions.kernarg) {
        const of = this.global.of(region);
        if (access.kind === 'store' && (actor.plan.cachePolicy & SCALAR_GLC) === 0)
          this.scalarStores.store(actor, address, bytes);
        else if (this.scalarStores.areAny) this.scalarStores.access(actor, undefined, address, bytes);
        const isPlain = access.kind === 'load' && bytes === 4 && (offset & 3) === 0 && !actor.isSynchronising;
        if (!isPlain || !this.global.readUnstored(of, offset, actor.who)) {
          this.races.touch(actor, piece, 0, of, offset, bytes, access.kind !== 'load');
          if (access.kind === 'load') this.races.scalarRead(actor, of, offset, bytes);
        }
        if (access.kind !== 'load') of.setWritten(offset, bytes, true);
        else if (!isAnyWritten(of, offset, bytes)) origin = 'global';
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

/**
 * The place of a store's event. Of one that comes behind all that its wavefront has stored: what reads it past the caches may learn from it that this is done. Where
 * cache policies have no scope, nothing else tells such a store from others: on gfx90a LLVM's atomic and volatile stores are plain ones.
 * Kernels that do not wait in loops announce by one lane. Source: LLVM's AMDGPUUsage, "Memory Model gfx90a", store atomic.
 */
function placeOf(w: Wave, { registers }: WaveShadow, pc: number, { isOneLane, areEarlyNoted }: Announcers): number {
  const [, , issued = 0, complete = 0] = registers.outstanding;
  if (complete !== issued) return areEarlyNoted ? earlyPlace(pc, issued - complete) : pc;
  if (!isOneLane) return pc | ANNOUNCES;
  return onlyLane(w.sgprs[EXEC] as number, w.sgprs[EXEC + 1] as number) < 0 ? pc : pc | ANNOUNCES;
}

/** The lane of EXEC if there is one only; else -1. */
function onlyLane(low: number, high: number): number {
  const word = low !== 0 ? low : high;
  if (word === 0 || (word & (word - 1)) !== 0 || (low !== 0 && high !== 0)) return -1;
  return 31 - Math.clz32(word) + (low !== 0 ? 0 : 32);
}

/** Whether any of the bytes has been written: code may load more than it uses. */
function isAnyWritten(of: RegionShadow, from: number, bytes: number): boolean {
  const { written } = of;
  if (written === undefined) return true;
  for (let at = from; at < from + bytes; at++) if (of.isWritten(at)) return true;
  return false;
}
