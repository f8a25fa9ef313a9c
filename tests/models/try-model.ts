// One model through the whole hijack loop, as a user goes through it: init, an unedited build, a harmless, a harmful and two refused
// edits. Each step checks what it claims; the first claim that does not hold is the result.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { main } from '../../src/cli/main.ts';
import { readManifest } from '../../src/iree/manifest.ts';
import { type Model, root } from './models.ts';

/** What one model on one target showed. */
export interface ModelRow {
  readonly model: string;
  readonly target: string;
  readonly executables: number;
  readonly kernels: number;
  /** Executables whose text is the compiler's own; the others were disassembled. */
  readonly compilerTexts: number;
  /** The steps that held, in order. */
  readonly held: readonly string[];
  /** The first step that did not hold, and what was seen instead. */
  readonly failure: string | null;
  readonly seconds: number;
}

export const STEPS = ['init', 'same bytes', 'same code', 'harmless', 'harmful', 'refused'] as const;

class Failure extends Error {}

interface Ran {
  readonly status: number;
  readonly out: string;
}

/** Runs a command in this process and keeps what it writes. */
async function wavesmith(...argv: readonly string[]): Promise<Ran> {
  let out = '';
  const streams = [process.stdout, process.stderr] as const;
  const writes = streams.map((stream) => stream.write);
  for (const stream of streams) {
    stream.write = (chunk: string | Uint8Array) => {
      out += typeof chunk === 'string' ? chunk : new TextDecoder().decode(chunk);
      return true;
    };
  }
  try {
    return { status: await main([...argv]), out };
  } finally {
    streams.forEach((stream, i) => {
      stream.write = writes[i];
    });
  }
}

function expectThat(holds: boolean, what: string, { status, out }: Ran): void {
  if (!holds) throw new Failure(`${what}; the command ended with ${status}: ${out.trim().slice(0, 500)}`);
}

function tool(name: string, args: readonly string[]): void {
  const run = spawnSync(join(root, '.wavesmith', 'venv', 'bin', name), args, { encoding: 'utf8' });
  if (run.status !== 0) throw new Failure(`${name} failed: ${(run.stderr || run.stdout).trim().slice(-600)}`);
}

/** Writes the model's MLIR, and its parameter archive when it has one. */
function writeModel(model: Model, target: string, folder: string): { input: string; run: readonly string[] } {
  const input = join(folder, `${model.name.replaceAll('-', '_')}.mlir`);
  const run = [...(model.run?.(target) ?? [])];
  if ('mlir' in model.source) {
    writeFileSync(input, model.source.mlir(target));
    return { input, run };
  }
  if ('file' in model.source && !model.source.file.endsWith('.onnx')) return { input: model.source.file, run };
  const onnx = 'file' in model.source ? model.source.file : join(folder, `${model.source.onnx}.onnx`);
  if ('onnx' in model.source) {
    tool('python', [join(root, 'tests', 'models', 'onnx_models.py'), model.source.onnx, onnx]);
  }
  const archive = join(folder, 'parameters.irpa');
  const external = ['--externalize-params', '--num-elements-threshold', '16', '--save-params-to', archive];
  tool('iree-import-onnx', [onnx, '-o', input, ...(model.outside ? external : [])]);
  return { input, run: model.outside ? [...run, `--parameters=model=${archive}`] : run };
}

/** Tries a model; the folder is the caller's to remove. */
export async function tryModel(model: Model, target: string, folder: string): Promise<ModelRow> {
  const started = performance.now();
  const work = join(folder, 'work');
  const held: string[] = [];
  let failure: string | null = null;
  try {
    const { input, run } = writeModel(model, target, folder);
    const flags = model.flags === undefined ? [] : ['--', ...model.flags];
    const init = ['init', input, '-o', work, '--target', target, ...(model.link ? ['--link'] : []), ...flags];
    await walk(work, init, run, model.unedited, held);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    failure = `${STEPS[held.length]}: ${error.message}`;
  }
  const executables = held.length === 0 ? [] : readManifest(work).executables;
  return {
    model: model.name,
    target,
    executables: executables.length,
    kernels: executables.reduce((sum, e) => sum + e.kernels.length, 0),
    compilerTexts: executables.filter((e) => e.asmFrom === 'iree-compile').length,
    held,
    failure,
    seconds: (performance.now() - started) / 1000,
  };
}

