// The environment variables of the integration (IREE_BIN, IREE_DEBUG, IREE_CONFIG, IREE_DISABLE) and the flags of iree-compile:
// which of those asked for today's compiler knows, and what became of the others.
// Source: rocMLIR branch iree-rocMLIR (README, iree-export.py, IREEGen.cpp); `iree-compile --help-hidden`.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parse as parseYaml } from 'yaml';
import { WavesmithError } from '../base/index.ts';
import { findIreeTool, isExecutableFile, runTool, type Tool } from '../iree/tools.ts';

/** What the environment variables say. */
export interface RocmlirEnvironment {
  /** Folder that must hold iree-compile; found automatically when undefined. */
  readonly ireeBin: string | undefined;
  /** 0 silent, 1 messages, 2 also the compiler's output. */
  readonly debug: number;
  /** YAML file with a list of extra flags. */
  readonly config: string | undefined;
  readonly disabled: boolean;
}

/** The number at the start of a text, as C's atoi reads it. */
const atoi = (text: string | undefined): number => Number(/^\s*([-+]?\d+)/.exec(text ?? '')?.[1] ?? 0);

/** Reads the variables. */
export function readEnvironment(variables: Readonly<Record<string, string | undefined>>): RocmlirEnvironment {
  return {
    ireeBin: variables.IREE_BIN || undefined,
    debug: Math.max(0, atoi(variables.IREE_DEBUG)),
    config: variables.IREE_CONFIG || undefined,
    disabled: atoi(variables.IREE_DISABLE) !== 0,
  };
}

/** The iree-compile to use: the one in IREE_BIN when that is set, else as everywhere in this project. */
export function findCompiler(environment: RocmlirEnvironment): Tool {
  if (environment.ireeBin !== undefined) {
    const path = `${environment.ireeBin}/iree-compile`;
    if (isExecutableFile(path)) return { name: 'iree-compile', path, foundBy: 'IREE_BIN' };
    throw new WavesmithError(
      'rocmlir/no-compiler',
      `IREE_BIN is '${environment.ireeBin}', which holds no iree-compile.`,
      {
        hint: 'Unset IREE_BIN to have iree-compile found, or point it at a folder that holds it.',
      },
    );
  }
  const tool = findIreeTool('iree-compile');
  if (tool !== undefined) return tool;
  throw new WavesmithError('rocmlir/no-compiler', 'No iree-compile was found.', {
    hint: "Run 'npm run setup', set IREE_BIN to the folder that holds it, or IREE_COMPILE to its path.",
  });
}

/** The flags that the YAML file of IREE_CONFIG lists. */
export function readConfig(path: string): string[] {
  const bad = (message: string, hint?: string): WavesmithError =>
    new WavesmithError('rocmlir/config', message, { file: path, hint });
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw bad(`IREE_CONFIG names '${path}', which cannot be read: ${(cause as Error).message}.`, 'Check the path.');
  }
  let data: unknown;
  try {
    data = parseYaml(text);
  } catch (cause) {
    throw bad(`'${basename(path)}' is not YAML: ${(cause as Error).message.split('\n')[0]}`);
  }
  if (Array.isArray(data) && data.every((flag) => typeof flag === 'string')) return data;
  throw bad(`'${basename(path)}' is not a YAML list of flags.`, 'Write one flag a line: - "--iree-…".');
}

/** What happened to one flag that the compiler does not know under its name. */
export interface FlagNote {
  readonly flag: string;
  /** What is passed instead; undefined when the flag is dropped. */
  readonly replacement: string | undefined;
}

type Mapping = (value: string | undefined) => string;

const renamed =
  (name: string): Mapping =>
  (value) =>
    value === undefined ? name : `${name}=${value}`;
const isOff = (value: string | undefined): boolean => value !== undefined && /^(?:0|false)$/i.test(value);

