// The tools: what each takes, and the command line that it is. Paths are made absolute, so none can be taken for a flag.
import * as z from 'zod';
import { WavesmithError } from '../../base/index.ts';
import { parseLaunchArgument } from '../../device/index.ts';

/** Files of a call. */
export interface ToolFiles {
  /** A file or folder that is there, below the root. */
  existing(path: string): string;
  /** A place to write to, below the root. */
  output(path: string): string;
  /** A file that lives as long as the call. */
  text(name: string, content: string): string;
  /** A folder that lives as long as the call. */
  folder(): string;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: z.ZodObject;
  /** Whether it can write files of the user. */
  readonly isWriting: boolean;
  /** The command line; `input` has passed the schema. */
  argv(input: unknown, files: ToolFiles): string[];
  /** What is told of the command's output; all of it by default. */
  present?(stdout: string, status: number | null): string;
}

/** Keeps the types of a schema for the function that reads it. */
function tool<S extends z.ZodObject>(
  one: Omit<Tool, 'inputSchema' | 'argv' | 'isWriting'> & {
    readonly inputSchema: S;
    readonly isWriting?: boolean;
    argv(input: z.infer<S>, files: ToolFiles): string[];
  },
): Tool {
  return { isWriting: false, ...one, argv: (input, files) => one.argv(input as z.infer<S>, files) };
}

const file = z.string().min(1).describe('path, relative to the server’s folder');
const kernel = z.string().min(1).optional().describe('name of a kernel; needed when the file has several');
const offset = z.number().int().min(0).optional().describe('where to go on in a long answer, in characters');
const chip = z
  .string()
  .min(1)
  .optional()
  .describe('the chip to model: mi210, mi250x, mi300a, mi300x, mi325x, mi350x, mi355x');
const dimensions = z.string().regex(/^\d+(,\d+){0,2}$/);

const flag = (name: string, value: string | number | undefined): string[] =>
  value === undefined ? [] : [`--${name}=${value}`];

const launch = {
  file: file.describe('a capture (.wscap), or a code object with kernel, grid, block and args'),
  kernel,
  grid: dimensions.optional().describe('workgroups: x,y,z; not of a capture'),
  block: dimensions.optional().describe('work-items of a workgroup: x,y,z; not of a capture'),
  args: z
    .array(z.string())
    .optional()
    .describe('arguments in order: f32[1000]=random:1, i32[64]=iota, f32[1000]=zeros, i32=1000; not of a capture'),
  offset,
};

function launchFlags(
  { file, kernel, grid, block, args = [] }: z.infer<z.ZodObject<typeof launch>>,
  files: ToolFiles,
): string[] {
  for (const arg of args) {
    const parsed = parseLaunchArgument(arg);
    if (parsed.kind === 'file') files.existing(parsed.path);
  }
  return [
    files.existing(file),
    ...flag('kernel', kernel),
    ...flag('grid', grid),
    ...flag('block', block),
    ...args.map((arg) => `--arg=${arg}`),
  ];
}

