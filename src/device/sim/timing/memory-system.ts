// The memory system behind some compute units of one die: vector and scalar caches, L2 channels, memory-side cache, HBM. Compute units
// that are not simulated take their share of what is common: a channel serves the simulated ones at their part of its rate.
import { Cache } from './cache.ts';
import type { Chip } from './chip.ts';
import type { Fresh } from './neighbours.ts';
import { LINE_UNIT_BITS, SECTORS_OF_DWORD } from './record.ts';
import type { Held } from './residency.ts';
import { Server } from './server.ts';
import type { Translations } from './translations.ts';

/** How much of the chip the simulated compute units stand for, and what is known of the launch's memory. */
export interface MemoryShare {
  /** Simulated compute units. */
  readonly units: number;
  /** Compute units of a die that have work. */
  readonly unitsOfDie: number;
  /** Compute units of the chip that have work. */
  readonly unitsOfChip: number;
  /** Part of a sector's allocation that is in the memory-side cache, 0 to 1. */
  readonly mallHits: (sector: number) => number | undefined;
  /** What earlier launches have left in L2 of a sector's allocation. */
  readonly l2Held: (sector: number) => Held | undefined;
  /** Lines (of L2) that several of the simulated compute units touch. */
  readonly isShared: (line: number) => boolean;
  /** Part of all touched lines that are shared. */
  readonly sharedPart: number;
  /** What workgroups do not share with their neighbours. */
  readonly fresh: Fresh;
  /** Lines (of L2) that workgroups of several dies store into. */
  readonly isForeign: (line: number) => boolean;
  /** Address translations of the die. */
  readonly translations: Translations;
}

/** Cycles of writing that L2 may owe to what is behind it before stores wait. Not measured: the order of a round trip to memory. */
const WRITE_SLACK = 1000;
/** Cycles within which a vector cache asks for both sectors of a line. */
const TOGETHER = 2;

/** Where data came from, for the report. */
export interface Traffic {
  vl1dHits: number;
  vl1dMisses: number;
  l2Hits: number;
  l2Misses: number;
  /** Lines that channels of L2 look up, for two sectors that are asked for together once. */
  l2Lookups: number;
  mallReads: number;
  hbmReads: number;
  writes: number;
  /** Lines that loads look up in the vector cache, and sectors that stores and atomics send through it. */
  vl1dLookups: number;
  /** Lines that loads ask L2 for: sectors of one line that follow each other are one request. */
  vl1dRequests: number;
  /** Sectors that instructions store, atomics on a sector, those of them whose result is asked for. */
  stores: number;
  atomics: number;
  returnedAtomics: number;
  scalarHits: number;
  scalarMisses: number;
}

/** A resource of one compute unit, which serves requests in their order. */
class Port {
  free = 0;
  busy = 0;

  /** When a request that arrives at `time` and takes `cycles` begins. */
  take(time: number, cycles: number): number {
    const start = Math.max(time, this.free);
    this.free = start + cycles;
    this.busy += cycles;
    return start;
  }
}

/** One compute unit's vector cache and its way to L2. */
class VectorCache {
  readonly cache: Cache;
  readonly pipe = new Port();
  readonly fill = new Port();
  /** When each miss register is free again. */
  readonly misses: Float64Array;
  next = 0;

  constructor(chip: Chip) {
    this.cache = new Cache(chip.get('vl1d.bytes') / chip.get('vl1d.line'), chip.get('vl1d.ways'));
    this.misses = new Float64Array(chip.get('vl1d.misses'));
  }
}

export class MemorySystem {
  readonly traffic: Traffic = {
    vl1dHits: 0,
    vl1dMisses: 0,
    l2Hits: 0,
    l2Misses: 0,
    l2Lookups: 0,
    mallReads: 0,
    hbmReads: 0,
    writes: 0,
    vl1dLookups: 0,
    vl1dRequests: 0,
    stores: 0,
    atomics: 0,
    returnedAtomics: 0,
    scalarHits: 0,
    scalarMisses: 0,
  };
  private readonly share: MemoryShare;
  private readonly vector: VectorCache[] = [];
  private readonly scalar: Cache[] = [];
  private readonly l2: Cache;
  private readonly channels: Server[];
  /** The ways to the memory-side cache and back are separate; memory has one bus. */
  private readonly mall = new Server();
  private readonly mallWrites = new Server();
  private readonly hbm = new Server();
  /** The line that L2 was last asked for, and when. */
  private lastRead = -1;
  private lastReadAt = 0;
  private readonly vl1dShift: number;
  private readonly vl1dMask: number;
  private readonly l2Shift: number;
  private readonly l2Mask: number;
  private readonly channelShift: number;
  private readonly c: {
    readonly tag: number;
    readonly dataRate: number;
    readonly vl1dLatency: number;
    readonly fill: number;
    readonly sl1dLatency: number;
    readonly scalarExtra: number;
    readonly l2Latency: number;
    readonly l2Service: number;
    readonly storeAck: number;
    readonly foreignAck: number;
    readonly atomic: number;
    readonly mallLatency: number;
    readonly mallRead: number;
    readonly mallWrite: number;
    readonly hbmLatency: number;
    readonly hbmRead: number;
    readonly hbmWrite: number;
  };

