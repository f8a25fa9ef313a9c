// Room `device/sim/strict/races`: races in global memory: records of who touched what, what is ordered by whom, and what is still under way.
// Begin with this file, then race-page.ts and race-details.ts (the records), synchronisation.ts and polls.ts (what orders them).
//
// Races in global memory: accesses of other workgroups, and of other wavefronts without a barrier, to the same bytes; data that was
// handed over before it was known to be stored.
import { immediateOf } from '../../../../isa/operand.ts';
import { targetInfo } from '../../../../isa/table/targets.ts';
import type { AccessPiece } from '../../interpreter/access-plan.ts';
import { LANES, type Wave } from '../../state/wave.ts';
import type { Actor, DispatchRegions } from '../access-reports.ts';
import type { GroupState } from '../fast-accesses.ts';
import type { GlobalConflict, GlobalShadow, LooksAhead, RegionShadow, WriteKind } from '../global.ts';
import type { KnownStores, WaveShadow } from '../registers/wave-shadow.ts';
import type { Reporter } from '../reporter.ts';
import { updatedBy } from './lane-conflicts.ts';
import { polls, precedesAtomic } from './polls.ts';
import { actorOf, groupOf, WAVES, waveOf } from './race-events.ts';
import type { Acquisition, CompleteStores, HandedOver, Released, Telling } from './releases.ts';
import { HandedOverByWave, ReleasedByAccess } from './releases.ts';
import { isScalarStore } from './scalar-stores.ts';
import type { LoggedAtomic, SyncReader } from './sync-log.ts';
import { latest } from './synchronisation.ts';

/** Size of `multi_grid_sync_info` (ockl/src/mg.cl). */
const GRID_SYNC_BYTES = 48;

/** What an access acquires once its values have come back. */
interface Arrival {
  readonly acquisitions: readonly Acquisition[];
  /** It has read the counters of the grid's barrier. */
  readonly isGridSync: boolean;
}

/** That of an atomic of the log, by its number. */
interface LoggedArrival extends Arrival {
  readonly number: number;
}

/** What a wavefront knows of stores up to the next barrier, or until it learns more, but for what it writes back; and how many of its own are complete. */
class Knowledge {
  private readonly stores: KnownStores;
  private known: CompleteStores;
  private written: CompleteStores | undefined;
  private writtenBack: number | undefined;
  private handed: HandedOverByWave | undefined;

  constructor(stores: KnownStores) {
    this.stores = stores;
    this.known = stores.known;
    this.written = stores.written;
  }

  /** As WaveShadow.handOver: the same as long as nothing has changed. */
  handedOver(wave: number, storesComplete: number, writtenBack: number | undefined): HandedOver {
    if (writtenBack !== undefined && writtenBack !== this.writtenBack) this.writeBack(wave, writtenBack);
    if (this.handed?.storesComplete !== storesComplete) {
      this.handed = new HandedOverByWave(this.known, this.written, wave, storesComplete);
    }
    return this.handed;
  }

  /** A write-back is done before which the wavefront had issued so many stores. */
  private writeBack(wave: number, issued: number): void {
    const { known, issuedBefore } = this.stores;
    const stores = latest(issuedBefore, known).slice();
    stores[wave] = issued;
    this.known = latest(this.known, stores);
    if (this.written !== undefined) this.written = latest(this.written, stores);
    this.writtenBack = issued;
    this.handed = undefined;
  }
}

export class GlobalRaces implements SyncReader {
  private readonly reporter: Reporter;
  private readonly regions: DispatchRegions;
  private readonly global: GlobalShadow;
  private acquisitions: Acquisition[] = [];
  /** What was told last, and what its wavefront could hand over. */
  private released: { readonly of: HandedOver; readonly by: Released } | undefined;
  /** Of the log (sync-log.ts): by actor, what its wavefront knows of stores; by workgroup, what atomics by their number acquire. */
  private readonly known = new Map<number, Knowledge>();
  private readonly arrivals = new Map<number, LoggedArrival[]>();
  /** The last access has read the counters of the grid's barrier. */
  private hasReadGridSync = false;
  /** Of the instruction that is looked at: the load may read what atomics are changing, and learns of others. */
  hasLookedAhead = false;
  /** Accesses so far that nothing puts in order with an earlier one. */
  conflicts = 0;

