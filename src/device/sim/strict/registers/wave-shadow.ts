// Everything strict mode keeps about one wavefront.
import { FLAT_LGKM, FLAT_VM } from '../../../../program/index.ts';
import { AGPR_BASE, LANES, WAVE_SHADOW } from '../../state/layout.ts';
import { EXEC, type Wave } from '../../state/wave.ts';
import { atomicBytes } from '../../wasm/memory/index.ts';
import { type LateRead, type LdsShadow, tagsOf } from '../lds/lds.ts';
import type { LdsOrder } from '../lds/lds-order.ts';
import type { Standing } from '../lds/told-stores.ts';
import { BOTH, type StrictPlan } from '../plan.ts';
import type { KnownSince } from '../races/announcements.ts';
import { actorOf, EVENTS_NEXT } from '../races/race-events.ts';
import type { CompleteStores, HandedOver, Released } from '../races/releases.ts';
import { isLater, latest } from '../races/synchronisation.ts';
import { type Identity, type LoggedOperation, RegisterShadow } from './registers.ts';
import {
  FLAT_LEFT_SHIFT,
  LOG_ENTRIES,
  LOGGED_FLAT,
  LOGGED_FLIGHT,
  LOGGED_LDS,
  LOGGED_READ,
  LOGGED_SCALAR,
  LOGGED_STORE,
  LOGGED_VM,
  SHADOW_BYTES,
  SHADOW_KEPT,
  SHADOW_MISSING,
  SHADOW_SCALARS,
  SHADOW_STAMP,
  SHADOW_START,
  SHADOW_START_BYTES,
  VECTOR_BYTES,
} from './shadow-layout.ts';
import type { Executed } from './wait-states.ts';
import { type IssuedOperation, isNumberedStore, type LdsBytes, WaitQueue } from './waits.ts';

/** Wavefronts that a workgroup can have. */
const STORE_WAVES = 16;
/** No typed array: V8 takes long to make those. */
const NO_STORES: CompleteStores = Array.from({ length: STORE_WAVES }, () => 0);

/** As many registers as there can be, `[vgprs, agprs]`. */
export const ALL_REGISTERS: readonly [number, number] = [AGPR_BASE, AGPR_BASE];

/** What a wavefront knows of stores of its workgroup: complete ones; where dies have caches, those written back; and those issued before the last barrier. */
export interface KnownStores {
  readonly known: CompleteStores;
  readonly written: CompleteStores | undefined;
  readonly issuedBefore: CompleteStores;
}

/** What the wavefronts of a dispatch begin with. */
export interface Beginning extends Identity {
  /** SGPRs that are defined (registers.ts). */
  readonly scalars: Uint32Array;
  /** Stores reach other workgroups when they are written back. */
  readonly hasDies: boolean;
  /** The head of the table of events (race-events.ts). */
  readonly events: Uint32Array;
  /** The values of an atomic of the log have come back (sync-log.ts). */
  readonly arrive: (actor: number, number: number) => void;
  /** The plans of instructions by their places in the image. */
  readonly planAt: (pc: number) => StrictPlan;
}

export class WaveShadow {
  readonly registers: RegisterShadow;
  private readonly waits: WaitQueue;
  wave: Wave;
  /** Instructions that were interpreted one behind the other, and the wave's count of instructions behind the last. */
  interpreted: Executed[] = [];
  interpretedUntil = -1;

