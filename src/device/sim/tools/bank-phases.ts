// The model of LDS bank conflicts as WebAssembly: what lds-banks.ts counts of one access, for addresses within 64 KiB. Accesses whose
// addresses are multiples of their size conflict as units of that size among fewer, wider banks; others dword by dword.
import { LANES } from '../state/layout.ts';
import type { WasmFunction, WasmModule } from '../wasm/emit.ts';
import { BANKS, type BankAccess } from './lds-banks.ts';

/** Bytes of LDS whose dwords have a stamp. */
const REACH = 65536;
/** Offsets in the memory that the model works in: number of the last phase, lanes or dwords by bank, stamp of each dword. */
const NOW = 0;
const ASKED = 32;
const STAMPS = 64;

/** Bytes of the memory that the model works in; zeroed at first, then left alone. */
export const PHASE_MEMORY = STAMPS + REACH;

/** Lanes that one vector holds. */
const QUAD = 4;

/** The lanes of a phase as bits, and the first of each four that follow each other. */
interface Phase {
  readonly mask: bigint;
  readonly quads: readonly number[];
}

function phaseOf(lanes: readonly number[]): Phase {
  const quads = lanes.filter((_, n) => n % QUAD === 0);
  if (lanes.some((lane, n) => lane !== (quads[Math.floor(n / QUAD)] as number) + (n % QUAD))) {
    throw new Error('a phase is not made of lanes in fours');
  }
  return { mask: lanes.reduce((bits, lane) => bits | (1n << BigInt(lane)), 0n), quads };
}

/** Accesses of the same shape differ in register and offset only. */
export const shapeOf = ({ bytes, atomic, phases }: BankAccess): string =>
  `${bytes}${atomic ? ' atomic' : ''} ${(phases[0] as readonly number[]).join()}`;

/**
 * The function (place of lane 0 of the address register, EXEC, offset of the access) → i64: the phases with an active lane, and from
 * bit 32 on the cycles beyond one a phase; -1 when an active lane's address is none that the function counts.
 */
export function phasesFunction(module: WasmModule, access: BankAccess, memory: number): WasmFunction {
  const dwords = access.bytes === 1 ? undefined : unitsFunction(module, access, memory, false);
  return unitsFunction(module, access, memory, true, dwords);
}

/** Counts units of the access's size, or dwords; what the former cannot count, `otherwise` does. */
function unitsFunction(
  module: WasmModule,
  access: BankAccess,
  memory: number,
  areAligned: boolean,
  otherwise?: WasmFunction,
): WasmFunction {
  const name = `count.phases ${shapeOf(access)}${areAligned ? '' : ' by dwords'}`;
  return module.helper(name, ['i32', 'i64', 'i32'], ['i64'], (fn) => {
    const [addresses, exec, offset] = [0, 1, 2] as const;
    const { bytes } = access;
    const lanes = new LaneCode(fn, access, memory, areAligned ? Math.max(2, Math.log2(bytes)) : 2);
    const { all, now } = lanes;
    const at = fn.local('i32');
    const end = fn.local('i32');
    const bits = fn.local('i64');
    const sum = fn.local('i64');

    /** Every active lane of `bits`. */
    const lanesOf = ({ mask, quads }: Phase): void => {
      if (areAligned) {
        fn.get(bits).i64(mask).op('i64.eq').if();
        // Lanes that all follow each other go by in a loop.
        const [first, second] = [quads[0] as number, quads[1] as number];
        if (quads.every((quad, n) => quad === first + QUAD * n)) {
          fn.get(addresses)
            .i32(4 * first)
            .op('i32.add')
            .tee(at);
          fn.i32(4 * QUAD * quads.length)
            .op('i32.add')
            .set(end);
          fn.loop();
          lanes.units(at, 0, offset);
          lanes.units(at, 4 * QUAD, offset);
          fn.get(at)
            .i32(8 * QUAD)
            .op('i32.add')
            .tee(at)
            .get(end)
            .op('i32.ne')
            .brIf(0)
            .end();
        } else {
          for (const quad of [first, second]) lanes.units(addresses, 4 * quad, offset);
        }
        fn.else();
      }
      fn.loop();
      fn.get(bits).op('i64.ctz').op('i32.wrap_i64').i32(2).op('i32.shl').get(addresses).op('i32.add');
      fn.memory('i32.load').get(offset).op('i32.add');
      if (areAligned) lanes.unit();
      else lanes.dwords();
      fn.get(bits).get(bits).i64(1n).op('i64.sub').op('i64.and').tee(bits).i64(0n).op('i64.ne').brIf(0).end();
      if (areAligned) fn.end();
    };

    lanes.begin();
    fn.i64(0n).set(sum);
    for (const phase of access.phases.map(phaseOf)) {
      fn.get(exec).i64(phase.mask).op('i64.and').tee(bits).i64(0n).op('i64.ne').if();
      lanes.beginPhase();
      lanesOf(phase);
      lanes.pushMost().i32(1).op('i32.sub').op('i64.extend_i32_u').i64(32n).op('i64.shl');
      fn.i64(1n).op('i64.add').get(sum).op('i64.add').set(sum);
      fn.end();
    }
    fn.i32(0)
      .get(now)
      .memory('i32.store', memory + NOW);
    lanes.end();
    if (otherwise !== undefined) {
      fn.get(all)
        .i32(bytes - 1)
        .op('i32.and')
        .if();
      fn.get(addresses).get(exec).get(offset).call(otherwise).return().end();
    }
    fn.i64(-1n).get(sum);
    fn.get(all).i32(-REACH).op('i32.and').select();
  });
}