export const TOOLS: readonly Tool[] = [
  tool({
    name: 'disasm',
    title: 'Disassemble',
    description:
      'The text of a code object, capture or binary with GPU code. It assembles to the same bytes. With listing: one line per instruction with address and encoding.',
    inputSchema: z.object({ file, kernel, listing: z.boolean().optional(), offset }),
    argv: ({ file, kernel, listing }, files) => [
      'disasm',
      files.existing(file),
      ...flag('kernel', kernel),
      ...(listing === true ? ['--listing'] : []),
    ],
  }),
  tool({
    name: 'asm',
    title: 'Assemble',
    description: 'Assembles text of AMD GPU machine code, in the form that disasm gives, to a code object.',
    inputSchema: z.object({
      text: z.string().min(1).describe('the whole assembly text'),
      output: file.describe('where the code object goes'),
    }),
    isWriting: true,
    argv: ({ text, output }, files) => ['asm', files.text('source.s', text), `--output=${files.output(output)}`],
    present: () => 'Assembled.',
  }),
  tool({
    name: 'check',
    title: 'Check',
    description:
      'What is wrong with a kernel before it runs: waits, hazards, resources, ABI. With against: also what an edit of that file breaks.',
    inputSchema: z.object({
      file,
      against: file.optional().describe('the baseline'),
      notes: z.boolean().optional().describe('also what could be better: waits that are too strong, dead code'),
      offset,
    }),
    argv: ({ file, against, notes }, files) => [
      'check',
      files.existing(file),
      ...(against === undefined ? [] : [`--against=${files.existing(against)}`]),
      ...(notes === true ? ['--notes'] : []),
      '--no-config',
      '--all',
      '--json',
    ],
  }),
  tool({
    name: 'prove',
    title: 'Prove',
    description:
      'Whether an edited kernel is the same function as its baseline, for all inputs: proved, different with inputs that show it, or not proved with the place where the comparison stopped.',
    inputSchema: z.object({ baseline: file, edited: file, kernel, offset }),
    argv: ({ baseline, edited, kernel }, files) => [
      'prove',
      files.existing(baseline),
      files.existing(edited),
      ...flag('kernel', kernel),
      '--json',
    ],
  }),
  tool({
    name: 'run',
    title: 'Run',
    description:
      'Runs one kernel, or a captured dispatch, on the virtual GPU. With strict: races, bounds, waits and uninitialised reads are findings.',
    inputSchema: z.object({ ...launch, strict: z.boolean().optional() }),
    argv: (input, files) => [
      'run',
      ...launchFlags(input, files),
      ...(input.strict === true ? ['--check'] : []),
      '--json',
    ],
  }),
  tool({
    name: 'time',
    title: 'Time',
    description:
      'The modelled time of a kernel or captured dispatch on a chip: what limits it, and for each instruction how long waves stand there and why.',
    inputSchema: z.object({ ...launch, chip }),
    argv: (input, files) => ['run', ...launchFlags(input, files), '--timing-listing', ...flag('chip', input.chip)],
  }),
  tool({
    name: 'profile',
    title: 'Profile',
    description: 'Everything that a captured dispatch does: roofline, counters, bottlenecks, as JSON.',
    inputSchema: z.object({ file: file.describe('a capture (.wscap)'), offset }),
    argv: ({ file }, files) => ['profile', files.existing(file), `--out=${files.folder()}`, '--json'],
  }),
  tool({
    name: 'evaluate',
    title: 'Evaluate a candidate',
    description:
      'The verdict: whether a candidate is right on everything that can be tried or proved, and faster. The answer ends with ACCEPTED, REJECTED at a rung, or CORRECT, NOT FASTER. Nothing else is a win.',
    inputSchema: z.object({
      baseline: file.describe('a capture (.wscap), or the hijack folder of one'),
      candidate: file
        .optional()
        .describe('code object, assembler text (.s), or a unified diff (.patch) of what disasm gives'),
      text: z
        .string()
        .optional()
        .describe('in the place of candidate: assembler text, or a unified diff of what disasm gives'),
      class: z.enum(['bit', 'atomics', 'bounded']).optional().describe('how alike results must be; bit by default'),
      ledger: file.optional().describe('a file that keeps verdicts'),
      chip,
      offset,
    }),
    isWriting: true,
    argv: ({ baseline, candidate, text, class: asked, ledger, chip }, files) => [
      'evaluate',
      files.existing(baseline),
      candidateFile(candidate, text, files),
      ...flag('class', asked),
      ...(ledger === undefined ? [] : [`--ledger=${files.output(ledger)}`]),
      ...flag('chip', chip),
    ],
  }),
];

function candidateFile(candidate: string | undefined, text: string | undefined, files: ToolFiles): string {
  if ((candidate === undefined) === (text === undefined)) {
    throw new WavesmithError('cli/usage', 'A candidate is a file or a text, one of them.');
  }
  if (candidate !== undefined) return files.existing(candidate);
  const content = text ?? '';
  return files.text(/^@@ /m.test(content) ? 'candidate.patch' : 'candidate.s', content);
}
