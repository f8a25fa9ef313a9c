// What `setup.sh all` of the original did, with the release of IREE that the registry has: a folder with `bin/` (iree-compile,
// iree-run-module, iree-export), a configuration and `setup-env.sh`, and a check of each. A record of what was made undoes it.
// Source: rocMLIR branch iree-rocMLIR, setup.sh and iree-config.yaml.
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { WavesmithError } from '../base/index.ts';
import { findIreeTool, findOnPath, packageRoot, runTool } from '../iree/tools.ts';
import { makeFolders } from '../snapshot/folders.ts';
import { readEnvironment } from './environment.ts';
import { exportModule } from './export.ts';
import { selectProgram } from './gen.ts';

/** The steps, in the order of `all`; `clean` undoes them. */
export const SETUP_STEPS = ['dirs', 'iree', 'link', 'config', 'check'] as const;
export type SetupStep = (typeof SETUP_STEPS)[number] | 'clean';

const SUMMARIES: Readonly<Record<SetupStep, string>> = {
  dirs: 'make the folders',
  iree: 'install IREE into a Python environment, unless there is one',
  link: 'put iree-compile, iree-run-module and iree-export into bin/',
  config: 'write config/iree-config.yaml and setup-env.sh',
  check: 'run each tool, and take a small module through iree-export',
  clean: 'remove what the other steps made, and nothing else',
};

/** One line a step, for help. */
export const setupSummary = (): string[] =>
  [...SETUP_STEPS, 'clean' as const].map((step) => `  ${step.padEnd(7)} ${SUMMARIES[step]}`);

/** What was made, in order: paths below the root. */
const RECORD = '.wavesmith-rocmlir.json';
/** Flags of the original's iree-config.yaml that today's IREE has under that name. */
const CONFIG = [
  '--iree-global-opt-propagate-transposes=true',
  '--iree-opt-outer-dim-concat=true',
  '--iree-opt-data-tiling=false',
];
const MODULE = `module {
  func.func private @mlir_check(%a: !migraphx.shaped<16x16xf32, 16x1>, %b: !migraphx.shaped<16x16xf32, 16x1>) -> !migraphx.shaped<16x16xf32, 16x1> {
    %0 = migraphx.dot %a, %b : <16x16xf32, 16x1>, <16x16xf32, 16x1> -> <16x16xf32, 16x1>
    return %0 : !migraphx.shaped<16x16xf32, 16x1>
  }
}
`;

export interface SetupOptions {
  /** The folder; made when it is missing. */
  readonly root: string;
  /** Say what would be done. */
  readonly dryRun: boolean;
  readonly say: (line: string) => void;
}

const fail = (message: string, hint: string): WavesmithError => new WavesmithError('rocmlir/setup', message, { hint });

class Setup {
  private readonly options: SetupOptions;
  private readonly made: string[];

  constructor(options: SetupOptions) {
    this.options = options;
    const record = join(options.root, RECORD);
    this.made = existsSync(record) ? readRecord(record) : [];
  }

  private path(...parts: string[]): string {
    return join(this.options.root, ...parts);
  }

  /** Makes one thing, unless this set-up already has; a thing of someone else's is left and refused. */
  private make(path: string, what: string, create: () => void): void {
    const { dryRun, say, root } = this.options;
    const name = relative(root, path);
    const isThere = existsSync(path) || isLink(path);
    if (isThere && this.made.includes(name)) {
      say(`${path}: there already`);
      return;
    }
    if (isThere)
      throw fail(
        `'${path}' exists and was not made by this set-up.`,
        'Remove it, or choose another folder with --root.',
      );
    say(`${path}: ${dryRun ? 'would be ' : ''}${what}`);
    if (dryRun) return;
    create();
    this.made.push(name);
    writeFileSync(
      this.path(RECORD),
      `${JSON.stringify({ format: 'wavesmith-rocmlir-setup', version: 1, made: this.made }, null, 2)}\n`,
    );
  }

  dirs(): void {
    const { root, dryRun, say } = this.options;
    if (!existsSync(root)) {
      say(`${root}: ${dryRun ? 'would be ' : ''}made`);
      if (!dryRun) makeFolders(root);
    }
    for (const name of ['bin', 'config']) this.make(this.path(name), 'made', () => mkdirSync(this.path(name)));
  }

  async iree(): Promise<void> {
    const found = findIreeTool('iree-compile');
    const { say, dryRun } = this.options;
    if (found !== undefined) {
      say(`${found.path}: IREE is there already (found by ${found.foundBy})`);
      return;
    }
    const requirements = join(packageRoot() ?? '', 'scripts', 'requirements.txt');
    const python = findOnPath('python3');
    if (python === undefined) throw fail('No python3 was found to install IREE with.', 'Install Python 3.10 or newer.');
    if (!existsSync(requirements))
      throw fail('The list of Python packages is not beside this program.', "Run 'npm run setup' in a checkout.");
    this.dirs();
    this.make(this.path('venv'), 'made, with the packages of scripts/requirements.txt', () =>
      mkdirSync(this.path('venv')),
    );
    if (dryRun) return;
    const pip = this.path('venv', 'bin', 'python');
    for (const [program, args] of [
      [python, ['-m', 'venv', this.path('venv')]],
      [pip, ['-m', 'pip', 'install', '--quiet', '--only-binary=:all:', '--requirement', requirements]],
    ] as const) {
      const run = await runTool(program, args, { timeout: 1_800_000 });
      if (run.status === 0) continue;
      throw fail(
        `'${program} ${args.join(' ')}' failed: ${run.stderr.trim().split('\n').at(-1)}`,
        'Check the network and the registry.',
      );
    }
  }