/** Code that counts lanes' accesses in the present phase. */
class LaneCode {
  /** Locals (i32): all addresses or'ed, number of the phase. */
  readonly all: number;
  readonly now: number;
  private readonly fn: WasmFunction;
  private readonly access: BankAccess;
  private readonly memory: number;
  private readonly shift: number;
  private readonly banks: number;
  private readonly address: number;
  private readonly last: number;
  private readonly bank: number;
  private readonly stamp: number;
  /** Of four lanes: addresses, those of all fours or'ed, banks, places of stamps. */
  private readonly four: number;
  private readonly allFours: number;
  private readonly fourBanks: number;
  private readonly fourStamps: number;

  /** Units are of 2^`shift` bytes. */
  constructor(fn: WasmFunction, access: BankAccess, memory: number, shift: number) {
    this.fn = fn;
    this.access = access;
    this.memory = memory;
    this.shift = shift;
    this.banks = BANKS >> (shift - 2);
    [this.all, this.now, this.address] = [fn.local('i32'), fn.local('i32'), fn.local('i32')];
    [this.last, this.bank, this.stamp] = [fn.local('i32'), fn.local('i32'), fn.local('i32')];
    [this.four, this.allFours] = [fn.local('v128'), fn.local('v128')];
    [this.fourBanks, this.fourStamps] = [fn.local('v128'), fn.local('v128')];
  }

  /** Before the numbers of phases begin again, no stamp may be left. */
  begin(): void {
    const { fn, memory, now } = this;
    fn.i32(0)
      .memory('i32.load', memory + NOW)
      .tee(now)
      .i32(0)
      .op('i32.lt_s')
      .if();
    fn.i32(memory + STAMPS)
      .i32(0)
      .i32(REACH)
      .memoryFill();
    fn.i32(0).set(now).end();
    fn.i32(0).set(this.all);
    fn.v128(0, 0, 0, 0).set(this.allFours);
  }

  /** `all` has the addresses of the lanes in fours, too. */
  end(): void {
    const { fn, all, allFours } = this;
    fn.get(all);
    for (let lane = 0; lane < QUAD; lane++) fn.get(allFours).lane('i32x4.extract_lane', lane).op('i32.or');
    fn.set(all);
  }

  beginPhase(): void {
    const { fn, memory, banks, now } = this;
    for (let n = 0; n < banks; n += 16) {
      fn.i32(0)
        .v128(0, 0, 0, 0)
        .memory('v128.store', memory + ASKED + n);
    }
    fn.get(now).i32(1).op('i32.add').set(now);
  }

