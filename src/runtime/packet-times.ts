// When a packet ran by a device's own clock, and what copies are to that clock.

/** Begin and end of a packet, in ticks of 10 ns. */
export interface PacketTimes {
  readonly start: bigint;
  readonly end: bigint;
}

/** What a copy or fill moves between. */
export type CopyKind = 'host' | 'device' | 'fill';
