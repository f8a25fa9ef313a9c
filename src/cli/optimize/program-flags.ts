// Flags of a HIP project: how it is built, run and judged.
import type { Command } from 'commander';

/** How a program is built, run and judged. */
export interface ProgramFlags {
  build?: string;
  run?: string;
  source?: string;
  project: string;
  kernel?: string;
  device: string;
  commandTimeout: string;
  class: string;
  chip?: string;
  seed: string;
}

/** Flags that say how a HIP project is built and run. */
export function addProgramOptions(command: Command): Command {
  return command
    .option('--build <command>', 'HIP project: how it is built')
    .option('--run <command>', 'how it is run')
    .option('--source <file>', 'the source that may be changed')
    .option('--kernel <re>', 'kernels that may be chosen, by (mangled) name; the one that takes most time is')
    .option('--command-timeout <seconds>', 'time that a build or a run may take', '600');
}

/** Whether the flags are of a HIP project. */
export const isHip = ({ build, run, source }: Pick<ProgramFlags, 'build' | 'run' | 'source'>): boolean =>
  (build ?? run ?? source) !== undefined;
