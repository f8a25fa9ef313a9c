// Test helper: runs a small kernel, given as assembly, in strict mode. both-engines.ts runs it on both engines.
import { createDevice, type Dim3, type RunFinding, type StrictOptions } from '../../src/device/index.ts';
import type { TargetName } from '../../src/isa/types.ts';
import { type KernelSource, kernelObject } from './kernel-source.ts';

export interface StrictRun extends KernelSource {
  readonly grid?: Dim3;
  readonly block?: Dim3;
  readonly lds?: number;
  readonly strict?: StrictOptions;
  readonly maxInstructions?: number;
  readonly engine?: 'compiled' | 'interpreter';
  /** Bytes of the buffer that is the first argument; the first `written` of them are written before the run. */
  readonly bufferBytes?: number;
  readonly written?: number;
  /** The buffer holds zeros instead of 0, 1, 2, …. */
  readonly isZeroed?: boolean;
  /** What is written instead of these, each from an offset on. */
  readonly input?: readonly (readonly [from: number, bytes: Uint8Array])[];
  /** Bytes that are allocated in front of the buffer. */
  readonly bytesBefore?: number;
  /** Frees the buffer before the run. */
  readonly isFreed?: boolean;
  /** The grid of another run of the same code before this one. */
  readonly gridBefore?: Dim3;
  /** What gets the buffer's address instead of `PROLOGUE`. */
  readonly prologue?: string;
  /** Runs without strict mode. */
  readonly isPlain?: boolean;
}

/** What a run has found, and the bytes of its buffer behind it. */
export interface EngineRun {
  readonly findings: readonly RunFinding[];
  readonly bytes: Uint8Array;
}

/** Loads the buffer's address into s[4:5] and four times the work-item id into v1. */
export const PROLOGUE = `s_load_dwordx2 s[4:5], s[0:1], 0x0
v_lshlrev_b32_e32 v1, 2, v0
s_waitcnt lgkmcnt(0)`;

/** The number of the wavefront in its workgroup in s9, that of the lane in v3, and that of the work-item in v0 and v6. */
export const WAVE_AND_LANE = `v_and_b32_e32 v0, 0x3ff, v0
v_lshrrev_b32_e32 v4, 6, v0
s_nop 1
v_readfirstlane_b32 s9, v4
v_and_b32_e32 v3, 63, v0
v_mov_b32_e32 v6, v0`;

/** The findings of a run. The kernel has one argument, the address of a buffer; s[0:1] is the kernarg segment, s2 the workgroup. */
export function strictFindings(code: string, options: StrictRun = {}): Promise<readonly RunFinding[]> {
  return run(code, options, (findings) => findings);
}

/** The same with the bytes of the buffer. */
export function engineRun(code: string, options: StrictRun = {}): Promise<EngineRun> {
  return run(code, options, (findings, read) => ({ findings, bytes: read() }));
}

/** `then` gets the findings of a run, and what reads the buffer. */
async function run<T>(
  code: string,
  options: StrictRun,
  then: (findings: readonly RunFinding[], read: () => Uint8Array) => T,
): Promise<T> {
  const { target = 'gfx942', bufferBytes = 1024, written = bufferBytes, prologue = PROLOGUE } = options;
  const numbers = (): Uint8Array =>
    Uint8Array.from({ length: written }, (_, i) => (options.isZeroed === true ? 0 : i & 127));
  const { input = [[0, numbers()] as const] } = options;
  const object = kernelObject({
    ...options,
    target,
    code: `${prologue}\n${code}`,
    descriptor: {
      next_free_vgpr: 40,
      accum_offset: 32,
      next_free_sgpr: 32,
      system_sgpr_workgroup_id_x: 1,
      ...options.descriptor,
    },
  });
  const device = await createDevice('sim', { target: target as TargetName });
  try {
    for (let left = options.bytesBefore ?? 0; left > 0; left -= 2 ** 30)
      device.alloc(Math.min(left, 2 ** 30), 'before');
    const buffer = device.alloc(bufferBytes, 'x');
    for (const [from, bytes] of input) device.write(buffer, bytes, from);
    if (options.isFreed === true) device.free(buffer);
    const kernel = device.load(object.bytes).kernel('k');
    const dispatch = (grid: Dim3) =>
      device.dispatch({
        kernel,
        grid,
        block: options.block ?? [64, 1, 1],
        args: [buffer],
        dynamicLds: options.lds,
        maxInstructions: options.maxInstructions,
        engine: options.engine,
        ...(options.isPlain === true ? {} : { strict: options.strict ?? {} }),
      });
    if (options.gridBefore !== undefined) await dispatch(options.gridBefore);
    const { findings = [] } = await dispatch(options.grid ?? [1, 1, 1]);
    return then(findings, () => device.read(buffer));
  } finally {
    device.close();
  }
}

/** `code registers fix-wait` of each finding, to compare with. */
export function shortFindings(findings: readonly RunFinding[]): string[] {
  return findings.map((d) => {
    const wait = /s_waitcnt ((?:(?:vm|lgkm|exp)cnt\(\d+\) ?)+)/.exec(d.fix ?? '')?.[1]?.trim();
    return [d.rule, d.registers.join(','), wait].filter(Boolean).join(' ');
  });
}