  /** Vector registers of each file that may be defined or not since the last `begin`, `[vgprs, agprs]`. */
  used = ALL_REGISTERS;
  /** The dispatch for whose wavefronts SHADOW_START is kept, with this LDS. */
  private startOf: Beginning | undefined;
  private lds: LdsShadow | undefined;
  private planAt: (pc: number) => StrictPlan = () => {
    throw new Error('the wavefront has not begun');
  };
  private arrive: Beginning['arrive'] = () => {};
  /** By wavefront: stores known to be complete since the last barrier, and stores issued before it. */
  known = NO_STORES;
  /** By wavefront: stores known to be written back, so that other dies see them; undefined where all share a cache. */
  private written: CompleteStores | undefined;
  private issuedBefore = NO_STORES;
  /** By wavefront: stores that come before what this one does, for the workgroup itself. */
  private before = NO_STORES;
  private complete = NO_STORES;
  private handed: HandedOver | undefined;
  /** What `known` has been since when, where any store may announce something (announcements.ts). */
  knownSince: KnownSince[] | undefined;
  /** Stores known to be complete when the scalar cache was last invalidated; undefined before that. */
  fresh: CompleteStores | undefined;

  /** Of the registers' shadow in wasm memory. */
  readonly bytes: Uint8Array;

  constructor(wave: Wave) {
    this.wave = wave;
    this.bytes = wave.memory.reserveUncleared(SHADOW_BYTES, 'strict mode');
    for (const [from, end] of [
      [SHADOW_STAMP, SHADOW_KEPT],
      [SHADOW_MISSING, SHADOW_BYTES],
    ] as const)
      wave.memory.clear(this.bytes.byteOffset + from, end - from);
    this.registers = new RegisterShadow(this.bytes.buffer, this.bytes.byteOffset);
    this.waits = new WaitQueue(this.registers.pending, this.registers.outstanding, (operation) => {
      if (operation.lds !== undefined) this.lds?.complete(operation);
      operation.onComplete?.();
    });
  }

  /** The operations that no wait has proved complete, those included that compiled code has issued. */
  get queue(): WaitQueue {
    if (this.registers.logged > 0) this.takeLog();
    return this.waits;
  }

  /** An operation is issued; what it writes to LDS, or reads there where that is noted, and what is to be done when it is known to be complete. */
  issue(
    pc: number,
    plan: StrictPlan,
    epoch: number,
    lds: readonly LdsBytes[] | undefined,
    onComplete: (() => void) | undefined,
  ): void {
    const { kind } = plan.role;
    if (kind === undefined) return;
    if (onComplete !== undefined) this.registers.hasFetched = true;
    const isFlight = kind === 'vm' && plan.access?.toLds === true;
    if (isFlight) this.lds?.setFlights(this.wave.index, this.flightsIssued + 1, lds ?? []);
    const touched = isFlight ? undefined : lds;
    if (onComplete !== undefined || !this.tryLog(pc, plan, touched)) {
      const operation = this.queue.issue(kind, pc, plan, this.wave.index, epoch);
      if (plan.access?.kind === 'load') operation.reads = touched;
      else operation.lds = touched;
      operation.onComplete = onComplete;
    }
    if (plan.access?.kind === 'store' && isNumberedStore(kind, plan)) this.registers.plainStores = this.storesIssued;
  }

  /** Nothing is outstanding that a barrier would have to know of. */
  get isIdle(): boolean {
    return this.flightsIssued === 0 && (this.registers.outstanding[0] === 0 || this.registers.isOnlyVm);
  }

  /** Stores to memory that the wavefront has issued. */
  get storesIssued(): number {
    return this.registers.outstanding[2] as number;
  }

  /** Loads into LDS that the wavefront has issued, and those of them that are known to be complete. */
  get flightsIssued(): number {
    return this.registers.outstanding[4] as number;
  }
  get flightsDone(): number {
    return this.registers.outstanding[5] as number;
  }

  /** The loads into LDS that are outstanding, in order: their places in the image and the operations of vector memory behind each. */
  flights(): { readonly pc: number; readonly behind: number }[] {
    if (this.flightsIssued === this.flightsDone) return [];
    const { registers, waits } = this;
    const { loggedVm } = registers;
    const queued = waits.flights().map(({ operation, behind }) => ({ pc: operation.pc, behind: behind + loggedVm }));
    return [...queued, ...registers.loggedFlights()];
  }

  /** An outstanding load into LDS by its number among those of the wavefront, from 1 on. */
  flight(number: number): IssuedOperation | undefined {
    return this.queue.flights()[number - this.flightsDone - 1]?.operation;
  }