  constructor(reporter: Reporter, regions: DispatchRegions, global: GlobalShadow) {
    this.reporter = reporter;
    this.regions = regions;
    this.global = global;
    global.log.reader = this;
  }

  /** What the last access acquires for its workgroup once its values have come back. */
  takeArrival(group: number): (() => void) | undefined {
    if (this.acquisitions.length === 0) return undefined;
    const taken = { acquisitions: this.acquisitions, isGridSync: this.hasReadGridSync };
    this.acquisitions = [];
    this.hasReadGridSync = false;
    return () => this.acquire(group, taken);
  }

  /** Whether an address is among the counters by which a grid waits for all of it. */
  isGridSync(address: number): boolean {
    const { gridSync } = this.regions;
    return gridSync !== undefined && address >= gridSync && address < gridSync + GRID_SYNC_BYTES;
  }

  /** Accesses of other workgroups to the same bytes, dword by dword. */
  touch(
    actor: Actor,
    piece: AccessPiece,
    lane: number,
    of: RegionShadow,
    offset: number,
    bytes: number,
    isWrite: boolean,
  ): void {
    const { who, isSynchronising, access } = actor;
    const kind = this.writeKind(actor, lane, of.region.base + offset);
    const isPlainLoad = access.kind === 'load' && !isSynchronising;
    if (!isPlainLoad) this.synchronise(actor, of, offset, isWrite && kind !== 'attempt');
    let meetsOthers = false;
    for (let at = offset; at < offset + bytes; ) {
      const size = Math.min(4 - (at & 3), offset + bytes - at);
      const conflict = isWrite
        ? this.global.write(of, at, size, who, kind, this.mayLookAhead)
        : isSynchronising
          ? this.readPast(actor, of, at, size)
          : this.global.read(of, at, size, who, this.mayLookAhead);
      meetsOthers ||= conflict !== undefined;
      if (conflict !== undefined && !this.isAnnounced(actor, of.region.base + offset, conflict)) {
        const isStoreBehind = conflict.other === 'write' && access.kind === 'store';
        if (isStoreBehind && this.isSame(actor, piece, lane, of, at, size, offset)) {
          if (updatedBy(this.reporter, actor.pc) === undefined) this.global.log.setRepeated(actor.pc);
        } else {
          this.conflicts++;
          this.globalRace(actor, lane, of.region.base + at, conflict, isWrite);
        }
      }
      at += size;
    }
    // What it meets may be a flag, on gfx90a loads that wait for one are mostly plain ones.
    if (isPlainLoad && (meetsOthers || (access.isScalar && this.hasLookedAhead))) this.learn(actor, of, offset);
  }

  /** As GlobalShadow has it; who waits in a loop for what it reads does not count on what has told it that it is there. */
  private readPast({ who, pc }: Actor, of: RegionShadow, at: number, size: number): GlobalConflict | undefined {
    const conflict = this.global.readPast(of, at, size, who);
    return conflict === undefined || this.isPoll(pc) ? undefined : conflict;
  }

  /** What a load learns of others who have told something at an address: who looks at what atomics change learns of them. */
  learn(actor: Actor, of: RegionShadow, offset: number): void {
    this.synchronise(actor, of, offset, false);
  }

  private writeKind({ w, access, plan, isSynchronising }: Actor, lane: number, address: number): WriteKind {
    if (access.kind !== 'atomic') return isSynchronising ? 'scoped' : 'store';
    return plan.attempt?.leavesMemory(w, lane, address) === true ? 'attempt' : 'update';
  }

  /**
   * Whether an atomic that looks for it meets a store that told others something at this address: a lock that is free again, on gfx90a. Atomics that take
   * whatever is there, as those that count, do not wait for a store.
   */
  private isAnnounced(
    { access, plan, pc }: Actor,
    address: number,
    { other, workgroup, pc: storePc }: GlobalConflict,
  ): boolean {
    if (access.kind !== 'atomic' || other !== 'write') return false;
    if (plan.attempt?.mayTake !== true && !this.isPoll(pc)) return false;
    return this.global.synchronisation.hasReleased(workgroup, address, storePc);
  }

