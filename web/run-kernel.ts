// What the page does with a source: assemble, load, run, read back. Only the library's browser-safe layers; no page in here.
import { AssemblyError, assembleAndLink, formatDiagnostic } from '../src/asm/index.ts';
import { WavesmithError } from '../src/base/index.ts';
import { readCodeObject } from '../src/codeobject/index.ts';
import { createDevice, getElement, launch, parseDimensions, parseLaunchArgument } from '../src/device/index.ts';
import type { Monitor } from '../src/device/sim/dispatch/monitor.ts';
import { readRegisters, valueText } from '../src/device/sim/tools/registers.ts';
import type { TargetName } from '../src/isa/types.ts';

/** What the user entered. */
export interface RunInput {
  readonly source: string;
  readonly target: TargetName;
  readonly grid: string;
  readonly block: string;
  /** One per line, in the grammar of `wavesmith run --arg`. */
  readonly args: string;
  /** Also give the registers that the first wavefront ends with; the kernel is then interpreted, which is slower. */
  readonly registers: boolean;
}

/** A buffer after the run. */
export interface BufferOutput {
  readonly argument: number;
  readonly name: string;
  readonly type: string;
  readonly shape: readonly number[];
  readonly changed: number;
  /** The first elements as text. */
  readonly first: readonly string[];
}

export interface RunOutput {
  readonly kernel: string;
  readonly instructions: number;
  readonly wavefronts: number;
  readonly milliseconds: number;
  readonly buffers: readonly BufferOutput[];
  /** One text a register, of workgroup 0, wave 0 when it ended; empty when not asked for. */
  readonly registers: readonly string[];
}

/** One problem; lines count from 1 and are lines of the source. */
export interface RunProblem {
  readonly code: string;
  readonly message: string;
  readonly line?: number | undefined;
  readonly hint?: string | undefined;
}

export type RunAnswer =
  | { readonly ok: true; readonly output: RunOutput }
  | { readonly ok: false; readonly problems: readonly RunProblem[] };

/** A page must stay responsive: what loops forever ends after this many instructions. */
const BUDGET = 50_000_000;
const SHOWN = 64;

/** Assembles and runs the first kernel of a source. Every failure is in the answer. */
export async function runKernel(input: RunInput): Promise<RunAnswer> {
  try {
    return { ok: true, output: await run(input) };
  } catch (error) {
    if (error instanceof AssemblyError) {
      const problems = error.diagnostics.map((d) => ({
        code: `asm/${d.severity}`,
        message: formatDiagnostic(d).trimEnd(),
        line: d.line,
      }));
      return { ok: false, problems };
    }
    if (!(error instanceof WavesmithError)) throw error;
    return {
      ok: false,
      problems: [{ code: error.code, message: error.message, line: error.position.line, hint: error.hint }],
    };
  }
}

async function run(input: RunInput): Promise<RunOutput> {
  const { source, target, grid, block, args } = input;
  const bytes = assembleAndLink(source, { target, file: 'kernel.s' });
  const first = readCodeObject(bytes).kernels[0];
  if (first === undefined) {
    throw new WavesmithError('device/no-such-kernel', 'The source defines no kernel.', {
      hint: 'A kernel needs .amdhsa_kernel and .amdgpu_metadata, as in the example.',
    });
  }
  const device = await createDevice('sim', { target });
  const kernel = device.load(bytes).kernel(first.name);
  const registers: string[] = [];
  const { sgprCount = 0, vgprCount = 0 } = first.metadata ?? {};
  const started = performance.now();
  const { dispatch, buffers } = await launch({
    device,
    kernel,
    grid: parseDimensions(grid, 'grid'),
    block: parseDimensions(block, 'block'),
    args: lines(args).map(parseLaunchArgument),
    readFile: (path) => {
      throw new WavesmithError('io/read', `A page cannot read '${path}'.`, {
        hint: 'Use zeros, iota, random:N or a number.',
      });
    },
    fields: {
      maxInstructions: BUDGET,
      monitors: input.registers ? [finalRegisters(sgprCount, vgprCount, registers)] : [],
    },
  });
  const milliseconds = performance.now() - started;
  device.close();
  const explicit = kernel.arguments.filter((a) => !a.valueKind.startsWith('hidden_'));
  return {
    kernel: kernel.name,
    registers,
    instructions: dispatch.instructions,
    wavefronts: dispatch.wavefronts,
    milliseconds,
    buffers: buffers.map(({ argument, array, changed }) => {
      const count = Math.min(
        SHOWN,
        array.shape.reduce((a, b) => a * b, 1),
      );
      const view = new DataView(array.bytes.buffer, array.bytes.byteOffset, array.bytes.byteLength);
      return {
        argument,
        name: explicit[argument]?.name ?? `argument ${argument}`,
        type: array.type,
        shape: array.shape,
        changed,
        first: Array.from({ length: count }, (_, n) => String(getElement(view, array.type, n))),
      };
    }),
  };
}

/** Keeps the registers of the first wave when it ends: the masks, then as many of each file as the kernel says it uses. */
function finalRegisters(scalars: number, vectors: number, out: string[]): Monitor {
  return {
    endWave(w) {
      if (w.index !== 0 || w.workgroup.id.some((n) => n !== 0)) return;
      const names = ['vcc', 'exec', 'scc', 'm0'];
      if (scalars > 0) names.push(`s0-${Math.min(scalars, 102) - 1}`);
      if (vectors > 0) names.push(`v0-${Math.min(vectors, 256) - 1}`);
      out.push(...names.flatMap((name) => readRegisters(w, name, 'few')).map(valueText));
    },
  };
}

function lines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
