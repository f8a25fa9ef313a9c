// `wavesmith hijack build`: assemble what was edited, verify, put it back, reopen and prove.

import { WavesmithError } from '../../base/index.ts';
import { optimizeLess } from '../../device/node/v8-flags.ts';
import { quickProofText } from '../../equivalence/index.ts';
import { buildProgram, type ProgramBuildResult } from '../../hijack/build.ts';
import { isProgramFolder } from '../../hijack/manifest.ts';
import { type BuildResult, build, type ExecutableResult } from '../../iree/build.ts';
import { buildCaptured, isCapturedFolder } from '../../iree/captured.ts';
import type { OutsideChanges } from '../../iree/edited-lines.ts';
import type { EngineName } from '../../iree/engine.ts';
import { formatChange } from '../../iree/report.ts';
import { newCommand, parseArguments, printJson } from '../support.ts';
import { describeCapturedBuild } from './captured.ts';

interface Flags {
  output?: string;
  via: string;
  engine: string;
  force?: boolean;
  json?: boolean;
}

/** The value of --engine; another word is a usage error. */
export function engineFlag(value: string): EngineName {
  if (value === 'wavesmith' || value === 'llvm') return value;
  throw new WavesmithError('cli/usage', `--engine is 'wavesmith' or 'llvm', not '${value}'.`);
}

export async function run(argv: string[]): Promise<number> {
  const command = newCommand('hijack build', 'Build the modified module of a hijack folder and prove what it holds.')
    .argument('<dir>', 'a folder made by hijack init')
    .option('-o, --output <file>', 'the modified module (default DIR/modified.vmfb)')
    .option('--via <how>', "'patch' the module directly, or 'compile' again with the edit substituted", 'patch')
    .option('--engine <name>', "assembler: 'wavesmith' or 'llvm'", 'wavesmith')
    .option('--force', 'build although verification or the checker found errors (not: a missing kernel)')
    .option('--json', 'print the result as JSON');
  if (!parseArguments(command, argv)) return 0;
  optimizeLess();
  const flags = command.opts<Flags>();
  if (flags.via !== 'patch' && flags.via !== 'compile') {
    throw new WavesmithError('cli/usage', `--via is 'patch' or 'compile', not '${flags.via}'.`);
  }
  const [folder] = command.args;
  if (isCapturedFolder(folder)) {
    const { output, force = false } = flags;
    const built = await buildCaptured(folder, { output, engine: engineFlag(flags.engine), force });
    if (flags.json) printJson(built);
    else process.stdout.write(describeCapturedBuild(built));
    return 0;
  }
  if (isProgramFolder(folder)) {
    for (const [given, name] of [
      [flags.output !== undefined, '--output'],
      [flags.via !== 'patch', '--via'],
    ] as const) {
      if (given) throw new WavesmithError('cli/usage', `${name} is for folders of IREE modules.`);
    }
    const options = { engine: engineFlag(flags.engine), force: flags.force === true };
    const built = await buildProgram(folder, options);
    if (flags.json) printJson(built);
    else process.stdout.write(describeProgram(built));
    return 0;
  }
  const result = await build(folder, {
    output: flags.output,
    via: flags.via,
    engine: engineFlag(flags.engine),
    force: flags.force === true,
  });
  if (flags.json) printJson(result);
  else process.stdout.write(describe(result));
  return 0;
}

function describeOutside({ editedLines, instructions, first }: OutsideChanges): string {
  const where = first === null ? '' : `, first at ${first.file}:${first.line}`;
  return `${editedLines} line(s) edited; instructions changed outside the edited lines: ${instructions}${where}`;
}

/** What all builds say of one code object. */
function describeCode(code: Omit<ExecutableResult, 'codeSha256'>): string[] {
  const state = {
    unchanged: 'not edited',
    'same-code': 'edited, but it assembles to the same code',
    changed: 'changed',
  }[code.state];
  const lines = [`${code.name}: ${state}`];
  if (code.change !== null) lines.push(...formatChange(code.change).map((line) => `  ${line}`));
  if (code.outside !== null) lines.push(`  ${describeOutside(code.outside)}`);
  for (const proof of code.proofs) lines.push(`  ${quickProofText(proof)}`);
  lines.push(...code.remarks.map((remark) => `  remark: ${remark}`));
  return lines;
}

function describeProgram({ folder, executables, seconds }: ProgramBuildResult): string {
  const lines: string[] = [];
  for (const code of executables) {
    if (code.state === 'unchanged' && executables.length > 8) continue;
    lines.push(...describeCode(code));
    if (code.output !== null) {
      lines.push(`  proof: reopened ${code.output}: it is the assembled code (sha256 ${code.codeSha256})`);
    }
  }
  const changed = executables.filter((e) => e.state === 'changed').length;
  lines.push(
    `${changed} code object(s) changed, ${executables.length - changed} as they were, in ${(seconds * 1000).toFixed(0)} ms`,
    changed === 0 ? 'nothing to run: edit asm/*.s first' : `next: wavesmith hijack run ${folder}`,
    '',
  );
  return lines.join('\n');
}

function describe(result: BuildResult): string {
  const lines: string[] = [];
  const changed = result.executables.filter((e) => e.state === 'changed');
  for (const executable of result.executables) {
    if (executable.state === 'unchanged' && result.executables.length > 8) continue;
    lines.push(...describeCode(executable));
    if (executable.state === 'changed') {
      lines.push(
        `  proof: reopened ${result.output}: its code object is the assembled one (sha256 ${executable.codeSha256})`,
      );
    }
  }
  const untouched = result.executables.length - changed.length;
  const s = result.seconds;
  if (result.identical) lines.push(`${result.output}: byte-identical to the baseline (nothing changed)`);
  else {
    lines.push(
      `${result.output}: ${result.bytes} bytes (baseline ${result.baselineBytes}), ${changed.length} executable(s) replaced ` +
        `by ${result.via === 'patch' ? 'patching' : 'iree-compile'}, ${untouched} untouched`,
    );
  }
  const ms = (seconds: number): string => `${(seconds * 1000).toFixed(0)} ms`;
  lines.push(
    `time: assemble and verify ${ms(s.assemble)}, ${result.via} ${ms(s.substitute)}, prove ${ms(s.prove)}, total ${ms(s.total)}`,
    '',
  );
  return lines.join('\n');
}
