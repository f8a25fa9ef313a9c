// The order in which a program's HIP library sent packets to its streams (native/hip/stream.cc). Each queue is drained for itself, as soon as the
// device process sees its packets; under a modelled clock the packet that was sent first goes first, so that what events show does
// not depend on when that was.

/** Where a packet has its ordinal, and what is above its 48 bits: other programs leave the word empty, or write what they like. */
export const ORDINAL = 48;
const TAG = 0x5753n;

/** A packet's number in the order of sending, from the word at ORDINAL; undefined in packets that no HIP library of ours has sent. */
export const ordinalOf = (word: bigint): bigint | undefined =>
  word >> 48n === TAG ? word & 0xffff_ffff_ffffn : undefined;

/** A queue as the order sees it. */
export interface OrderedQueue {
  /** The ordinal of the packet that runs or is to run next; undefined where there is none. */
  readonly head: bigint | undefined;
  /** Its packet waits for what the host or packets sent later do: others go first. */
  readonly isHeldUp: boolean;
  /** Runs the packet if nobody has said that there is one. */
  doorbell(): void;
}

/** The queues of one program. */
export class SubmitOrder {
  private readonly queues = new Set<OrderedQueue>();

  add(queue: OrderedQueue): void {
    this.queues.add(queue);
  }
  remove(queue: OrderedQueue): void {
    this.queues.delete(queue);
  }

  /** Whether nothing that was sent before the packet of a queue is still to run. */
  isTurn(queue: OrderedQueue): boolean {
    const { head } = queue;
    if (head === undefined) return true;
    let isTurn = true;
    for (const other of this.queues) {
      if (other === queue || other.isHeldUp) continue;
      const { head: before } = other;
      if (before === undefined || before > head) continue;
      other.doorbell();
      isTurn = false;
    }
    return isTurn;
  }
}
