// Making a hijack folder: one baseline compile with every dump, or an existing module; assembly per executable, manifest.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, extname, join, resolve } from 'node:path';
import { inFile, WavesmithError } from '../base/index.ts';
import { formatProcessorAndFeatures } from '../codeobject/elf/target-id.ts';
import { isTargetName, TARGET_LIST } from '../isa/table/targets.ts';
import { makeFolders } from '../snapshot/folders.ts';
import { compile, probeCompiler, takeTarget, targetFlags } from './compiler.ts';
import { type KernelRecord, readKernelRecords } from './dispatches.ts';
import { kernelNamesOf, type TextFile } from './engine.ts';
import { readFacts } from './facts.ts';
import { readWhole, sha256, withTemporaryFolder, writeWhole } from './files.ts';
import {
  type Manifest,
  type ManifestExecutable,
  type ManifestKernel,
  type ManifestPart,
  writeManifest,
} from './manifest.ts';
import { type IreeModule, type ModuleExecutable, readModule, readModuleDispatches } from './module.ts';
import { type ChosenText, chooseText, type TextComments } from './texts.ts';
import { requireIreeTool } from './tools.ts';

export interface InitOptions {
  /** One text for each executable, however many kernels it has. */
  readonly whole?: boolean | undefined;
  /** Comments of disassembled texts. */
  readonly comments?: TextComments | undefined;
  /** Replace an existing hijack folder. */
  readonly force: boolean;
}

export interface InitMlirOptions extends InitOptions {
  readonly target: string;
  /** Flags after `--`, handed to iree-compile. */
  readonly extra: readonly string[];
  /** Keep IREE's linking of all dispatches into one executable. */
  readonly link: boolean;
}

export interface InitResult {
  readonly folder: string;
  readonly manifest: Manifest;
  readonly compileSeconds: number | null;
  /** What could not be found out, one sentence each. */
  readonly remarks: readonly string[];
}

const LINK_FLAG = '--iree-hal-link-executables';

/** Compiles INPUT.mlir once and lays out the folder. */
export async function initFromMlir(input: string, folder: string, options: InitMlirOptions): Promise<InitResult> {
  if (!isTargetName(options.target)) {
    throw new WavesmithError('hijack/target', `There is no target '${options.target}'.`, {
      hint: `Targets are ${TARGET_LIST}.`,
    });
  }
  const extra = takeTarget(options.extra, options.target).rest;
  const source = readWhole(input, 'the MLIR input');
  const compiler = await probeCompiler(requireIreeTool('iree-compile'));
  const linkFlags = options.link || extra.some((f) => f.startsWith(LINK_FLAG)) ? [] : [`${LINK_FLAG}=false`];
  const flags = [...targetFlags(compiler, options.target, extra), ...linkFlags, ...extra];
  return withTemporaryFolder(async (dumps) => {
    const baseline = join(dumps, 'baseline.vmfb');
    const dumpFlags = [
      // Not the sources: their paths would get into the module.
      ...['intermediates', 'binaries', 'benchmarks'].map(
        (what) => `--iree-hal-dump-executable-${what}-to=${join(dumps, 'files')}`,
      ),
      `--dump-compilation-phases-to=${join(dumps, 'phases')}`,
      ...compiler.elideFlags,
    ];
    const args = [...flags, ...dumpFlags, input, '-o', baseline];
    const { seconds } = await compile(compiler, args);
    const module = readWhole(baseline, 'the baseline module');
    const records = readPhases(join(dumps, 'phases'));
    const texts = readDumpedAssembly(join(dumps, 'files'));
    const executables: DescribedExecutable[] = [];
    for (const executable of readModule(module).executables) {
      const text = texts.find(({ kernels }) => sameNames(kernels, executable));
      const names = new Set(
        executable.kernels.map((kernel) => records.get(kernel.name)?.executable ?? text?.executable ?? null),
      );
      const [only] = names;
      const name = names.size === 1 && only !== null ? only : (text?.executable ?? nameOf(executable));
      executables.push(await describe(executable, name, text?.text, records, options));
    }
    requireExecutables(input, executables.length);
    const copy = join('input', basename(input));
    const manifest: Manifest = {
      format: 'wavesmith-hijack',
      version: 1,
      source: { kind: 'mlir', path: input, sha256: sha256(source), copy },
      target: options.target,
      compiler: {
        path: compiler.path,
        version: compiler.version,
        targetFlag: compiler.targetFlag,
        commandLine: [compiler.path, ...flags, input, '-o', join(folder, 'baseline.vmfb')],
        flags,
        linked: linkFlags.length === 0,
      },
      baseline: { file: 'baseline.vmfb', sha256: sha256(module), bytes: module.length },
      executables: executables.map((e) => e.entry),
    };
    layOut(folder, options.force, manifest, module, executables, (partial) => {
      makeFolders(join(partial, 'input'));
      copyFileSync(input, join(partial, copy));
      mkdirSync(join(partial, 'dumps'));
      for (const name of readdirSync(join(dumps, 'files'))) {
        copyFileSync(join(dumps, 'files', name), join(partial, 'dumps', name));
      }
    });
    return { folder, manifest, compileSeconds: seconds, remarks: [] };
  });
}