  /** Puts a plain operation into the log that compiled code keeps, if it can be said there. */
  private tryLog(pc: number, plan: StrictPlan, touched: readonly LdsBytes[] | undefined): boolean {
    const lds = touched ?? [];
    const { role, access, effects, operation } = plan;
    const [range = { first: 0, count: 0 }, second] = effects.defs;
    if (second !== undefined || lds.length > 2) return false;
    if (access?.toLds && role.kind !== 'vm') return false;
    if (lds.some(({ count, bytes }) => count > LANES || bytes !== elementBytes(operation))) return false;
    const addresses = lds.map(({ addresses, count }) => addresses.subarray(0, count));
    const reads = touched !== undefined && operation?.kind === 'load' ? LOGGED_READ : 0;
    return this.registers.tryLog(pc, logKind(plan) | reads, range.first, range.count, addresses);
  }

  /** Puts what is outstanding into the log again, if it can be said there, so that compiled code can wait for it. */
  returnToLog(): void {
    const { registers, waits } = this;
    if (registers.logged > 0) return;
    for (const { pc, plan } of waits.takePlain(LOG_ENTRIES / 2)) {
      const [range = { first: 0, count: 0 }] = plan.effects.defs;
      registers.enter(pc, logKind(plan), range.first, range.count, []);
    }
  }

  /** Outstanding operations that write LDS, when a barrier is passed. */
  writingLds(epoch: number): readonly IssuedOperation[] {
    const { registers, waits } = this;
    if (registers.outstanding[0] === 0 || (!registers.logsLds && !waits.writesLds)) return [];
    return [...this.queue.writingLds(epoch)];
  }

  /** Outstanding loads of LDS. */
  readingLds(): LateRead[] {
    const { registers, waits } = this;
    if (registers.outstanding[0] === 0) return [];
    const { index: wave } = this.wave;
    const isRead = ({ access }: StrictPlan): boolean =>
      access?.kind === 'load' && !access.toLds && (access.space === 'lds' || access.space === 'flat');
    const logged = registers
      .loggedReads((pc) => isRead(this.planAt(pc)))
      .map(({ pc, lds }) => ({ wave, pc, lds: lds === undefined ? undefined : bytesOf(this.planAt(pc), lds) }));
    return [...logged, ...waits.outstandingOf(isRead).map(({ pc, reads }) => ({ wave, pc, lds: reads }))];
  }

  private takeLog(): void {
    const { registers, waits, wave } = this;
    const { epoch, isShared } = this.lds as LdsShadow;
    for (const { pc, isRead, fetch, writtenBack, left, lds } of registers.takeLog()) {
      const plan = this.planAt(pc);
      if (plan.role.kind === undefined) throw new Error(`the instruction at ${pc} is not waited for`);
      const operation = waits.add(plan.role.kind, pc, plan, wave.index, epoch);
      if (plan.role.kind === 'flat') operation.left = left;
      if (fetch !== undefined) operation.onComplete = () => this.arrive(registers.actor, fetch);
      if (writtenBack !== undefined) waits.whenDrained(this.whenWritten(writtenBack));
      if (isRead) operation.reads = bytesOf(plan, lds);
      else if (isShared && lds.length > 0 && plan.operation?.kind !== 'load') operation.lds = bytesOf(plan, lds);
    }
  }

