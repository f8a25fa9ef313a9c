// The measured programs of ../shared/timing/mi300a: their points, and the programs themselves, compiled as hipcc does.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A row that a program printed on hardware. */
export interface MeasuredRow {
  readonly kernel: string;
  readonly size: string;
  readonly ms: number;
}

/** One command line and the rows that it printed on hardware, in their order. */
export interface Point {
  readonly program: string;
  readonly args: readonly string[];
  /** The first number of the command: what grows along a series. */
  readonly size: number;
  /** Points of one series differ only in size. */
  readonly series: string;
}

const clang = join(process.env.WAVESMITH_LLVM ?? '/usr/lib/llvm-22', 'bin', 'clang++');

/** Folder of the data, or undefined where it is not beside the checkout. */
export function measurementsFolder(root: string): string | undefined {
  const folder = join(root, '..', 'shared', 'timing', 'mi300a');
  return existsSync(folder) ? folder : undefined;
}

/** Files of measured times: the points are compared with the first, which is of 51 launches each; the second is of 5. */
export type Measurement = 'measured-228cu.csv' | 'measured-120cu.csv';

/** Least ms by kernel name and problem size. Source of the form: the README beside them. */
export function readMeasured(folder: string, file: Measurement = 'measured-228cu.csv'): Map<string, number> {
  const [, ...lines] = readFileSync(join(folder, file), 'utf8').trim().split('\n');
  return new Map(
    lines.map((line) => {
      const [kernel, size, , , least] = line.split(',');
      return [`${kernel},${size}`, Number(least)];
    }),
  );
}

export function readPoints(folder: string): Point[] {
  return readFileSync(join(folder, 'commands.tsv'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => {
      const [program = '', text = ''] = line.split('\t');
      const args = text.split(' ');
      const [, size, ...rest] = args;
      return { program, args, size: Number(size), series: [program, ...rest].join(' ') };
    });
}

/**
 * How the measured programs were built: `hipcc -O2` (sarchlab/mgpusim, gpu_perf_scripts/build_all.sh), which adds the two options of inlining.
 * LLVM 19 sends the 18 loads of stencil2d together; clang 22's default order of instructions, which seeks occupancy, waits for each. Memory
 * clauses are the order of clang 22 that is closest to LLVM 19's code over all programs.
 */
const HIPCC = [
  '-O2',
  '-mllvm',
  '-amdgpu-early-inline-all=true',
  '-mllvm',
  '-amdgpu-function-calls=false',
  '-Xarch_device',
  '-mllvm=-amdgpu-sched-strategy=max-memory-clause',
];

/** Compiles a program once; gives the path. */
export function compileProgram(root: string, folder: string, program: string): string {
  const out = join(root, '.wavesmith', 'timing-programs');
  const path = join(out, program);
  if (existsSync(path)) return path;
  mkdirSync(out, { recursive: true });
  const libraries = join(process.env.WAVESMITH_NATIVE ?? join(root, 'native', 'build'), 'lib');
  const args = [
    '-x',
    'hip',
    '--offload-arch=gfx942',
    '-D__AMDGCN_WAVEFRONT_SIZE=64',
    '--rocm-path=/usr',
    '-w',
    ...HIPCC,
  ];
  const devices = `--rocm-device-lib-path=${join(root, '.wavesmith', 'hip-device-libs')}`;
  const source = join(folder, 'src', `${program}.cpp`);
  const link = ['-o', path, `-L${libraries}`, '-lamdhip64'];
  const { status, stderr } = spawnSync(clang, [...args, devices, source, ...link], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} does not compile: ${stderr}`);
  return path;
}