/** Lays out the folder from a compiled module; the assembly is disassembled from its code objects. */
export async function initFromModule(input: string, folder: string, options: InitOptions): Promise<InitResult> {
  const module = readWhole(input, 'the module');
  const remarks: string[] = [];
  const read = inFile(input, () => readModule(module));
  const records = recordsOfModule(read, remarks);
  const executables: DescribedExecutable[] = [];
  for (const executable of read.executables) {
    executables.push(await describe(executable, nameOf(executable), undefined, records, options));
  }
  requireExecutables(input, executables.length);
  const manifest: Manifest = {
    format: 'wavesmith-hijack',
    version: 1,
    source: { kind: 'vmfb', path: input, sha256: sha256(module), copy: null },
    target: executables[0].entry.target.replace(/:.*/, ''),
    compiler: null,
    baseline: { file: 'baseline.vmfb', sha256: sha256(module), bytes: module.length },
    executables: executables.map((e) => e.entry),
  };
  layOut(folder, options.force, manifest, module, executables, () => {});
  return { folder, manifest, compileSeconds: null, remarks };
}

function requireExecutables(input: string, count: number): void {
  if (count > 0) return;
  throw new WavesmithError('hijack/no-executables', `'${input}' gives no AMDGPU executable.`, {
    hint: 'Was it compiled for another device, or does it only move data? See wavesmith inspect.',
  });
}

/** What the host program's bytecode says about each kernel; element types are not in it. */
function recordsOfModule(module: IreeModule, remarks: string[]): Map<string, KernelRecord> {
  try {
    const sites = readModuleDispatches(module);
    return new Map([...sites].map(([name, dispatches]) => [name, { executable: null, bindings: [], dispatches }]));
  } catch (error) {
    // Without its host program a module can neither be run nor compared.
    if (!(error instanceof WavesmithError) || error.code === 'vmfb/bytecode-version') throw error;
    remarks.push(`grids and sizes are not recorded: ${error.message}`);
    return new Map();
  }
}

interface DescribedExecutable {
  readonly entry: ManifestExecutable;
  readonly files: ChosenText['files'];
}

async function describe(
  executable: ModuleExecutable,
  name: string,
  dumped: string | undefined,
  records: ReadonlyMap<string, KernelRecord>,
  options: InitOptions,
): Promise<DescribedExecutable> {
  const facts = readFacts(executable.codeObject);
  const kernels = executable.kernels.map((kernel): ManifestKernel => {
    const found = facts.kernels.get(kernel.name);
    if (found === undefined) {
      throw new WavesmithError(
        'hijack/damaged-module',
        `The module launches kernel '${kernel.name}', but the code object of that executable does not have it.`,
        { hint: 'The module is damaged; compile it again.' },
      );
    }
    const record = records.get(kernel.name);
    return {
      name: kernel.name,
      executable: record?.executable ?? null,
      workgroupSize: kernel.workgroupSize,
      kernargSize: found.descriptor.kernargSize,
      ldsBytes: found.descriptor.groupSegmentFixedSize,
      constants: kernel.constants,
      bindings: kernel.bindings.map((binding, i) => ({ ...binding, tensors: record?.bindings[i] ?? [] })),
      dispatches: record?.dispatches ?? [],
    };
  });
  const text = await chooseText({
    name: fileName(name),
    kernels: executable.kernels.map((k) => k.name),
    facts,
    dumped,
    whole: options.whole === true,
    comments: options.comments ?? { addresses: false, encodings: false },
  });
  const [main, ...parts] = text.files;
  const asm = (path: string): string => join('asm', path);
  const partEntry = ({ kernel, path, text: content }: ChosenText['files'][0]): ManifestPart => ({
    kernel: kernel ?? '',
    asm: asm(path),
    sha256: sha256(content),
  });
  return {
    files: text.files,
    entry: {
      name,
      index: executable.index,
      format: executable.format,
      target: formatProcessorAndFeatures(facts.target),
      asm: asm(main.path),
      asmSha256: sha256(main.text),
      ...(parts.length === 0 ? {} : { parts: parts.map(partEntry) }),
      asmFrom: text.from,
      ...(text.why === null ? {} : { asmWhy: text.why }),
      codeSha256: sha256(executable.codeObject),
      codeBytes: executable.codeObject.length,
      kernels,
    },
  };
}