async function walk(
  work: string,
  init: readonly string[],
  run: readonly string[],
  unedited: RegExp | undefined,
  held: string[],
): Promise<void> {
  const made = await wavesmith('hijack', ...init);
  expectThat(made.status === 0, 'init succeeds', made);
  held.push('init');

  const same = await wavesmith('hijack', 'build', work);
  expectThat(same.status === 0 && same.out.includes('byte-identical'), 'an unedited build is identical', same);
  held.push('same bytes');

  // A comment in every file makes the build assemble every line.
  const files = textFiles(work);
  const pristine = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));
  for (const [file, text] of pristine) writeFileSync(file, `; touched\n${text}`);
  const touched = await wavesmith('hijack', 'build', work);
  const isSame = touched.out.includes('byte-identical') && !/: changed$/m.test(touched.out);
  expectThat(touched.status === 0 && isSame, 'the assembled text is the module’s code', touched);
  held.push('same code');

  const kernels = files.filter((file) => basename(file) !== 'shared.s' && !unedited?.test(basename(file)));
  const editAll = (change: (text: string) => string): void => {
    for (const [file, text] of pristine) writeFileSync(file, kernels.includes(file) ? change(text) : text);
  };
  editAll((text) => text.replace(/^\ts_endpgm\b/m, '\ts_nop 0\n$&'));
  const harmless = await wavesmith('hijack', 'build', work);
  expectThat(
    harmless.status === 0 && harmless.out.includes('proof: reopened'),
    'a harmless edit is built and proved',
    harmless,
  );
  const outside = [
    ...harmless.out.matchAll(/(\d+) line\(s\) edited; instructions changed outside the edited lines: (\d+)/g),
  ];
  const isExact = outside.length > 0 && outside.every((m) => m[1] !== '0' && m[2] === '0');
  expectThat(isExact, 'nothing changes outside the edited lines', harmless);
  const equal = await wavesmith('hijack', 'run', work, ...run);
  expectThat(equal.status === 0 && /^EQUAL/m.test(equal.out), 'a harmless edit gives equal results', equal);
  held.push('harmless');

  editAll(spoilStores);
  const harmful = await wavesmith('hijack', 'build', work);
  expectThat(harmful.status === 0, 'a harmful edit is built', harmful);
  const different = await wavesmith('hijack', 'run', work, ...run);
  expectThat(
    different.status === 1 && /^DIFFERENT/m.test(different.out),
    'a harmful edit gives different results',
    different,
  );
  held.push('harmful');

  const [first] = kernels;
  for (const [change, code] of [
    [(text: string) => text.replace(/^\ts_endpgm\b/m, '\tv_no_such_thing v0\n$&'), 'hijack/assemble'],
    [(text: string) => text.replace(/(\.amdhsa_group_segment_fixed_size) \d+/, '$1 200000'), 'hijack/lds-limit'],
  ] as const) {
    for (const [file, text] of pristine) writeFileSync(file, file === first ? change(text) : text);
    const refused = await wavesmith('hijack', 'build', work);
    const names = refused.out.includes(first) && refused.out.includes(`error[${code}]`);
    expectThat(refused.status !== 0 && names, `the edit is refused with ${code} and its file`, refused);
  }
  held.push('refused');
}

function textFiles(work: string): string[] {
  const asm = join(work, 'asm');
  const names = readdirSync(asm, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.s'));
  return names.map((name) => join(asm, name)).sort();
}

/**
 * Adds an odd number to what a kernel stores, so that no even number of stores brings the value back; a kernel whose stores take no plain
 * register ends before them.
 */
export function spoilStores(text: string): string {
  const settle = '\ts_waitcnt vmcnt(0) lgkmcnt(0)\n\ts_nop 15\n\ts_nop 15\n';
  let count = 0;
  const spoiled = text.replace(
    /^\t(?:(?:global|flat)_store_\w+ v(?:\d+|\[[\d:]+\]), (v(?:\d+|\[[\d:]+\]))|buffer_store_\w+ (v(?:\d+|\[[\d:]+\]))).*$/gm,
    (line, a: string | undefined, b: string | undefined) => {
      count++;
      const register = /\d+/.exec(a ?? b ?? '')?.[0] ?? '0';
      return `${settle}\tv_add_u32_e32 v${register}, 0x3c7f1b55, v${register}\n\ts_nop 4\n${line}`;
    },
  );
  return count > 0 ? spoiled : text.replace(/^\t(?:global|flat|buffer)_store_/m, '\ts_endpgm\n$&');
}
