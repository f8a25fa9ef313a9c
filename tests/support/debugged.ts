// A dispatch under the debugger, led by a script: what tests and the bench of the debugger share.
import { WavesmithError } from '../../src/base/index.ts';
import { type CodeObject, readCodeObject } from '../../src/codeobject/index.ts';
import type { ArgumentValue, DeviceBuffer, SimDispatchRequest } from '../../src/device/index.ts';
import { type Debugger, DebuggerQuit, type DebugTerminal, TerminalFront } from '../../src/device/sim/debug/index.ts';
import { SimDevice } from '../../src/device/sim/sim-device.ts';
import { RunTools } from '../../src/device/sim/tools/index.ts';
import { compileC, linkWithLld } from './build.ts';
import { kernelObject } from './kernel-source.ts';

/** Four waves in two workgroups: a counted loop, LDS, a barrier, an atomic on a counter of all, a call, a store by each lane. */
const CODE = `
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_mov_b32 s14, s2
  v_lshlrev_b32_e32 v1, 2, v0
  v_mov_b32_e32 v2, 0
  s_mov_b32 s6, ROUNDS
  s_waitcnt lgkmcnt(0)
again:
  v_add_u32_e32 v2, v2, v0
  s_sub_u32 s6, s6, 1
  s_cmp_lg_u32 s6, 0
  s_cbranch_scc1 again
  s_getpc_b64 s[8:9]
  s_add_u32 s8, s8, helper-.
  s_addc_u32 s9, s9, 0
  s_swappc_b64 s[10:11], s[8:9]
back:
  ds_write_b32 v1, v2
  s_waitcnt lgkmcnt(0)
  s_barrier
  v_xor_b32_e32 v3, 4, v1
  ds_read_b32 v3, v3
  v_mov_b32_e32 v4, 1
  v_mov_b32_e32 v5, 0
  s_waitcnt lgkmcnt(0)
  global_atomic_add v6, v5, v4, s[4:5] sc0
  s_waitcnt vmcnt(0)
  v_lshl_or_b32 v1, s14, 9, v1
  v_add_u32_e32 v1, 64, v1
  global_store_dword v1, v3, s[4:5]
  s_endpgm
helper:
  v_add_u32_e32 v2, 7, v2
  s_setpc_b64 s[10:11]`;

export interface DebuggedRun {
  /** Everything that was printed. */
  readonly out: string;
  /** Answers to the commands, without the prompt's line. */
  readonly answers: readonly string[];
  readonly words: Uint32Array;
  readonly instructions: number | undefined;
  /** What ended the dispatch early. */
  readonly error: WavesmithError | undefined;
}

/** A command may be made from the debugger's state. */
export type DebuggedCommands = readonly (string | ((led: Debugger) => string))[];

/** The code of the kernel with so many rounds of its loop. */
export function debuggedCode(rounds: number): string {
  return CODE.replace('ROUNDS', String(rounds));
}

/** Runs the kernel with a debugger that commands lead. */
export async function runDebugged(
  commands: DebuggedCommands,
  options: {
    readonly rounds?: number;
    readonly breakpoints?: readonly string[];
    readonly code?: string;
    readonly preloads?: number;
  } = {},
): Promise<DebuggedRun> {
  const object = kernelObject({
    code: options.code ?? debuggedCode(options.rounds ?? 10),
    descriptor: {
      system_sgpr_workgroup_id_x: 1,
      next_free_sgpr: 32,
      group_segment_fixed_size: 512,
      next_free_vgpr: 8,
      ...(options.preloads === undefined ? {} : { user_sgpr_kernarg_preload_length: options.preloads }),
    },
    metadata: { '.group_segment_fixed_size': 512 },
  });
  return debugObject(object, commands, { ...options, args: (buffer) => [buffer], grid: [2, 1, 1], block: [128, 1, 1] });
}

/** Runs kernel `k` of C or C++ source, compiled for gfx942, with a buffer of 4096 bytes, integers and the bytes of other values as arguments. */
export function debugSource(
  source: string,
  flags: readonly string[],
  breakpoints: readonly string[],
  commands: DebuggedCommands,
  { numbers = [] as readonly number[], bytes = [] as readonly Uint8Array[], waves = 1, groups = 1 } = {},
): Promise<DebuggedRun> {
  const object = readCodeObject(linkWithLld([compileC(source, 'gfx942', ['-g', ...flags])]));
  const args = (buffer: DeviceBuffer): ArgumentValue[] => [buffer, ...numbers, ...bytes];
  return debugObject(object, commands, { breakpoints, args, grid: [groups, 1, 1], block: [64 * waves, 1, 1] });
}

async function debugObject(
  object: CodeObject,
  commands: DebuggedCommands,
  options: {
    readonly breakpoints?: readonly string[];
    readonly args: (buffer: DeviceBuffer) => ArgumentValue[];
    readonly grid: readonly [number, number, number];
    readonly block: readonly [number, number, number];
  },
): Promise<DebuggedRun> {
  const device = new SimDevice('gfx942', {});
  const out: string[] = [];
  const answers: string[] = [];
  const left = [...commands];
  let led: Debugger | undefined;
  let from = 0;
  const terminal: DebugTerminal = {
    ask: async () => {
      answers.push(out.slice(from).join('\n'));
      from = out.length;
      const next = left.shift();
      return typeof next === 'function' ? next(led as Debugger) : next;
    },
    print: (text) => out.push(text),
  };
  const front = new TerminalFront(terminal);
  const buffer = device.alloc(4096, 'data');
  const kernel = device.load(object.bytes).kernel('k');
  const tools = new RunTools(kernel, object, {
    debug: { front, breakpoints: options.breakpoints ?? ['+0'] },
  });
  led = tools.debugger as Debugger;
  front.lead(led);
  const args = options.args(buffer);
  tools.setArguments(args);
  const { grid, block } = options;
  const request: SimDispatchRequest = { kernel, grid, block, args, monitors: tools.monitors };
  let instructions: number | undefined;
  let ended: WavesmithError | undefined;
  try {
    instructions = (await device.dispatch(request)).instructions;
  } catch (error) {
    if (error instanceof WavesmithError) ended = error;
    else if (!(error instanceof DebuggerQuit)) throw error;
  }
  answers.push(out.slice(from).join('\n'));
  const words = new Uint32Array(device.read(buffer).buffer);
  device.close();
  return { out: out.join('\n'), answers, words, instructions, error: ended };
}