  constructor(chip: Chip, share: MemoryShare) {
    this.share = share;
    for (let n = 0; n < share.units; n++) this.vector.push(new VectorCache(chip));
    const scalarLines = chip.get('sl1d.bytes') / chip.get('sl1d.line');
    for (let n = 0; n < Math.ceil(share.units / 2); n++) this.scalar.push(new Cache(scalarLines, 8));
    // Private lines of the compute units that are not simulated take up their part of the cache; shared ones are the same lines.
    const part = share.sharedPart + (1 - share.sharedPart) * (share.units / share.unitsOfDie);
    const l2Lines = Math.round((chip.get('l2.bytes') / chip.get('l2.line')) * part);
    // MI300A spmv with 16 entries a row finds some of 10 MB in 4 MB of L2, which least-recently-used replacement would not.
    this.l2 = new Cache(Math.max(l2Lines, 64), chip.get('l2.ways'), true);
    this.channels = Array.from({ length: chip.get('l2.channels') }, () => new Server());
    this.vl1dShift = Math.log2(chip.get('vl1d.line')) - LINE_UNIT_BITS;
    this.l2Shift = Math.log2(chip.get('l2.line')) - LINE_UNIT_BITS;
    this.vl1dMask = (1 << this.vl1dShift) - 1;
    this.l2Mask = (1 << this.l2Shift) - 1;
    this.channelShift = Math.log2(chip.get('l2.interleave')) - LINE_UNIT_BITS;
    const sector = 1 << LINE_UNIT_BITS;
    const ofChip = share.units / share.unitsOfChip;
    const perCycle = (gbps: string): number => (chip.get(gbps) * 1000 * ofChip) / chip.get('clockMhz');
    this.c = {
      tag: 1 / chip.get('vl1d.tags'),
      dataRate: 256 / chip.get('vl1d.rate'),
      vl1dLatency: chip.get('vl1d.latency'),
      fill: sector / chip.get('vl1d.fill'),
      sl1dLatency: chip.get('sl1d.latency'),
      scalarExtra: chip.get('sl1d.missExtra'),
      l2Latency: chip.get('l2.latency'),
      l2Service: (chip.get('l2.line') / chip.get('l2.channelRate')) * (share.unitsOfDie / share.units),
      storeAck: chip.get('l2.storeAck'),
      foreignAck: chip.get('l2.foreignAck'),
      atomic: chip.get('l2.atomicInterval'),
      mallLatency: chip.get('mall.latency'),
      mallRead: sector / perCycle('mall.readGbps'),
      mallWrite: sector / perCycle('mall.writeGbps'),
      hbmLatency: chip.get('hbm.latency'),
      hbmRead: sector / perCycle('hbm.readGbps'),
      hbmWrite: sector / perCycle('hbm.writeGbps'),
    };
  }

  /** A vector load; gives when its last data is in registers. */
  load(unit: number, time: number, dwords: number, lines: Int32Array, first: number, count: number): number {
    const v = this.vector[unit] as VectorCache;
    const { c } = this;
    const start = v.pipe.take(time, this.addressing(dwords, count));
    let done = start + c.vl1dLatency;
    let looked = -1;
    let asks = -1;
    for (let n = 0; n < count; n++) {
      const sector = lines[first + n] as number;
      const at = start + n * c.tag;
      const line = sector >>> this.vl1dShift;
      if (line !== looked) this.traffic.vl1dLookups++;
      looked = line;
      const bit = sector & this.vl1dMask;
      let ready: number;
      if (!v.cache.find(line, true)) v.cache.insert(line);
      if (v.cache.has(bit)) {
        this.traffic.vl1dHits++;
        ready = Math.max(at + c.vl1dLatency, v.cache.ready);
      } else {
        if (line !== asks) this.traffic.vl1dRequests++;
        asks = line;
        const slot = v.next;
        v.next = slot + 1 === v.misses.length ? 0 : slot + 1;
        const asked = Math.max(this.translated(unit, sector, at), v.misses[slot] as number);
        ready = this.fillSector(v, sector, asked);
        v.misses[slot] = v.cache.ready;
      }
      if (ready > done) done = ready;
    }
    // The data of a wide load takes more cycles after the first.
    return done + c.dataRate * (dwords - 1);
  }