  /** What an access of an address that workgroups or wavefronts share acquires and releases. */
  private synchronise(
    { w, state, shadow, access, plan, isSynchronising, isAnnouncement, pc }: Actor,
    of: RegionShadow,
    offset: number,
    isWrite: boolean,
  ): void {
    if (!this.areOrders(state)) return;
    const { synchronisation } = this.global;
    const address = of.region.base + offset;
    // An atomic that returns nothing tells its wavefront nothing.
    if (access.kind === 'load' || (access.kind === 'atomic' && plan.effects.defs.length > 0)) {
      this.global.releaseAnnounced(of, offset, pc, this.isPoll);
      const seen = synchronisation.seenAt(address);
      if (seen !== undefined) {
        this.acquisitions.push(seen);
        if (this.isGridSync(address)) this.hasReadGridSync = true;
      }
    }
    if ((isSynchronising || isAnnouncement) && isWrite) {
      synchronisation.release(state.number, address, this.releasedBy(shadow, w, pc));
    }
  }

  /** Whether wavefronts can be put in order by more than barriers. */
  private areOrders({ waves }: GroupState): boolean {
    return this.regions.learns && (this.regions.workgroups > 1 || waves.length > 1);
  }

  /** What a wavefront tells others by an access with device scope. The same object for all lanes of an instruction. */
  private releasedBy(shadow: WaveShadow, { index: wave }: Wave, pc: number): Released {
    const told = shadow.handOver();
    const issued = shadow.storesIssued;
    const known = this.lastReleased(told, wave, pc, issued);
    if (known !== undefined) return known;
    const { registers } = shadow;
    const { epoch, releases } = registers;
    registers.countRelease();
    return this.releasedOf(told, told.complete[wave] as number, { wave, pc, issued, epoch, releases });
  }

  private releasedOf(told: HandedOver, storesComplete: number, telling: Telling): Released {
    const { wave, pc, issued } = telling;
    const known = this.lastReleased(told, wave, pc, issued);
    if (known !== undefined) return known;
    const by = new ReleasedByAccess(told, storesComplete, telling);
    this.released = { of: told, by };
    return by;
  }

  /** What was told last, if it is this. */
  private lastReleased(told: HandedOver, wave: number, pc: number, issued: number): Released | undefined {
    const { released: last } = this;
    const isLast = last?.of === told && last.by.pc === pc && last.by.wave === wave && last.by.issued === issued;
    return isLast ? last.by : undefined;
  }

  /** What a wavefront knows of stores, for the atomics that compiled code notes in the log from now on. */
  noteKnown({ registers, stores, hasLearntAll }: WaveShadow): void {
    this.global.log.know(registers.actor, stores);
    registers.isKnown = hasLearntAll;
  }

  know(actor: number, stores: KnownStores): void {
    this.known.set(actor, new Knowledge(stores));
  }

  invalidated(actor: number): void {
    this.global.invalidated(groupOf(actor));
  }

  /** All wavefronts of a workgroup have ended. */
  endGroup(group: number): void {
    const { log } = this.global;
    log.behind(() => {
      this.global.synchronisation.end(group);
      for (let wave = 0; wave < WAVES; wave++) this.known.delete(actorOf(group, wave));
      this.arrivals.delete(group);
    });
  }

  get isTold(): boolean {
    return this.global.synchronisation.isTold;
  }

  /** An atomic of the log: as `synchronise` of all its lanes. */
  atomic(one: LoggedAtomic): void {
    const { returns, actor, number, lanes } = one;
    const { synchronisation } = this.global;
    const group = groupOf(actor);
    const { count, addresses, leaves } = lanes;
    if (!returns) {
      synchronisation.releaseAll(group, lanes.offsets, count, this.toldBy(one));
      return;
    }
    let by: Released | undefined;
    let acquisitions: Acquisition[] | undefined;
    let isGridSync = false;
    for (let lane = 0; lane < count; lane++) {
      const address = addresses[lane] as number;
      const seen = synchronisation.seenAt(address);
      if (seen !== undefined) {
        isGridSync ||= this.isGridSync(address);
        if (synchronisation.isNews(group, seen)) {
          if (acquisitions === undefined) acquisitions = [seen];
          else acquisitions.push(seen);
        }
      }
      if (leaves[lane] !== 0) continue;
      by ??= this.toldBy(one);
      synchronisation.release(group, address, by);
    }
    if (acquisitions === undefined && !isGridSync) return;
    const arrival = { number, acquisitions: acquisitions ?? [], isGridSync };
    const arrivals = this.arrivals.get(group);
    if (arrivals === undefined) this.arrivals.set(group, [arrival]);
    else arrivals.push(arrival);
  }

