// Room `optimize/iree`: modules of IREE, compiled again with other lowering configurations. Begin with this file: a model that iree-compile makes a
// module of, and one of its functions, run by iree-run-module on the virtual GPU. Then module-workshop.ts, which judges another module of it.
import { rmSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { WavesmithError } from '../../base/index.ts';
import { readSignatures, readVmfb, type VmfbSignature } from '../../codeobject/index.ts';
import { type IreeCompiler, probeCompiler, takeTarget, targetFlags } from '../../iree/compiler.ts';
import { readText, readWhole } from '../../iree/files.ts';
import { makeInputs } from '../../iree/inputs.ts';
import { type Output, outputFiles, readOutput } from '../../iree/outputs.ts';
import { parameterFlags } from '../../iree/parameters.ts';
import { requireIreeTool } from '../../iree/tools.ts';
import type { Capture } from '../../snapshot/index.ts';
import { type CommandPlace, recordProgram, runCommand, tailOf } from '../command.ts';
import { newScratch } from '../scratch.ts';

export interface ModelOptions {
  /** Where `model`, `spec` and files of inputs and weights lie. It is read, and not written. */
  readonly folder: string;
  /** The model, as iree-compile takes it. */
  readonly model: string;
  /** A tuning specification with `{name}` for values. */
  readonly spec: string | undefined;
  readonly function: string | undefined;
  /** As of `wavesmith hijack run --input`; none: seeded. */
  readonly inputs: readonly string[];
  /** Parameter archives, `SCOPE=FILE`. */
  readonly weights: readonly string[];
  /** `gfx942`, also with features. */
  readonly target: string;
  readonly seed: number;
  /** How this command line is started. */
  readonly wavesmith: readonly string[];
  /** Seconds that a compilation or a run may take. */
  readonly timeout: number;
  readonly signal?: AbortSignal | undefined;
}

/** A compiled model. */
export interface Module {
  readonly path: string;
  readonly signature: VmfbSignature;
}

/** What a run of the function did. */
export interface ModuleRun {
  /** Every dispatch, in order. */
  readonly dispatches: readonly Capture[];
  readonly outputs: readonly Output[];
}

/** Dispatches that a function may have: each is recorded and judged. */
const MOST_DISPATCHES = 256;
/** One executable for each dispatch: what is judged of one says nothing about others. */
const UNLINKED = '--iree-hal-link-executables=false';

export class Model {
  private readonly options: ModelOptions;
  private readonly compiler: IreeCompiler;
  private readonly scratch: string;
  private readonly spec: string | undefined;
  private count = 0;

  private constructor(options: ModelOptions, compiler: IreeCompiler, spec: string | undefined) {
    this.options = options;
    this.compiler = compiler;
    this.spec = spec;
    this.scratch = newScratch();
  }

  /** Finds the tools and reads what is given. A missing compiler is `tools/iree-not-found`. */
  static async open(options: ModelOptions): Promise<Model> {
    requireIreeTool('iree-run-module');
    const compiler = await probeCompiler(requireIreeTool('iree-compile'));
    readWhole(join(options.folder, options.model), 'the model');
    const spec =
      options.spec === undefined ? undefined : readText(join(options.folder, options.spec), 'the tuning specification');
    return new Model(options, compiler, spec);
  }

  close(): void {
    rmSync(this.scratch, { recursive: true, force: true });
  }

  /** What the compiler is, for records. */
  get version(): string {
    return this.compiler.version;
  }

  /** Bytes of the model. */
  source(): Uint8Array {
    return readWhole(join(this.options.folder, this.options.model), 'the model');
  }

  /** Text of the tuning specification with values in it; undefined when there is none. */
  specWith(fill: (text: string) => string): string | undefined {
    return this.spec === undefined ? undefined : fill(this.spec);
  }

  /** Compiles the model. What the compiler says against it is a text. */
  async compile(flags: readonly string[], spec: string | undefined): Promise<Module | string> {
    const { model, target, function: wanted } = this.options;
    const { rest } = takeTarget(flags, target);
    const path = join(this.scratch, `module${this.count++}.vmfb`);
    const own = [...targetFlags(this.compiler, target, rest), UNLINKED, ...rest];
    if (spec !== undefined) {
      const file = `${path}.spec.mlir`;
      writeFileSync(file, spec);
      own.push(`--iree-codegen-tuning-spec-path=${file}`);
    }
    const ran = await runCommand([this.compiler.path, ...own, model, '-o', path], this.place());
    if (ran.status !== 0)
      return firstError(ran.stderr) ?? (tailOf(ran) || 'iree-compile was stopped: it took too long');
    return { path, signature: signatureOf(readSignatures(readVmfb(readWhole(path, 'the module'))), wanted) };
  }

  /** Runs a module and records all its dispatches. What goes wrong is a text. `isBaseline`: memory is proved complete. */
  async run({ path, signature }: Module, isBaseline: boolean): Promise<ModuleRun | string> {
    const { wavesmith, target, inputs: given, weights, seed } = this.options;
    const stem = join(this.scratch, `run${this.count++}`);
    const inputs = makeInputs(signature, {
      given: given.map((text) => this.atHome(text)),
      seed,
      folder: `${stem}.inputs`,
    });
    const parameters = await parameterFlags(
      readWhole(path, 'the module'),
      weights.map((text) => this.atHome(text)),
    );
    const files = outputFiles(signature, stem);
    const outputs = files.map((file) => `--output=@${file}`);
    const flags = ['--device=hip', `--module=${path}`, `--function=${signature.name}`, ...inputs.flags, ...parameters];
    const program = [requireIreeTool('iree-run-module').path, ...flags, ...outputs];
    const device = `sim:${target.replace(/:.*/, '')}`;
    const dispatches = `0-${MOST_DISPATCHES}`;
    const how = isBaseline ? [] : ['--no-proof', '--no-orders'];
    const recording = { wavesmith, device, program, file: `${stem}.wscap`, dispatches, flags: how };
    const ran = await recordProgram(recording, this.place());
    if (ran.status !== 0) return tailOf(ran) || 'it was stopped: it took too long';
    if (ran.captures.length > MOST_DISPATCHES) {
      throw new WavesmithError('tune/bad-module', `'${signature.name}' has more than ${MOST_DISPATCHES} dispatches.`, {
        hint: 'Tune a part of the model: a function with the operations that take most of its time.',
      });
    }
    return { dispatches: ran.captures, outputs: files.map(readOutput) };
  }

  /** Removes what a run and a compilation left that nobody needs any more. */
  forget({ path }: Module, run: ModuleRun | undefined): void {
    rmSync(path, { force: true });
    rmSync(`${path}.spec.mlir`, { force: true });
    for (const { path: capture } of run?.dispatches ?? []) rmSync(capture, { recursive: true, force: true });
  }

  private place(): CommandPlace {
    const { folder, timeout, signal } = this.options;
    return { folder, timeout, signal };
  }

  /** A file of an input or of weights, from the folder of the model. */
  private atHome(text: string): string {
    const [, head = '', file = ''] = /^((?:[^@]*@|[^=/]*=)?)(.*\.(?:npy|bin|irpa|safetensors|gguf))$/.exec(text) ?? [];
    return file === '' || isAbsolute(file) ? text : `${head}${resolve(this.options.folder, file)}`;
  }
}

/** The first words of the compiler against a model. */
const firstError = (stderr: string): string | undefined =>
  stderr
    .split('\n')
    .find((line) => /\berror:/i.test(line))
    ?.trim();

function signatureOf(all: readonly VmfbSignature[], wanted: string | undefined): VmfbSignature {
  const chosen = wanted === undefined ? all : all.filter(({ name }) => name === wanted);
  const [one] = chosen;
  if (one !== undefined && chosen.length === 1) return one;
  const names = all.map(({ name }) => name).join(', ');
  const what =
    wanted === undefined ? `The module has ${all.length} functions` : `The module has no function '${wanted}'`;
  throw new WavesmithError('tune/bad-module', `${what}.`, {
    hint:
      names === ''
        ? 'Tuning runs a function that the model exports.'
        : `Name one with 'function:'. There are ${names}.`,
  });
}