  /** The wavefront of a new workgroup begins. */
  begin(wave: Wave, lds: LdsShadow, group: number, beginning: Beginning): void {
    const { registers } = this;
    const { memory, index, sgprs } = wave;
    const at = this.bytes.byteOffset;
    // As long as their word says that there are some.
    registers.origins.clear();
    this.wave = wave;
    wave.setField(WAVE_SHADOW, at);
    const [vgprs, agprs] = this.used;
    memory.clear(at, VECTOR_BYTES * vgprs);
    memory.clear(at + VECTOR_BYTES * AGPR_BASE, VECTOR_BYTES * agprs);
    this.used = ALL_REGISTERS;
    if (this.startOf === beginning && this.lds === lds) {
      memory.copy(at + SHADOW_SCALARS, at + SHADOW_START, SHADOW_START_BYTES);
    } else {
      memory.clear(at + SHADOW_SCALARS, SHADOW_START_BYTES);
      registers.defineScalars(beginning.scalars);
      registers.identify(beginning, lds.storage.byteOffset, tagsOf(index));
      memory.copy(at + SHADOW_START, at + SHADOW_SCALARS, SHADOW_START_BYTES);
      this.startOf = beginning;
    }
    registers.actor = actorOf(group, index);
    registers.firstEvent = beginning.events[EVENTS_NEXT / 4] as number;
    // The work-item ids, packed into v0.
    registers.define(0, BOTH, sgprs[EXEC] as number, sgprs[EXEC + 1] as number);
    this.waits.clear();
    this.planAt = beginning.planAt;
    this.arrive = beginning.arrive;
    this.lds = lds;
    this.written = beginning.hasDies ? NO_STORES : undefined;
    this.known = NO_STORES;
    this.issuedBefore = NO_STORES;
    this.before = NO_STORES;
    this.complete = NO_STORES;
    this.knownSince = beginning.announces ? [] : undefined;
    this.fresh = undefined;
    if (this.interpreted.length > 0) this.interpreted = [];
    this.interpretedUntil = -1;
  }

  /** What this wavefront knows of stores, its own since the last barrier left out. */
  get stores(): KnownStores {
    this.takeWrittenBack();
    this.takeHeard();
    const { known, written, issuedBefore } = this;
    return { known, written, issuedBefore };
  }

  /** The stores of the workgroup that this wavefront knows to be complete. The same array as long as nothing has changed. */
  completeStores(): CompleteStores {
    this.takeWrittenBack();
    this.takeHeard();
    const { index } = this.wave;
    const { storesComplete } = this.waits;
    if (this.complete[index] !== storesComplete || this.complete === this.known) {
      const complete = this.known.slice();
      complete[index] = storesComplete;
      this.complete = complete;
    }
    return this.complete;
  }

  /** The scalar cache is invalidated. */
  invalidateScalars(): void {
    if (this.registers.logged > 0) this.takeLog();
    this.fresh = this.completeStores();
  }

  /** What this wavefront can hand over to other workgroups. The same object as long as nothing has changed. */
  private handedOver(): HandedOver {
    const complete = this.completeStores();
    const written = this.written ?? complete;
    if (this.handed?.complete !== complete || this.handed.written !== written) this.handed = { complete, written };
    return this.handed;
  }

  /** What this wavefront hands over to other workgroups. The same object as long as nothing has changed. */
  handOver(): HandedOver {
    this.registers.released = this.storesIssued;
    return this.handedOver();
  }

  /**
   * The caches are written back: what the wavefront has stored, and what others had stored before the last barrier, is on its way before
   * this. It is done when what is outstanding now is (LLVM waits no longer).
   */
  writeBack(): void {
    this.queue.whenDrained(this.whenWritten(this.storesIssued));
  }

  /** What is done when a write-back is before which this wavefront had issued so many stores: none of the others' have been learnt of since. */
  private whenWritten(issued: number): () => void {
    this.takeHeard();
    const stores = latest(this.issuedBefore, this.known).slice();
    stores[this.wave.index] = issued;
    return () => {
      this.learn(stores);
      this.learnWritten(stores);
      this.registers.setMustTell();
    };
  }

  /** Learns of what compiled code has written back. */
  private takeWrittenBack(): void {
    const issued = this.registers.takeWrittenBack();
    if (issued !== undefined) this.whenWritten(issued)();
  }

  /** What is written back from here on, or has been, is not what compiled code has noted so far. */
  private settleWriteBacks(): void {
    this.takeWrittenBack();
    if (this.registers.isWritingBack) this.takeLog();
  }