  /** What the wavefront of an atomic of the log tells by it. */
  private toldBy({ actor, pc, storesIssued, storesComplete, writtenBack, epoch, releases }: LoggedAtomic): Released {
    const wave = waveOf(actor);
    const told = (this.known.get(actor) as Knowledge).handedOver(wave, storesComplete, writtenBack);
    return this.releasedOf(told, storesComplete, { wave, pc, issued: storesIssued, epoch, releases });
  }

  /** The values of an atomic of the log have come back. */
  arrive(actor: number, number: number): void {
    const group = groupOf(actor);
    const arrivals = this.arrivals.get(group) ?? [];
    const at = arrivals.findIndex((one) => one.number === number);
    if (at < 0) return;
    const arrival = arrivals[at] as LoggedArrival;
    // Their order does not matter.
    arrivals[at] = arrivals[arrivals.length - 1] as LoggedArrival;
    arrivals.pop();
    this.acquire(group, arrival);
  }

  private acquire(group: number, { acquisitions, isGridSync }: Arrival): void {
    const { synchronisation } = this.global;
    for (const one of acquisitions) {
      if (!synchronisation.acquire(group, one)) continue;
      this.global.log.changed();
      this.global.acquired(group);
    }
    // __ockl_grid_sync invalidates the caches before it waits, and reads nothing between.
    if (isGridSync) synchronisation.invalidate(group);
  }

  /**
   * A scalar load of bytes that the dispatch has written: the scalar cache does not see what vector instructions store. It must have been
   * invalidated behind the wait for the store. A load with `glc` asks past the cache: AITER's split-K kernels wait for each other in loops of
   * it, which would not end otherwise.
   */
  scalarRead(actor: Actor, of: RegionShadow, offset: number, bytes: number): void {
    if (actor.plan.cachePolicy !== 0) return;
    const { fresh } = actor.shadow;
    for (let at = offset; at < offset + bytes; at += 4) {
      const last = this.global.lastWrite(of, at, Math.min(4, offset + bytes - at));
      if (last === undefined) continue;
      const [workgroup, wave] = [groupOf(last.actor), waveOf(last.actor)];
      if (last.isUpdate && this.mayLookAhead(actor.pc, workgroup === actor.state.number)) continue;
      if (workgroup === actor.state.number && this.isScalarStore(last.pc)) continue;
      if (fresh !== undefined) {
        const known = fresh[wave] as number;
        if (workgroup !== actor.state.number || last.store < known) continue;
      }
      this.staleScalar(actor, of.region.base + at, workgroup, wave, last.pc);
      return;
    }
  }

  /** Whether the instruction at a place of the image is a scalar store: what its workgroup has stored so is in the cache that it reads. */
  private isScalarStore(pc: number): boolean {
    const { loaded } = this.reporter.dispatch;
    const instruction = loaded.instructionAt(loaded.region.base + pc);
    return instruction !== undefined && isScalarStore(instruction);
  }

  private staleScalar({ w, pc }: Actor, address: number, workgroup: number, wave: number, storePc: number): void {
    const { reporter } = this;
    reporter.report('races/unacquired', w, pc, () => {
      const id = reporter.workgroupId(workgroup);
      return {
        space: 'global',
        address,
        allocation: reporter.near(address),
        related: [reporter.other('stores the data', storePc, wave, id)],
        message: `0x${address.toString(16)} was stored by workgroup ${id.join(',')} and is read here through the scalar cache, which may hold older bytes: stores do not change it, and nothing has invalidated it since the store was known to be complete.`,
        advice: `Execute 's_dcache_inv' behind the wait for the store, or read the data with a vector load.`,
      };
    });
  }

  /**
   * Whether a load may read what atomics are changing: an atomic can follow it, or it has the scope of the workgroup itself, for which
   * gfx90a has loads like any other.
   */
  private readonly mayLookAhead: LooksAhead = (pc, isOwn, isKnown = false) => {
    const { loaded } = this.reporter.dispatch;
    const at = loaded.region.base + pc;
    if (pc < 0) return true;
    if (precedesAtomic(loaded, at)) {
      this.global.log.setAhead(pc);
      this.hasLookedAhead ||= !isKnown;
      return true;
    }
    const instruction = isOwn ? loaded.instructionAt(at) : undefined;
    if (instruction === undefined) return false;
    return !targetInfo(this.regions.target).scopedCachePolicy || immediateOf(instruction, 'cpol') !== 0;
  };

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

