// Checks of one access to LDS: bounds, alignment, bytes that nothing has written or that are still in flight, races of wavefronts.
import { insertWait, waitText } from '../../../../finding/index.ts';
import { neededWait } from '../../../../program/index.ts';
import type { AccessPiece, AccessPlan } from '../../interpreter/access-plan.ts';
import { LANES } from '../../state/wave.ts';
import type { AccessReports, Actor } from '../access-reports.ts';
import { mayTake } from '../attempts.ts';
import { BOTH, HIGH, LOW } from '../plan.ts';
import { polls, pollsForUpdate, precedesLdsAtomic } from '../races/polls.ts';
import { IssuedOperation } from '../registers/waits.ts';
import type { Reporter } from '../reporter.ts';
import type { LdsConflict, PendingWrite } from './lds.ts';
import { POLLED_BY_ATOMICS, POLLED_BY_LOADS, pollsThatExcuse, type Told } from './lds-order.ts';

/** No half of a register. */
export const NEITHER = 0;

export class LdsChecks {
  private readonly reporter: Reporter;
  private readonly reports: AccessReports;
  /** The last lane of an atomic, and what was said of it. */
  private last: { readonly told: Told | undefined; readonly address: number; readonly isOrdered: boolean } = {
    told: undefined,
    address: -1,
    isOrdered: false,
  };
  /** As isPoll has been asked last. */
  private asked = { pc: -1, isPoll: false };

  constructor(reporter: Reporter, reports: AccessReports) {
    this.reporter = reporter;
    this.reports = reports;
  }

  /** The halves of the register that is read whose bytes are not all defined. */
  check(actor: Actor, piece: AccessPiece, lane: number | undefined, address: number, kind: AccessPlan['kind']): number {
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
    if (kind === 'atomic' && address % bytes !== 0) this.reports.misaligned(actor, lane, 'lds', address, bytes);
    if (access.toLds && address % 4 !== 0) this.reports.misaligned(actor, lane, 'lds', address, 4);
    const pending = this.pendingFor(actor, address, bytes);
    if (pending !== undefined) this.pending(actor, lane, address, pending, kind);
    const isOrdered = this.listen(actor, address, bytes, kind) && pending?.isComplete !== false;
    const isPoll = isOrdered && actor.lds.order?.isPolled(address, this.excuses(actor.pc, kind)) === true;
    if (kind === 'load') {
      const conflict = isPoll ? undefined : lds.read(w.index, address, bytes, pc);
      if (conflict !== undefined && !isOrdered) this.race(actor, lane, address, conflict, kind);
      return this.missing(actor, address, bytes);
    }
    const conflict = lds.write(w.index, address, bytes, pc, kind === 'atomic');
    // What a load brings from memory comes long after the reads that were queued before the barrier.
    const isBehind = access.toLds && conflict?.isLate === true;
    if (conflict !== undefined && !isOrdered && !isBehind && !this.isSame(actor, piece, lane, address)) {
      this.race(actor, lane, address, conflict, kind);
    }
    if (kind === 'atomic' && this.missing(actor, address, bytes) !== NEITHER) {
      this.reports.uninitialised(actor, lane, 'lds', address);
    }
    lds.setWritten(address, bytes, true);
    return NEITHER;
  }

  /** What may not have written the bytes yet as the wavefront sees them. Its own loads into LDS come back in order. */
  private pendingFor({ w, lds, state, access }: Actor, address: number, bytes: number): PendingWrite | undefined {
    const operation = lds.pendingFor(w.index, address, bytes);
    if (operation !== undefined) return operation;
    return lds.flightFor(w.index, address, bytes, state.waves, access.toLds);
  }

  private missing({ lds }: Actor, address: number, bytes: number): number {
    const isWhole = (from: number, to: number): boolean => {
      for (let at = from; at < to; at++) if (!lds.isWritten(at)) return false;
      return true;
    };
    if (bytes !== 4) return isWhole(address, address + bytes) ? NEITHER : BOTH;
    return (isWhole(address, address + 2) ? NEITHER : LOW) | (isWhole(address + 2, address + 4) ? NEITHER : HIGH);
  }

