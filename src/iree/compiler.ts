// iree-compile as this project uses it: version and flag spellings, one compile with every dump, reading of its
// substitution messages. Sources: iree/compiler/Dialect/HAL/Target/TargetOptions.cpp, HAL/Transforms/SubstituteExecutables.cpp.
import { WavesmithError } from '../base/index.ts';
import { runTool, type Tool, type ToolRun } from './tools.ts';

/** What one iree-compile is and which spellings it understands. */
export interface IreeCompiler {
  readonly path: string;
  /** As printed: `3.13.0rc20261016 @ 89ece87b…`. */
  readonly version: string;
  /** `--iree-rocm-target` (from 3.11) or `--iree-hip-target` (until 3.11). */
  readonly targetFlag: '--iree-rocm-target' | '--iree-hip-target';
  /** The flag that selects the ROCm compiler. */
  readonly backendFlag: '--iree-hal-target-backends=rocm' | '--iree-hal-target-device=hip';
  /** Flags that keep weights out of the text dumps, as far as this compiler knows them. */
  readonly elideFlags: readonly string[];
}

const probed = new Map<string, Promise<IreeCompiler>>();

/** Asks a compiler for its version and flags; once per process and path. */
export function probeCompiler(tool: Tool): Promise<IreeCompiler> {
  let probe = probed.get(tool.path);
  if (probe === undefined) {
    probe = askCompiler(tool);
    probed.set(tool.path, probe);
  }
  return probe;
}

async function askCompiler(tool: Tool): Promise<IreeCompiler> {
  const [version, help] = await Promise.all([
    runTool(tool.path, ['--version'], { timeout: 60_000 }),
    runTool(tool.path, ['--help'], { timeout: 60_000 }),
  ]);
  const text = /IREE compiler version\s+(.+)/.exec(version.stdout)?.[1]?.trim();
  if (version.status !== 0 || text === undefined) {
    throw new WavesmithError('hijack/not-iree', `'${tool.path}' does not answer --version as iree-compile does.`, {
      hint: `Check ${tool.foundBy === 'IREE_COMPILE' ? 'IREE_COMPILE' : 'which iree-compile is installed'}.`,
    });
  }
  const knows = (flag: string): boolean => new RegExp(`^\\s+${flag}(?:[=\\s]|$)`, 'm').test(help.stdout);
  if (!knows('--iree-rocm-target') && !knows('--iree-hip-target')) {
    throw new WavesmithError(
      'hijack/no-rocm-backend',
      `IREE ${text} at '${tool.path}' was built without the ROCm compiler: it knows neither --iree-rocm-target nor ` +
        '--iree-hip-target.',
      { hint: "Use the iree-base-compiler wheel for Linux ('npm run setup' installs it)." },
    );
  }
  return {
    path: tool.path,
    version: text,
    targetFlag: knows('--iree-rocm-target') ? '--iree-rocm-target' : '--iree-hip-target',
    backendFlag: knows('--iree-hal-target-backends')
      ? '--iree-hal-target-backends=rocm'
      : '--iree-hal-target-device=hip',
    elideFlags: ['--mlir-elide-elementsattrs-if-larger', '--mlir-elide-resource-strings-if-larger']
      .filter(knows)
      .map((flag) => `${flag}=64`),
  };
}

/** The flags that select the target, unless `extra` already selects a device itself. */
export function targetFlags(compiler: IreeCompiler, target: string, extra: readonly string[]): string[] {
  const selects = extra.some((flag) => /^--iree-hal-target-(?:backends|device)\b/.test(flag));
  return [...(selects ? [] : [compiler.backendFlag]), `${compiler.targetFlag}=${target}`];
}

const TARGET_FLAG = /^--iree-(?:rocm|hip)-target(?:=(.*))?$/;

/** Flags of a user without those that select the target, and the target they name. */
export interface UserFlags {
  readonly target: string | undefined;
  readonly rest: readonly string[];
}

/**
 * Takes the target out of a user's flags, in either spelling, so that it is given once. Targets that disagree are
 * `hijack/target-flag`; a flag that the command itself decides is `hijack/output-flag`.
 */