  /** Whether wavefronts of a workgroup may be ordered by the value that an instruction reads. */
  readonly isPoll = (pc: number): boolean => {
    const { loaded } = this.reporter.dispatch;
    return pc >= 0 && polls(loaded, loaded.region.base + pc);
  };

  private globalRace(actor: Actor, lane: number, address: number, conflict: GlobalConflict, isWrite: boolean): void {
    const { w, pc, state, access, isSynchronising } = actor;
    const { reporter } = this;
    const isOwn = conflict.workgroup === state.number;
    // An atomic that returns nothing, which is left then, waits for nobody.
    const mayWait = isSynchronising && access.kind !== 'atomic' && conflict.other === 'write';
    if (isOwn && (state.lds.hasLearnt || mayWait)) return;
    if (isOwn && (this.isPoll(pc) || this.isPoll(conflict.pc))) {
      state.lds.hasLearnt = true;
      return;
    }
    const isHeard = conflict.other === 'read' || conflict.wave < 0;
    if (isOwn && isHeard && state.lds.order?.hasHeard(w.index, conflict.wave) === true) return;
    // Packets for the host go from wavefront to wavefront in memory that no cache keeps.
    const { hostcall } = this.regions;
    if (hostcall !== undefined && address >= hostcall.base && address < hostcall.base + hostcall.size) return;
    const { order } = conflict;
    if (order !== undefined && this.isHeapCode(order === 'stale' ? pc : order.releasePc)) return;
    if (order === 'stale') {
      this.unacquired(actor, lane, address, conflict);
      return;
    }
    if (order !== undefined) {
      // They are not numbered among the stores of their wavefront: ScalarStores has what is to be said of them.
      if (this.isScalarStore(conflict.pc)) return;
      this.unreleased(actor, lane, address, conflict, order);
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

  /**
   * Whether an instruction is of AMD's functions behind malloc and free. Workgroups hand blocks to each other there by atomics that neither
   * write caches back nor invalidate them, which a program can do nothing about.
   */
  private isHeapCode(pc: number): boolean {
    return this.regions.heapCode.some(([start, end]) => pc >= start && pc < end);
  }

  /** A store that comes first, but the caches may still hold what was there before. */
  private unacquired(
    { w, pc }: Actor,
    lane: number,
    address: number,
    { workgroup, wave, pc: storePc }: GlobalConflict,
  ): void {
    const { reporter } = this;
    const instruction = this.regions.hasDies ? 'buffer_inv sc1' : 'buffer_wbinvl1_vol';
    reporter.report('races/unacquired', w, pc, () => {
      const id = reporter.workgroupId(workgroup);
      return {
        lane,
        space: 'global',
        address,
        allocation: reporter.near(address),
        related: [reporter.other('stores the data', storePc, wave, id)],
        message: `0x${address.toString(16)} was stored by workgroup ${id.join(',')} and is read here through caches that may hold older bytes: nothing has invalidated them since the store was acquired.`,
        advice: `Execute '${instruction}' behind the wait for the load or atomic that acquires, or read the data past the caches.`,
      };
    });
  }

  /** A store that was not known to be complete, or written back, when what orders the workgroups was stored. */
  private unreleased(
    { w, pc }: Actor,
    lane: number,
    address: number,
    { workgroup, wave, pc: storePc }: GlobalConflict,
    { releasePc, isComplete }: { readonly releasePc: number; readonly isComplete: boolean },
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
        message: `0x${address.toString(16)} is used here because of '${release?.place.instruction}' of workgroup ${id.join(',')}, which was executed before the store of its wavefront ${wave} to this address was known to be ${isComplete ? 'written back: it may still be in the cache of a die that other dies do not see' : 'complete'}.`,
        advice: isComplete
          ? `Execute 'buffer_wbl2 sc1' and s_waitcnt vmcnt(0) before '${release?.place.instruction}', or store the data with sc1.`
          : `Let every wavefront that stores wait (s_waitcnt vmcnt(0)) before '${release?.place.instruction}', behind buffer_wbl2 where the target has it; other wavefronts than the one that executes it before an s_barrier.`,
      };
    });
  }
}
