// What the rocmlir subcommands share: target options, the environment, how a fallback is told.

import type { Command } from 'commander';
import { WavesmithError } from '../../base/index.ts';
import { TARGET_LIST } from '../../isa/table/targets.ts';
import { decodeModule } from '../../mlir/lex.ts';
import { defaultFeatures } from '../../rocmlir/compile.ts';
import { readEnvironment } from '../../rocmlir/environment.ts';
import type { ExportOptions } from '../../rocmlir/export.ts';
import type { LaunchSequence } from '../../rocmlir/sequence.ts';
import { readInput } from '../support.ts';

export interface TargetFlags {
  arch?: string;
  features?: string;
  timeout?: string;
}

/** Adds `-a`, `-f` and `--timeout`. */
export function addTargetOptions(command: Command): Command {
  return command
    .option('-a, --arch <arch>', `GPU architecture: ${TARGET_LIST}`)
    .option(
      '-f, --features <features>',
      "target features (default: '+sramecc,-xnack' as far as the architecture has them)",
    )
    .option('--timeout <seconds>', 'end iree-compile after this time (default 60)');
}

/** The options of a compilation, with the process's environment. */
export function exportOptions(flags: TargetFlags): ExportOptions {
  const timeout = flags.timeout === undefined ? undefined : Number(flags.timeout) * 1000;
  if (timeout !== undefined && !(timeout > 0 && timeout <= 86_400_000)) {
    throw new WavesmithError('cli/usage', `--timeout needs seconds from above 0 to 86400, not '${flags.timeout}'.`);
  }
  const arch = flags.arch ?? '';
  return {
    arch,
    features: flags.features ?? defaultFeatures(arch),
    environment: readEnvironment(process.env),
    timeout,
  };
}

/** A module's text. */
export function readModuleText(path: string): string {
  return decodeModule(readInput(path), path);
}

/** One line a launch, and one for the scratch buffer where there is one. */
export function sequenceLines({ steps, scratchBytes }: LaunchSequence, where = ''): string[] {
  const lines = steps.map((step) =>
    [
      `${step.kernel}${where === '' ? '' : ` ${where}`}:`,
      step.workgroupCount.join('×'),
      'workgroups of',
      step.workgroupSizes.join('×'),
    ].join(' '),
  );
  return scratchBytes === 0 ? lines : [...lines, `${scratchBytes} bytes of scratch between them`];
}

/** Prints lines on standard output. */
export function printResult(lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}

/** Prints lines on standard error. */
export function printLines(lines: readonly string[]): void {
  for (const line of lines) process.stderr.write(`${line}\n`);
}

/** Says why the module keeps rocMLIR's kernel. */
export function printFallback(failure: WavesmithError | undefined): void {
  if (failure === undefined) return;
  process.stderr.write(`${failure.format()}\nfallback: the module keeps rocMLIR's own kernel.\n`);
}