  /**
   * Cycles in which a vector cache takes in an access of so many sectors: one for each 16 lanes, whose dwords are a sector, and two where
   * these do not begin with a sector.
   */
  private addressing(dwords: number, count: number): number {
    const { c } = this;
    const whole = SECTORS_OF_DWORD * dwords;
    return Math.max(c.dataRate * dwords, c.tag * Math.max(count, count > whole ? 2 * whole : 0));
  }

  /** Fetches a sector of a line of a vector cache; gives when it is there. */
  private fillSector(v: VectorCache, sector: number, asked: number): number {
    const { c } = this;
    this.traffic.vl1dMisses++;
    const ready = this.read(sector, v.fill.take(asked, c.fill), 0, false);
    v.cache.fill(sector & this.vl1dMask, ready);
    return ready;
  }

  /** A vector store; gives when L2 has acknowledged it. */
  store(unit: number, time: number, dwords: number, lines: Int32Array, first: number, count: number): number {
    const v = this.vector[unit] as VectorCache;
    const { c } = this;
    const start = v.pipe.take(time, this.addressing(dwords, count));
    let done = start + c.storeAck;
    this.traffic.vl1dLookups += count;
    this.traffic.stores += count;
    for (let n = 0; n < count; n++) {
      const sector = lines[first + n] as number;
      const asked = v.fill.take(this.translated(unit, sector, start + n * c.tag), c.fill);
      const ack = this.write(sector, asked);
      if (ack > done) done = ack;
    }
    return done;
  }

  /** A vector atomic; gives when it is done, which is when its result is in registers where it `returns` one. */
  atomic(unit: number, time: number, returns: boolean, lines: Int32Array, first: number, count: number): number {
    const v = this.vector[unit] as VectorCache;
    const { c } = this;
    const start = v.pipe.take(time, Math.max(c.dataRate, c.tag * count));
    const { share } = this;
    let done = start + c.l2Latency;
    this.traffic.vl1dLookups += count;
    this.traffic.atomics += count;
    if (returns) this.traffic.returnedAtomics += count;
    for (let n = 0; n < count; n++) {
      const sector = lines[first + n] as number;
      const asked = v.fill.take(this.translated(unit, sector, start + n * c.tag), c.fill);
      // Atomics to a line that all compute units change wait for those of all dies.
      const others = share.isShared(sector >>> this.l2Shift) ? share.unitsOfChip / share.units : 1;
      const ready = this.read(sector, asked, c.atomic * others, false);
      this.l2.change(sector & this.l2Mask);
      if (ready > done) done = ready;
    }
    return done;
  }

  /** A scalar load; gives when its last dword is in a register. */
  scalarLoad(unit: number, time: number, lines: Int32Array, first: number, count: number): number {
    const cache = this.scalar[unit >>> 1] as Cache;
    const { c } = this;
    let done = time + c.sl1dLatency;
    for (let n = 0; n < count; n++) {
      const line = lines[first + n] as number;
      let ready: number;
      if (cache.find(line, true)) {
        this.traffic.scalarHits++;
        ready = Math.max(time + c.sl1dLatency, cache.ready);
      } else {
        this.traffic.scalarMisses++;
        ready = this.read(line, this.share.translations.ofScalar(unit, line, time), 0, true);
        cache.insert(line);
        cache.fill(0, ready);
      }
      if (ready > done) done = ready;
    }
    return done;
  }

  /** Scalar stores are rare; they go to L2. */
  scalarStore(time: number, lines: Int32Array, first: number, count: number): number {
    let done = time;
    for (let n = 0; n < count; n++) done = Math.max(done, this.write(lines[first + n] as number, time));
    return done;
  }

  private translated(unit: number, sector: number, time: number): number {
    return this.share.translations.of(unit, sector, time);
  }

  private channel(sector: number): Server {
    const block = sector >>> this.channelShift;
    const mixed = block ^ (block >>> 4) ^ (block >>> 9) ^ (block >>> 15);
    return this.channels[mixed % this.channels.length] as Server;
  }