  /** Leaves what the busiest bank serves in the phase. */
  pushMost(): WasmFunction {
    const { fn, memory, banks, four } = this;
    fn.i32(0).memory('v128.load', memory + ASKED);
    if (banks > 16) {
      fn.i32(0)
        .memory('v128.load', memory + ASKED + 16)
        .op('i8x16.max_u');
    }
    fn.set(four);
    for (const distance of [8, 4, 2, 1]) {
      fn.get(four).get(four).get(four);
      fn.shuffle(Array.from({ length: 16 }, (_, n) => (n + distance) % 16));
      fn.op('i8x16.max_u').set(four);
    }
    return fn.get(four).lane('i8x16.extract_lane_u', 0);
  }

  /** Counts four lanes whose accesses are one unit each, with the addresses at `displacement` from `at`, and `offset` more. */
  units(at: number, displacement: number, offset: number): void {
    const { fn, shift, banks, four, allFours, fourBanks, fourStamps, bank, stamp } = this;
    const splat = (word: number): WasmFunction => fn.v128(word, word, word, word);
    fn.get(at).memory('v128.load', displacement).get(offset).op('i32x4.splat').op('i32x4.add').tee(four);
    fn.get(allFours).op('v128.or').set(allFours);
    fn.get(four).i32(shift).op('i32x4.shr_u');
    splat(banks - 1)
      .op('v128.and')
      .set(fourBanks);
    fn.get(four);
    if (shift > 2) fn.i32(shift - 2).op('i32x4.shr_u');
    splat((REACH >> (shift - 2)) - 4)
      .op('v128.and')
      .set(fourStamps);
    for (let lane = 0; lane < QUAD; lane++) {
      fn.get(fourBanks).lane('i32x4.extract_lane', lane).set(bank);
      if (!this.access.atomic) fn.get(fourStamps).lane('i32x4.extract_lane', lane).set(stamp);
      this.serve();
    }
  }

  /** Pops an address whose access is one unit. */
  unit(): void {
    const { fn, all, address } = this;
    fn.tee(address).get(all).op('i32.or').set(all);
    this.ask();
  }

  /** Pops an address and counts each dword of the access. */
  dwords(): void {
    const { fn, all, address, last } = this;
    fn.tee(address).i32(-4).op('i32.and');
    fn.get(address)
      .i32(this.access.bytes - 1)
      .op('i32.add')
      .i32(-4)
      .op('i32.and')
      .tee(last)
      .get(all)
      .op('i32.or')
      .get(address)
      .op('i32.or')
      .set(all);
    fn.set(address);
    fn.loop();
    this.ask();
    fn.get(address).get(last).op('i32.lt_u').if();
    fn.get(address).i32(4).op('i32.add').set(address).br(1).end().end();
  }

  /** Counts the unit of the address in its bank. */
  private ask(): void {
    const { fn, shift, banks, address, bank, stamp } = this;
    fn.get(address)
      .i32(shift)
      .op('i32.shr_u')
      .i32(banks - 1)
      .op('i32.and')
      .set(bank);
    if (!this.access.atomic) {
      fn.get(address);
      if (shift > 2) fn.i32(shift - 2).op('i32.shr_u');
      fn.i32((REACH >> (shift - 2)) - 4)
        .op('i32.and')
        .set(stamp);
    }
    this.serve();
  }

  /** `bank` serves the unit of `stamp`, once in a phase where it is no atomic. */
  private serve(): void {
    const { fn, memory, bank, now, stamp } = this;
    fn.get(bank)
      .get(bank)
      .memory('i32.load8_u', memory + ASKED);
    if (this.access.atomic) fn.i32(1);
    else {
      fn.get(stamp)
        .memory('i32.load', memory + STAMPS)
        .get(now)
        .op('i32.ne');
      fn.get(stamp)
        .get(now)
        .memory('i32.store', memory + STAMPS);
    }
    fn.op('i32.add').memory('i32.store8', memory + ASKED);
  }
}

if (LANES !== 64) throw new Error('EXEC is not 64 bits');
