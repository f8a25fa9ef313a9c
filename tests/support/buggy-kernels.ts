// The fixture kernels of tests/fixtures/buggy-kernels: what must be found in each, and what the checker and strict mode find.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assembleAndLink } from '../../src/asm/index.ts';
import { checkCodeObject } from '../../src/check/index.ts';
import { readCodeObject } from '../../src/codeobject/index.ts';
import { createDevice, exploreSchedules, type ScheduleReport } from '../../src/device/index.ts';
import type { TargetName } from '../../src/isa/types.ts';

const FOLDER = join(import.meta.dirname, '..', 'fixtures', 'buggy-kernels');
/** Bytes of each of the two buffers. */
const BUFFER = 4096;

/** One file: the kernel `wrong` with a mistake, the kernel `right` without. */
export interface BuggyKernel {
  readonly name: string;
  readonly sentence: string;
  /** Rules that the checker and strict mode find in `wrong`; both empty for an error of logic. */
  readonly check: readonly string[];
  readonly run: readonly string[];
  /** `--schedules 8` shows it. */
  readonly dependsOnSchedule: boolean;
  readonly launch: ReadonlyMap<string, number>;
  readonly object: Uint8Array;
}

const HEAD = /^\/\/ Must be found: (.*) \((.*)\)\n(?:\/\/ Launch: (.*)\n)?/;

function readKernel(file: string): BuggyKernel {
  const text = readFileSync(join(FOLDER, file), 'utf8');
  const [, sentence = '', where = '', launch = ''] = HEAD.exec(text) ?? [];
  if (sentence === '') throw new Error(`the first line of ${file} does not say what must be found`);
  const rules = (kind: string): string[] =>
    where
      .split(', ')
      .filter((part) => part.startsWith(`${kind} `))
      .map((part) => part.slice(kind.length + 1));
  const fields = launch === '' ? [] : launch.split('; ').map((part) => part.split(' ') as [string, string]);
  return {
    name: file.replace(/\.s$/, ''),
    sentence,
    check: rules('check'),
    run: rules('run'),
    dependsOnSchedule: where.split(', ').includes('schedules'),
    launch: new Map(fields.map(([name, value]) => [name, Number(value)])),
    object: assembleAndLink(text, { file, readFile: (name) => readFileSync(join(FOLDER, name)) }),
  };
}

/** All of them, by name. */
export function buggyKernels(): BuggyKernel[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.s'))
    .sort()
    .map(readKernel);
}

/** Offsets of dwords below 1024: they may be used as addresses. */
const INPUT = new Uint8Array(Uint32Array.from({ length: BUFFER / 4 }, (_, i) => 4 * (i & 255)).buffer);

const unique = (rules: readonly string[]): string[] => [...new Set(rules)].sort();

/** Rules that `wavesmith check` reports for one of the two kernels. */
export function checkedRules({ object }: BuggyKernel, kernel: 'wrong' | 'right'): string[] {
  return unique(checkCodeObject(readCodeObject(object)).flatMap((f) => (f.kernel === kernel ? [f.rule] : [])));
}

/** Rules that `wavesmith run --check` reports for one of the two kernels. */
export async function strictRules(
  { object, launch }: BuggyKernel,
  kernel: 'wrong' | 'right',
  engine: 'compiled' | 'interpreter',
): Promise<string[]> {
  const { processor } = readCodeObject(object).target;
  const device = await createDevice('sim', { target: processor as TargetName });
  try {
    const x = device.alloc(BUFFER, 'x');
    const y = device.alloc(BUFFER, 'y');
    device.write(x, INPUT.subarray(0, launch.get('written') ?? BUFFER));
    device.write(y, new Uint8Array(BUFFER));
    const { diagnostics = [] } = await device.dispatch({
      kernel: device.load(object).kernel(kernel),
      grid: [launch.get('grid') ?? 1, 1, 1],
      block: [launch.get('block') ?? 64, 1, 1],
      args: [x, y],
      maxInstructions: launch.get('budget'),
      engine,
      strict: {},
    });
    return unique(diagnostics.map(({ rule }) => rule));
  } finally {
    device.close();
  }
}

/** What `wavesmith run --schedules 8` reports for one of the two kernels. */
export async function scheduleReport(
  { object, launch }: BuggyKernel,
  kernel: 'wrong' | 'right',
): Promise<ScheduleReport> {
  const { processor } = readCodeObject(object).target;
  const device = await createDevice('sim', { target: processor as TargetName });
  try {
    const buffers = [device.alloc(BUFFER, 'x'), device.alloc(BUFFER, 'y')] as const;
    const loaded = device.load(object).kernel(kernel);
    return await exploreSchedules(
      async (fields) => {
        device.write(buffers[0], INPUT);
        device.write(buffers[1], new Uint8Array(BUFFER));
        const { instructions } = await device.dispatch({
          ...fields,
          kernel: loaded,
          grid: [launch.get('grid') ?? 1, 1, 1],
          block: [launch.get('block') ?? 64, 1, 1],
          args: buffers,
        });
        const memory = buffers.map((buffer) => {
          return { label: buffer.label, address: buffer.address, bytes: device.read(buffer) };
        });
        return { instructions, memory };
      },
      { count: 8, seed: 1 },
    );
  } finally {
    device.close();
  }
}