  /** Reads a sector through L2, whose channel it takes for `extra` cycles more. The scalar cache is nearer than vector caches. */
  private read(sector: number, time: number, extra: number, isScalar: boolean): number {
    const { c, l2, traffic } = this;
    const closer = isScalar ? c.scalarExtra : 0;
    const hit = c.l2Latency - closer;
    const line = sector >>> this.l2Shift;
    const bit = sector & this.l2Mask;
    // A channel looks up one line at a time: the second sector of a line comes with the first when both are asked for together.
    const isTogether = line === this.lastRead && time - this.lastReadAt < TOGETHER;
    this.lastRead = line;
    this.lastReadAt = time;
    if (!isTogether) traffic.l2Lookups++;
    const start = this.channel(sector).take(time, (isTogether ? 0 : c.l2Service) + extra);
    if (!l2.find(line, true)) l2.insert(line);
    if (l2.has(bit)) {
      traffic.l2Hits++;
      return Math.max(start + hit, l2.ready);
    }
    let ready = start + hit;
    if (this.isHeld(line, sector, isScalar)) traffic.l2Hits++;
    else {
      traffic.l2Misses++;
      ready = this.fetch(line, sector, start) - closer;
    }
    l2.fill(bit, ready);
    return ready;
  }

  private write(sector: number, time: number): number {
    const { c, l2, traffic } = this;
    const line = sector >>> this.l2Shift;
    traffic.l2Lookups++;
    const start = this.channel(sector).take(time, c.l2Service);
    if (!l2.find(line, true)) l2.insert(line);
    let owed = 0;
    if (!l2.change(sector & this.l2Mask)) {
      traffic.writes++;
      owed = this.writeBack(line, sector, start);
    }
    // L2 takes stores in until what it has to write back lags too far behind.
    return Math.max(start + (this.share.isForeign(line) ? c.foreignAck : c.storeAck), owed - WRITE_SLACK);
  }

  /** Whether an earlier launch has left the line in L2. What waves read by scalar loads is the same for all dies. */
  private isHeld(line: number, sector: number, isScalar: boolean): boolean {
    const held = this.share.l2Held(sector);
    if (held === undefined) return false;
    return (Math.imul(line, 0x85ebca6b) >>> 0) / 2 ** 32 < (isScalar ? held.part : held.own);
  }

  /** Whether the memory-side cache has a line: as many lines of its allocation as `mallHits` says, always the same ones. Private memory is. */
  private isInMall(line: number, sector: number): boolean {
    return (Math.imul(line, 0x9e3779b1) >>> 0) / 2 ** 32 < (this.share.mallHits(sector) ?? 1);
  }

  private fetch(line: number, sector: number, time: number): number {
    const { c, share, traffic } = this;
    // One of the die's units fetches a shared line for all: the simulated ones answer for their part of it.
    const part = share.isShared(line) ? share.units / share.unitsOfDie : share.fresh.loads;
    const start = this.mall.take(time, c.mallRead * part);
    if (this.isInMall(line, sector)) {
      traffic.mallReads += part;
      return start + c.mallLatency;
    }
    traffic.hbmReads += part;
    return this.hbm.take(start, c.hbmRead * part) + c.hbmLatency;
  }

  /** A line leaves L2: it is written when it is first changed, because it leaves at the latest when the kernel ends. */
  private writeBack(line: number, sector: number, time: number): number {
    const { c } = this;
    const { stores } = this.share.fresh;
    const start = this.mallWrites.take(time, c.mallWrite * stores);
    return this.isInMall(line, sector) ? start : this.hbm.take(start, c.hbmWrite * stores);
  }

  /** When everything that was written has left the die. */
  get drained(): number {
    return Math.max(this.mallWrites.last, this.hbm.last);
  }

  /** Cycles that memory was busy so far. */
  get hbmCycles(): number {
    return this.hbm.busy;
  }

  /** Cycles that the busier way of the memory-side cache was busy so far. */
  get mallCycles(): number {
    return Math.max(this.mall.busy, this.mallWrites.busy);
  }

  /** Cycles that parts were busy, for the limiter. */
  busy(): { readonly l2: number; readonly mall: number; readonly hbm: number; readonly vl1d: number } {
    return {
      l2: Math.max(...this.channels.map((s) => s.busy)),
      mall: this.mallCycles,
      hbm: this.hbmCycles,
      vl1d: Math.max(...this.vector.map((v) => v.pipe.busy)),
    };
  }
}