  /** Where this wavefront is with its stores, which it tells others of its workgroup now; undefined where it has told them. */
  takeStanding(): Standing | undefined {
    this.takeWrittenBack();
    if (!this.registers.takeMustTell()) return undefined;
    const { known, written, storesIssued: issued } = this;
    this.registers.released = issued;
    return { issued, complete: this.waits.storesComplete, flights: this.flightsDone, known, written };
  }

  /** The wavefront reads an address of LDS, by which others of the workgroup may have told something. */
  hear(order: LdsOrder, address: number): void {
    // What it has written back so far has nothing to do with that.
    this.settleWriteBacks();
    order.hear(this.wave.index, address);
    if (order.isTold) this.registers.isKnown = false;
  }

  /** Learns what others of the workgroup have told it through LDS. */
  private takeHeard(): void {
    const order = this.lds?.order;
    if (order === undefined) return;
    const heard = order.takeStores(this.wave.index, this.ldsFetches);
    if (heard === undefined) return;
    this.learn(heard.complete);
    this.learnWritten(heard.written);
    const before = latest(this.before, heard.issued);
    if (before !== this.before) this.registers.learn();
    this.before = before;
  }

  /** Atomics of LDS whose values have not come back. */
  private get ldsFetches(): number {
    const { registers, waits } = this;
    if (registers.outstanding[0] === 0) return 0;
    const logged = registers.loggedReads((pc) => isLdsFetch(this.planAt(pc)));
    return logged.length + waits.outstandingOf(isLdsFetch).length;
  }

  /** Whether it knows all that it has heard from others of its workgroup. */
  get hasLearntAll(): boolean {
    return this.lds?.order === undefined || this.ldsFetches === 0;
  }

  /** By wavefront, the stores of the workgroup that come before what this one does, as far as that is known. */
  get issuedFirst(): CompleteStores {
    this.takeHeard();
    return this.before;
  }

  /** `all`: what the wavefront knows of then, if that is at hand. */
  private learn(stores: CompleteStores, all?: CompleteStores): void {
    const known = isLater(stores, this.known) ? (all ?? latest(this.known, stores)) : this.known;
    if (known !== this.known) this.registers.learn();
    this.setKnown(known);
  }

  private setKnown(known: CompleteStores): void {
    const isNews = known !== this.known;
    this.known = known;
    this.complete = known;
    if (isNews) this.noteKnown();
  }

  private noteKnown(): void {
    const { known, storesIssued: stores } = this;
    this.knownSince?.push({ stores, known, counted: this.registers.counted });
  }

  /** The wavefront hands over to all others at a barrier of the grid. */
  releaseAtGridBarrier(pc: number): Released {
    const { registers, storesIssued: issued } = this;
    const { epoch, releases } = registers;
    const isEarly = issued > this.waits.storesComplete;
    const released = { ...this.handOver(), pc, wave: this.wave.index, issued, isEarly, epoch, releases };
    registers.countGridBarrier();
    this.noteKnown();
    return released;
  }

  private learnWritten(stores: CompleteStores): void {
    if (this.written === undefined) return;
    const written = latest(this.written, stores);
    if (written !== this.written) this.registers.learn();
    this.written = written;
  }

