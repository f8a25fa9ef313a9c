// What the page does with a source: assemble, load, run, read back. Only the library's browser-safe layers; no page in here.
import { AssemblyError, assembleAndLink, formatDiagnostic } from '../src/asm/index.ts';
import { WavesmithError } from '../src/base/index.ts';
import { readCodeObject } from '../src/codeobject/index.ts';
import { createDevice, getElement, launch, parseDimensions, parseLaunchArgument } from '../src/device/index.ts';
import type { TargetName } from '../src/isa/types.ts';

/** What the user entered. */
export interface RunInput {
  readonly source: string;
  readonly target: TargetName;
  readonly grid: string;
  readonly block: string;
  /** One per line, in the grammar of `wavesmith run --arg`. */
  readonly args: string;
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

async function run({ source, target, grid, block, args }: RunInput): Promise<RunOutput> {
  const bytes = assembleAndLink(source, { target, file: 'kernel.s' });
  const name = readCodeObject(bytes).kernels[0]?.name;
  if (name === undefined) {
    throw new WavesmithError('device/no-such-kernel', 'The source defines no kernel.', {
      hint: 'A kernel needs .amdhsa_kernel and .amdgpu_metadata, as in the example.',
    });
  }
  const device = await createDevice('sim', { target });
  const kernel = device.load(bytes).kernel(name);
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
    maxInstructions: BUDGET,
  });
  const milliseconds = performance.now() - started;
  device.close();
  const explicit = kernel.arguments.filter((a) => !a.valueKind.startsWith('hidden_'));
  return {
    kernel: name,
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

function lines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