  /** Whether what other wavefronts have done to the bytes comes first without a barrier; notes what they have told, and what is told. */
  private listen(
    { w, shadow, lds, told, plan, pc, access }: Actor,
    address: number,
    bytes: number,
    kind: AccessPlan['kind'],
  ): boolean {
    const { order } = lds;
    if (order === undefined) return false;
    if (access.toLds) {
      const isBehind = order.isBehind(w.index, address, bytes, 'store') && lds.areHeardOf(w.index, address, bytes);
      order.note(w.index, address, bytes, 'store', undefined);
      return isBehind;
    }
    // The lanes of an atomic mostly have one address: the next one hears what the last one has told.
    if (kind === 'atomic' && this.last.told === told && this.last.address === address) return this.last.isOrdered;
    const isPoll = this.isPoll(pc);
    const isReturning = kind === 'atomic' && plan.writes.length > 0;
    if (isPoll) order.setPolled(address, this.pollsBy(pc, kind));
    // What an atomic that counts finds tells its wavefront what comes before the next access, not before this one.
    const isCount = isReturning && !isPoll && !mayTake(plan.instruction);
    const isBehind = (): boolean =>
      order.isBehind(w.index, address, bytes, kind) && lds.areHeardOf(w.index, address, bytes);
    const wasBehind = isCount && isBehind();
    if (isPoll || isReturning) shadow.hear(order, address);
    const isFree = order.isPolled(address, this.excuses(pc, kind));
    const isOrdered = isFree || (isCount ? wasBehind : isBehind());
    if (told !== undefined) order.tell(address, told, kind === 'atomic');
    if (kind !== 'load' || !isPoll) order.note(w.index, address, bytes, kind, told);
    if (kind === 'atomic') this.last = { told, address, isOrdered };
    return isOrdered;
  }

  /** How an instruction that polls does so. */
  private pollsBy(pc: number, kind: AccessPlan['kind']): number {
    const { loaded } = this.reporter.dispatch;
    const isForUpdate = kind === 'atomic' || pollsForUpdate(loaded, loaded.region.base + pc);
    return isForUpdate ? POLLED_BY_ATOMICS : POLLED_BY_LOADS;
  }

  /** Which polls of a dword excuse an access of it. A load that no atomic follows is not how an update begins. */
  private excuses(pc: number, kind: AccessPlan['kind']): number {
    const { loaded } = this.reporter.dispatch;
    return pollsThatExcuse(kind === 'load' && !precedesLdsAtomic(loaded, loaded.region.base + pc));
  }

  /** Whether the instruction at a place in the image polls; lanes ask one after the other. */
  private isPoll(pc: number): boolean {
    if (this.asked.pc !== pc) {
      const { loaded } = this.reporter.dispatch;
      this.asked = { pc, isPoll: polls(loaded, loaded.region.base + pc) };
    }
    return this.asked.isPoll;
  }

  private isSame({ w, plan, access }: Actor, piece: AccessPiece, lane: number | undefined, address: number): boolean {
    if (plan.operation?.kind !== 'store' || access.toLds || piece.register < 0 || lane === undefined) return false;
    for (let n = 0; n < piece.bytes; n++) {
      const word = w.vgprs[(piece.register + (n >>> 2)) * LANES + lane] as number;
      const value = piece.half === 'high' ? word >>> 16 : word;
      if (((value >>> (8 * (n & 3))) & 255) !== w.workgroup.lds[address + n]) return false;
    }
    return true;
  }

  /** LDS bytes that an operation without a wait is still to write. */
  private pending(
    actor: Actor,
    lane: number | undefined,
    address: number,
    operation: PendingWrite,
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
      const age = operation instanceof IssuedOperation && isOwn ? shadow.queue.ageOf(operation) : operation.barrierAge;
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

  private race(actor: Actor, lane: number | undefined, address: number, conflict: LdsConflict, kind: string): void {
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
        message: conflict.isLate
          ? `LDS address ${address} is written here, and read by ${who}, which passed the s_barrier between before the read was known to have come back: it may get the new value.`
          : `LDS address ${address} is ${kind === 'load' ? 'read' : 'written'} here and ${conflict.isWrite ? 'written' : 'read'} by ${who} with no barrier between.`,
        advice: conflict.isLate
          ? 'Wait for the read (s_waitcnt lgkmcnt) before the s_barrier that follows it.'
          : 'Put an s_barrier (after the waits for the first access) between the two, or use an atomic.',
      };
    });
  }
}