/** Flags of 2024 that have another name today. */
const RENAMED: Readonly<Record<string, Mapping>> = {
  '--iree-flow-enable-aggressive-fusion': renamed('--iree-dispatch-creation-enable-aggressive-fusion'),
  '--iree-global-opt-enable-fuse-horizontal-contractions': renamed(
    '--iree-dispatch-creation-enable-fuse-horizontal-contractions',
  ),
  '--iree-flow-enable-fuse-horizontal-contractions': renamed(
    '--iree-dispatch-creation-enable-fuse-horizontal-contractions',
  ),
  '--iree-flow-enable-fuse-padding-into-linalg-consumer-ops': renamed(
    '--iree-dispatch-creation-enable-fuse-padding-into-linalg-consumer-ops',
  ),
  '--iree-flow-enable-fuse-padding-into-linalg-producer-ops': renamed(
    '--iree-dispatch-creation-enable-fuse-padding-into-linalg-producer-ops',
  ),
  '--iree-flow-element-wise-fuse-multi-reduction': renamed(
    '--iree-dispatch-creation-element-wise-fuse-multi-reduction',
  ),
  '--iree-flow-fuse-multi-use': renamed('--iree-dispatch-creation-fuse-multi-use'),
  '--iree-rocm-target-chip': renamed('--iree-rocm-target'),
  '--iree-hip-target': renamed('--iree-rocm-target'),
  '--iree-hip-target-features': renamed('--iree-rocm-target-features'),
  '--iree-hip-waves-per-eu': renamed('--iree-rocm-waves-per-eu'),
  // A switch became a number of stages.
  '--iree-llvmgpu-enable-prefetch': (value) => `--iree-llvmgpu-prefetch-num-stages=${isOff(value) ? 0 : 2}`,
};

/** A flag's name, with two dashes as the help prints it. */
export const flagName = (flag: string): string => flag.split('=', 1)[0].replace(/^-+/, '--');

/** What lets IREE make one kernel of a module, or a right one. A flag of the user takes the place of its namesake. */
const OWN_FLAGS: readonly string[] = [
  '--iree-dispatch-creation-enable-fuse-padding-into-linalg-consumer-ops',
  '--iree-dispatch-creation-enable-aggressive-fusion',
  '--iree-dispatch-creation-fuse-multi-use',
  '--iree-dispatch-creation-element-wise-fuse-multi-reduction',
  '--iree-flow-inline-constants-max-byte-length=65536',
  '--iree-opt-const-eval=false',
  '--iree-opt-const-expr-hoisting=false',
  // Chips compute the 8-bit floats of the other generation in software.
  '--iree-llvmgpu-enable-small-float-emulation',
  // Loop strength reduction starts offsets below zero and adds the rest as the buffer instruction's constant; a buffer's range
  // check takes the register alone for out of range: the first row of a mask read in a loop was zero.
  '--disable-lsr',
];

const helps = new Map<string, Promise<ReadonlySet<string>>>();

/** The names of all flags a compiler knows; asked once per process and path. */
export function knownFlags(tool: Tool): Promise<ReadonlySet<string>> {
  let known = helps.get(tool.path);
  if (known === undefined) {
    known = runTool(tool.path, ['--help-hidden'], { timeout: 60_000 }).then(
      (run) => new Set([...run.stdout.matchAll(/^\s+(--[\w-]+)/gm)].map((match) => match[1])),
    );
    helps.set(tool.path, known);
  }
  return known;
}

/** The flags to pass, each once, and what was changed. Flags of the config win over this project's own. */
export function resolveFlags(
  config: readonly string[],
  known: ReadonlySet<string>,
): { readonly flags: readonly string[]; readonly notes: readonly FlagNote[] } {
  const flags = new Map<string, string>();
  const notes: FlagNote[] = [];
  for (const flag of OWN_FLAGS) if (known.has(flagName(flag))) flags.set(flagName(flag), flag);
  for (const flag of config) {
    const name = flagName(flag);
    if (known.has(name)) {
      flags.set(name, flag);
      continue;
    }
    const value = flag.includes('=') ? flag.slice(flag.indexOf('=') + 1) : undefined;
    const replacement = Object.hasOwn(RENAMED, name) ? RENAMED[name](value) : undefined;
    if (replacement !== undefined && known.has(flagName(replacement))) {
      flags.set(flagName(replacement), replacement);
      notes.push({ flag, replacement });
    } else notes.push({ flag, replacement: undefined });
  }
  return { flags: [...flags.values()], notes };
}

/** A flag note as a sentence. */
export function describeFlag({ flag, replacement }: FlagNote): string {
  return replacement === undefined
    ? `iree-compile no longer knows '${flag}'; it is left out`
    : `iree-compile no longer knows '${flag}'; '${replacement}' is passed instead`;
}