/** A file name for an executable; its symbol may hold characters that shells and file systems dislike. */
function fileName(name: string): string {
  return name.replace(/[^\w.$-]/g, '_');
}

/** The module's own name of an executable, else `matmul_dispatch_0` of its one kernel; others are numbered. */
function nameOf({ name, kernels, index }: ModuleExecutable): string {
  const single = kernels.length === 1 ? /^(.*_dispatch_\d+)(?:_|$)/.exec(kernels[0].name)?.[1] : undefined;
  return name ?? single ?? `executable_${index}`;
}

function readPhases(folder: string): Map<string, KernelRecord> {
  const names = readdirSync(folder);
  const phase = (suffix: string): string => {
    const name = names.find((n) => n.endsWith(suffix));
    return name === undefined ? '' : readFileSync(join(folder, name), 'utf8');
  };
  return readKernelRecords(phase('.executable-sources.mlir'), phase('.hal.mlir'));
}

interface DumpedAssembly {
  readonly executable: string;
  readonly kernels: ReadonlySet<string>;
  readonly text: string;
}

/** Every dumped .rocmasm with the kernels it defines. */
function readDumpedAssembly(folder: string): DumpedAssembly[] {
  const dumps: DumpedAssembly[] = [];
  for (const name of readdirSync(folder)) {
    if (extname(name) !== '.rocmasm') continue;
    const text = readFileSync(join(folder, name), 'utf8');
    dumps.push({ executable: executableOfDump(name), kernels: new Set(kernelNamesOf(text)), text });
  }
  return dumps;
}

/** `matmul_dispatch_0` of `module_matmul_dispatch_0_rocm_hsaco_fb.rocmasm`; the module may have another name. */
export function executableOfDump(file: string): string {
  const stem = basename(file).replace(/(?:_rocm_hsaco_fb)?\.(?:rocmasm|s)$/, '');
  return stem.replace(/^module_/, '');
}

function sameNames(kernels: ReadonlySet<string>, executable: ModuleExecutable): boolean {
  return kernels.size > 0 && executable.kernels.every((kernel) => kernels.has(kernel.name));
}

function layOut(
  folder: string,
  force: boolean,
  manifest: Manifest,
  module: Uint8Array,
  executables: readonly DescribedExecutable[],
  more: (partial: string) => void,
): void {
  const files = executables.flatMap((e) => e.files);
  layOutFolder(folder, force, files, (partial) => {
    more(partial);
    writeWhole(join(partial, 'baseline.vmfb'), module);
    writeManifest(partial, manifest);
  });
}

/**
 * Makes a hijack folder with texts to edit and the same texts as they were; `more` writes the rest. Everything is written beside the final
 * folder first, so that a failure leaves no half-made one.
 */
export function layOutFolder(
  folder: string,
  force: boolean,
  texts: readonly TextFile[],
  more: (partial: string) => void,
): void {
  const target = resolve(folder);
  const existing = listOrUndefined(target);
  if (existing !== undefined && existing.length > 0) {
    if (!force) {
      throw new WavesmithError('hijack/folder-exists', `'${folder}' already exists and is not empty.`, {
        hint: 'Choose another folder, or give --force to replace a hijack folder (edits in it are lost).',
      });
    }
    if (!existing.includes('manifest.json')) {
      throw new WavesmithError('hijack/folder-exists', `'${folder}' is not a hijack folder, so it is not replaced.`, {
        hint: 'Choose another folder.',
      });
    }
  }
  const partial = `${target}.tmp-${process.pid}`;
  try {
    makeFolders(partial);
    for (const { path, text } of texts) {
      writeWhole(join(partial, 'asm', path), text);
      writeWhole(join(partial, 'baseline', path), text);
    }
    more(partial);
    if (existing !== undefined) rmSync(target, { recursive: true });
    renameSync(partial, target);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    if (error instanceof WavesmithError) throw error;
    throw new WavesmithError('io/write', `Cannot make folder '${folder}': ${(error as Error).message}.`);
  }
}

function listOrUndefined(folder: string): string[] | undefined {
  try {
    return readdirSync(folder);
  } catch {
    return undefined;
  }
}