  link(): void {
    this.dirs();
    const shim = join(packageRoot() ?? '', 'bin', 'iree-export');
    const tool = (name: 'iree-compile' | 'iree-run-module'): string => {
      const own = this.path('venv', 'bin', name);
      const found = existsSync(own) ? own : findIreeTool(name)?.path;
      if (found !== undefined || this.options.dryRun) return found ?? own;
      throw fail(`No ${name} was found.`, "Run 'wavesmith rocmlir setup iree' first.");
    };
    const links = [
      ['iree-compile', tool('iree-compile')],
      ['iree-run-module', tool('iree-run-module')],
      ['iree-export', shim],
    ] as const;
    for (const [name, target] of links) {
      this.make(this.path('bin', name), `a link to ${target}`, () => symlinkSync(target, this.path('bin', name)));
    }
  }

  config(): void {
    this.dirs();
    const yaml = `---\n${CONFIG.map((flag) => `- "${flag}"\n`).join('')}`;
    const [configFile, environment] = [this.path('config', 'iree-config.yaml'), this.path('setup-env.sh')];
    const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
    const lines = [
      `export IREE_BIN=${quoted(this.path('bin'))}`,
      `export IREE_CONFIG=${quoted(configFile)}`,
      'export MIGRAPHX_ENABLE_MLIR=1',
    ];
    this.make(configFile, 'written', () => writeFileSync(configFile, yaml));
    this.make(environment, 'written', () => writeFileSync(environment, `${lines.join('\n')}\n`));
  }

  async check(): Promise<void> {
    const { say, dryRun } = this.options;
    if (dryRun) {
      say('each tool would be run, and a small module taken through iree-export');
      return;
    }
    for (const [name, args] of [
      ['iree-compile', ['--version']],
      ['iree-run-module', ['--help']],
      ['iree-export', ['--help']],
    ] as const) {
      const path = this.path('bin', name);
      if (!existsSync(path)) throw fail(`'${path}' is missing.`, "Run 'wavesmith rocmlir setup all'.");
      const run = await runTool(path, args, { timeout: 60_000 });
      if (run.status !== 0)
        throw fail(`'${path} ${args.join(' ')}' failed (exit code ${run.status}).`, 'Run it by hand to see why.');
      const version = name === 'iree-compile' ? (/IREE compiler version \S+/.exec(run.stdout)?.[0] ?? '') : 'runs';
      say(`ok  ${path}: ${version}`);
    }
    const configFile = this.path('config', 'iree-config.yaml');
    const config = existsSync(configFile) ? { IREE_CONFIG: configFile } : {};
    const environment = readEnvironment({ IREE_BIN: this.path('bin'), ...config });
    const { result, failure } = await exportModule(MODULE, {
      arch: 'gfx942',
      features: '+sramecc,-xnack',
      environment,
    });
    if (failure !== undefined) throw failure;
    const { elf, sequence } = selectProgram(result);
    say(`ok  a module of one dot product: ${sequence.steps[0].kernel}, code object of ${elf.length} bytes`);
  }

  clean(): void {
    const { root, dryRun, say } = this.options;
    if (this.made.length === 0) {
      say(`${root}: nothing was made here by this set-up`);
      return;
    }
    for (const name of [...this.made].reverse()) {
      const path = this.path(name);
      if (!existsSync(path) && !isLink(path)) continue;
      // Folders other than the Python environment go only when nobody put anything into them.
      const isFolder = lstatSync(path).isDirectory();
      if (isFolder && name !== 'venv' && readdirSync(path).length > 0 && !dryRun) {
        say(`${path}: kept, it holds other files`);
        continue;
      }
      say(`${path}: ${dryRun ? 'would be ' : ''}removed`);
      if (!dryRun) rmSync(path, { recursive: name === 'venv' || isFolder, force: true });
    }
    if (dryRun) return;
    rmSync(this.path(RECORD), { force: true });
    if (readdirSync(root).length === 0) rmdirSync(root);
  }
}

function isLink(path: string): boolean {
  return existsSync(dirname(path)) && lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/** The record's paths; a damaged record undoes nothing. */
function readRecord(path: string): string[] {
  const bad = (): WavesmithError => fail(`'${path}' is no record of this set-up.`, 'Remove the folder by hand.');
  let data: unknown;
  try {
    data = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    if (cause instanceof SyntaxError) throw bad();
    throw cause;
  }
  const made = typeof data === 'object' && data !== null && 'made' in data ? data.made : undefined;
  // Only what this set-up makes: a record that was edited must not remove other files.
  const known = new Set([
    'bin',
    'config',
    'venv',
    'setup-env.sh',
    'config/iree-config.yaml',
    ...['iree-compile', 'iree-run-module', 'iree-export'].map((name) => `bin/${name}`),
  ]);
  if (Array.isArray(made) && made.every((name): name is string => typeof name === 'string' && known.has(name)))
    return made;
  throw bad();
}

/** Runs steps in order. Throws `rocmlir/setup` at the first that fails; what was made stays recorded. */
export async function setUp(steps: readonly SetupStep[], options: SetupOptions): Promise<void> {
  const setup = new Setup(options);
  for (const step of steps) await setup[step]();
}