  /**
   * The wavefronts of a workgroup have met at a barrier. `inOrder`: the caches of a compute unit keep the order of what its wavefronts
   * store, so that a wait of any of them speaks for all.
   */
  static meet(waves: readonly WaveShadow[], inOrder: boolean): void {
    let hasNews = false;
    let areComplete = true;
    for (let n = 0; n < waves.length; n++) {
      const { registers } = waves[n] as WaveShadow;
      hasNews ||= registers.hasNews;
      areComplete &&= registers.outstanding[2] === registers.outstanding[3];
    }
    if (!hasNews) return;
    for (let n = 0; n < waves.length; n++) (waves[n] as WaveShadow).settleWriteBacks();
    const issued = NO_STORES.slice(0, waves.length);
    for (let n = 0; n < waves.length; n++) issued[n] = (waves[n] as WaveShadow).storesIssued;
    const complete = inOrder || areComplete ? issued : completeOf(waves);
    const agreed = WaveShadow.agreed(waves);
    // Asked once where all know the same, as they do from barrier to barrier.
    if (agreed !== undefined) {
      const known = isLater(complete, agreed) ? complete : agreed;
      for (let n = 0; n < waves.length; n++) (waves[n] as WaveShadow).agree(known, issued);
      return;
    }
    let written = NO_STORES;
    for (const shadow of waves) if (shadow.written !== undefined) written = latest(written, shadow.written);
    for (const shadow of waves) {
      shadow.setIssuedBefore(issued);
      // What all know together is more than what one knows.
      shadow.learn(complete, complete);
      shadow.learnWritten(written);
      shadow.registers.settle();
    }
  }

  /** The stores that all know to be complete, where all know the same ones, and the same ones to be written back. */
  private static agreed(waves: readonly WaveShadow[]): CompleteStores | undefined {
    const { known, written } = waves[0] as WaveShadow;
    for (let n = 1; n < waves.length; n++) {
      const shadow = waves[n] as WaveShadow;
      if (shadow.known !== known || shadow.written !== written) return undefined;
    }
    return known;
  }

  private agree(known: CompleteStores, issued: CompleteStores): void {
    this.setIssuedBefore(issued);
    this.setKnown(known);
    this.registers.settle();
  }

  private setIssuedBefore(issued: CompleteStores): void {
    this.issuedBefore = issued;
    this.registers.isKnown = false;
  }
}

/** The stores that one of the wavefronts of a workgroup knows to be complete. */
function completeOf(waves: readonly WaveShadow[]): CompleteStores {
  const { known: first } = waves[0] as WaveShadow;
  const all = first.slice(0, waves.length);
  for (let n = 0; n < waves.length; n++) {
    const { known, registers } = waves[n] as WaveShadow;
    // Most know the same.
    if (known !== first) for (let i = 0; i < all.length; i++) all[i] = Math.max(all[i] as number, known[i] as number);
    all[n] = Math.max(all[n] as number, registers.outstanding[3] as number);
  }
  return all;
}

/** Whether an instruction is an atomic of LDS that returns values. */
export function isLdsFetch({ operation, access, writes }: StrictPlan): boolean {
  return operation?.kind === 'atomic' && access?.space === 'lds' && writes.length > 0;
}

/** Bytes of an element of an access. */
export function elementBytes(operation: StrictPlan['operation']): number {
  if (operation?.kind === 'atomic') return atomicBytes(operation);
  return operation?.kind === 'store' || operation?.kind === 'load' ? operation.bytes : 0;
}

/** What an operation of the log writes to LDS, or reads there. */
function bytesOf({ operation }: StrictPlan, lds: LoggedOperation['lds']): LdsBytes[] {
  const bytes = elementBytes(operation);
  return lds.map(({ addresses, isRun }) => ({
    addresses,
    count: addresses.length,
    bytes: isRun ? LANES * bytes : bytes,
  }));
}

/** A flat operation that has just been issued. */
export const FLAT_ISSUED = LOGGED_FLAT | ((FLAT_VM | FLAT_LGKM) << FLAT_LEFT_SHIFT);

/** What the log says of an operation that is waited for. */
function logKind(plan: StrictPlan): number {
  const { role, access } = plan;
  if (role.kind === 'scalar') return LOGGED_SCALAR;
  if (role.kind === 'lds') return LOGGED_LDS;
  if (role.kind === 'flat') return FLAT_ISSUED | (isNumberedStore('flat', plan) ? LOGGED_STORE : 0);
  return LOGGED_VM | (isNumberedStore(role.kind, plan) ? LOGGED_STORE : access?.toLds ? LOGGED_FLIGHT : 0);
}
