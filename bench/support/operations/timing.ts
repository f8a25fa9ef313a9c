// Loops of one operation, in one thread of the compiled engine, and their time.
import { performance } from 'node:perf_hooks';
import { createDevice, type Device, type DeviceKernel } from '../../../src/device/index.ts';
import type { TargetName } from '../../../src/isa/types.ts';
import { kernelObject } from '../../../tests/support/kernel-source.ts';
import { OWN, SECOND } from './forms.ts';
import { type Kind, pairOf } from './values.ts';

/** One loop: `line` is repeated for n from 0 to 15, none reading what another one of them writes. */
export interface Row {
  readonly section: string;
  readonly name: string;
  readonly target: TargetName;
  readonly line: (n: number) => string;
  /** What comes before the loop. */
  readonly before?: string | undefined;
  /** The mnemonic by which values are made, and their kind. */
  readonly reads: string;
  readonly kind: Kind;
  /** The offset of each lane's access in the data. */
  readonly offset: (lane: number) => number;
  /** Instructions in a line, and operations of a lane in it. */
  readonly instructions: number;
  readonly operations: number;
}

/** A row of an instruction on gfx942, with ordinary values at one address, where `more` does not say otherwise. */
export function rowOf(section: string, name: string, line: (n: number) => string, more: Partial<Row> = {}): Row {
  return {
    section,
    name,
    target: 'gfx942',
    line,
    reads: name,
    kind: 'ordinary',
    offset: () => 0,
    instructions: 1,
    operations: 1,
    ...more,
  };
}

export const UNROLL = 16;
/** Bytes of the data that accesses reach, and of LDS and scratch. */
export const DATA_BYTES = 32_768;
/** Pairs of registers that are loaded: shared ones, those of each line and more for wide operands. */
const PAIRS = [...Array(6).keys()].map((n) => SECOND + 2 * n).concat([...Array(32).keys()].map((n) => OWN + 2 * n));
const OFFSETS = DATA_BYTES + 512 * PAIRS.length;
const BUFFER_BYTES = OFFSETS + 512;

function kernelOf({ line, before = '', target }: Row): Uint8Array {
  const code = `s_load_dwordx2 s[12:13], s[0:1], 0x0
s_load_dword s8, s[0:1], 0x8
v_lshlrev_b32_e32 v1, 3, v0
s_mov_b32 m0, ${DATA_BYTES}
s_mov_b32 s18, ${DATA_BYTES}
s_mov_b32 s19, 0x27000
s_mov_b32 s20, 0
s_mov_b32 s11, 0x40490fdb
s_mov_b32 s10, 0x12345
s_mov_b64 vcc, 0
s_waitcnt lgkmcnt(0)
s_mov_b64 s[16:17], s[12:13]
s_add_u32 s6, s12, ${DATA_BYTES}
s_addc_u32 s7, s13, 0
${[...PAIRS, 48]
  .map((register) => `global_load_dwordx2 v[${register}:${register + 1}], v1, s[6:7]\nv_add_u32_e32 v1, 512, v1`)
  .join('\n')}
s_waitcnt vmcnt(0)
v_mov_b32_e32 v51, s13
v_add_co_u32_e32 v50, vcc, s12, v48
v_addc_co_u32_e32 v51, vcc, 0, v51, vcc
s_mov_b64 vcc, 0x5555
v_mov_b32_e32 v52, 5
${before}
.Lloop:
${Array.from({ length: UNROLL }, (_, n) => line(n)).join('\n')}
s_sub_u32 s8, s8, 1
s_cmp_lg_u32 s8, 0
s_cbranch_scc1 .Lloop`;
  return kernelObject({
    target,
    code,
    args: [
      [8, 'global_buffer'],
      [4, 'by_value'],
    ],
    descriptor: {
      next_free_vgpr: 256,
      accum_offset: 160,
      next_free_sgpr: 40,
      group_segment_fixed_size: DATA_BYTES,
      private_segment_fixed_size: 512,
    },
    metadata: {
      '.vgpr_count': 256,
      '.agpr_count': 96,
      '.sgpr_count': 40,
      '.group_segment_fixed_size': DATA_BYTES,
      '.private_segment_fixed_size': 512,
    },
  }).bytes;
}

const devices = new Map<TargetName, { device: Device; buffer: ReturnType<Device['alloc']> }>();

async function machineOf(target: TargetName): Promise<{ device: Device; buffer: ReturnType<Device['alloc']> }> {
  let machine = devices.get(target);
  if (machine === undefined) {
    const device = await createDevice('sim', { target });
    machine = { device, buffer: device.alloc(BUFFER_BYTES, 'memory') };
    devices.set(target, machine);
  }
  return machine;
}

/** Ends the devices. */
export function closeDevices(): void {
  for (const { device } of devices.values()) device.close();
  devices.clear();
}

/** A row's kernel on its device. */
export class Loop {
  private readonly row: Row;
  private readonly kernel: DeviceKernel;
  private readonly device: Device;
  private readonly buffer: ReturnType<Device['alloc']>;
  /** The least ns of processor time that one instruction of a wavefront took. */
  least = Infinity;
  /** The same of the last time. */
  last = Infinity;

  private constructor(row: Row, device: Device, buffer: ReturnType<Device['alloc']>) {
    this.row = row;
    this.device = device;
    this.buffer = buffer;
    this.kernel = device.load(kernelOf(row)).kernel('k');
  }

  /** The loop of a row, compiled and run a little. */
  static async of(row: Row): Promise<Loop> {
    const { device, buffer } = await machineOf(row.target);
    const loop = new Loop(row, device, buffer);
    await loop.run(20);
    loop.last = await loop.run(200);
    return loop;
  }

  /** Runs for about so many ms. */
  async time(ms: number): Promise<void> {
    this.last = await this.run(Math.max(20, Math.round((ms * 1e6) / (this.last * UNROLL * this.row.instructions))));
    this.least = Math.min(this.least, this.last);
  }

  private async run(loops: number): Promise<number> {
    const { device, buffer, kernel, row } = this;
    device.write(buffer, this.contents());
    const args = [buffer, new Uint8Array(Uint32Array.of(loops).buffer)];
    const begin = process.cpuUsage();
    const started = performance.now();
    await device.dispatch({ kernel, grid: [1, 1, 1], block: [64, 1, 1], args });
    const { user, system } = process.cpuUsage(begin);
    const ns = (user + system) * 1000 || (performance.now() - started) * 1e6;
    return Math.max(1, ns) / (loops * UNROLL * row.instructions);
  }

  private contents(): Uint8Array {
    const { reads, kind, offset } = this.row;
    const words = new Int32Array(BUFFER_BYTES / 4);
    for (const n of PAIRS.keys()) words.set(pairOf(reads, kind, n), (DATA_BYTES + 512 * n) / 4);
    for (let lane = 0; lane < 64; lane++) words[OFFSETS / 4 + 2 * lane] = offset(lane);
    return new Uint8Array(words.buffer);
  }
}