export function takeTarget(extra: readonly string[], target: string | undefined): UserFlags {
  const rest: string[] = [];
  let found = target;
  for (const flag of extra) {
    const named = TARGET_FLAG.exec(flag);
    if (named !== null) {
      const value = named[1] ?? '';
      if (value === '' || (found !== undefined && withoutFeatures(found) !== withoutFeatures(value))) {
        throw new WavesmithError(
          'hijack/target-flag',
          `'${flag}' among the extra flags${found === undefined ? ' names no target' : `, but the target is ${found}`}.`,
          {
            hint: 'Give the target once: --target (or GPU_TARGET); the compiler’s own spelling of the flag is found out.',
          },
        );
      }
      found ??= value;
      continue;
    }
    if (/^-o(?:=|$)/.test(flag)) {
      throw new WavesmithError('hijack/output-flag', `'${flag}' among the extra flags: the output is already decided.`);
    }
    rest.push(flag);
  }
  return { target: found, rest };
}

const withoutFeatures = (target: string): string => target.replace(/:.*/, '');

/** Runs iree-compile; a failure is `hijack/compile-failed` with the compiler's first error line. */
export async function compile(
  compiler: IreeCompiler,
  args: readonly string[],
): Promise<{ stderr: string; seconds: number }> {
  const run = await runTool(compiler.path, args);
  if (run.status === 0) return { stderr: run.stderr, seconds: run.milliseconds / 1000 };
  const unknown = /Unknown command line argument '([^']+)'/.exec(run.stderr)?.[1];
  if (unknown !== undefined) {
    throw new WavesmithError('hijack/unknown-flag', `iree-compile ${compiler.version} does not know '${unknown}'.`, {
      hint: `See '${compiler.path} --help'; flags differ between IREE releases.`,
    });
  }
  const lines = run.stderr.split('\n').filter((line) => line.trim() !== '');
  const first = lines.find((line) => /error:|ERROR/.test(line)) ?? lines[0] ?? '(it printed nothing)';
  throw new WavesmithError('hijack/compile-failed', `iree-compile ${howItEnded(run)}: ${first.trim()}`, {
    hint: `The command was: ${commandLine([compiler.path, ...args])}`,
  });
}

/** Exit codes from here on stand for signals. */
const CRASHED = 128;

function howItEnded({ status }: ToolRun): string {
  if (status === -1) return 'failed (killed or timed out)';
  return status >= CRASHED
    ? `crashed by itself (exit code ${status}; the same command does so without Wavesmith)`
    : `failed (exit code ${status})`;
}

/** A command as one would type it. */
export function commandLine(words: readonly string[]): string {
  return words.map((w) => (/^[\w@%+=:,./-]+$/.test(w) ? w : `'${w.replaceAll("'", "'\\''")}'`)).join(' ');
}

/**
 * Reads what iree-compile said about each wanted substitution. Its warning (exit code 0, the module unmodified) and a
 * missing note are both `hijack/not-substituted`.
 */
export function checkSubstitutions(stderr: string, executables: readonly string[], known: readonly string[]): void {
  const noted = new Set<string>();
  for (const match of stderr.matchAll(/NOTE: hal\.executable `([^`]*)` substituted with/g)) noted.add(match[1]);
  const missing = new Set<string>();
  for (const match of stderr.matchAll(/WARNING: .*as the executable `([^`]*)` was not found in the module/g)) {
    missing.add(match[1]);
  }
  for (const name of executables) {
    if (noted.has(name) && !missing.has(name)) continue;
    const what = missing.has(name)
      ? `the module has no executable '${name}'`
      : `iree-compile did not confirm that '${name}' was replaced`;
    throw new WavesmithError(
      'hijack/not-substituted',
      `Nothing was substituted: ${what} (iree-compile only warns about this, and exits 0).`,
      {
        hint:
          known.length === 0 ? 'Check the executable’s name.' : `The module’s executables are: ${known.join(', ')}.`,
      },
    );
  }
}
