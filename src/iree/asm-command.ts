// One edited assembly file into a freshly compiled module: the shell script everyone uses (assemble, link, compile with
// --iree-hal-substitute-executable-object), with every step checked against a baseline compile of the same input.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { WavesmithError } from '../base/index.ts';
import { formatProcessorAndFeatures } from '../codeobject/elf/target-id.ts';
import { isTargetName, TARGET_LIST } from '../isa/table/targets.ts';
import { checkSubstitutions, compile, type IreeCompiler, probeCompiler, takeTarget, targetFlags } from './compiler.ts';
import { type KernelRecord, readKernelRecords } from './dispatches.ts';
import { checkSource } from './edited-text.ts';
import { assemble, type EngineName, kernelNamesOf, readTargetDirective, type Source } from './engine.ts';
import { readFacts } from './facts.ts';
import { readText, readWhole, sha256, withTemporaryFolder, writeWhole } from './files.ts';
import { executableOfDump } from './init.ts';
import { type ModuleExecutable, readModule } from './module.ts';
import { type ChangeReport, describeChange } from './report.ts';
import { requireIreeTool } from './tools.ts';
import { verifyReplacement } from './verify.ts';

export interface AsmCommandOptions {
  /** Executable to replace; found out from the kernels of the assembly when absent. */
  readonly executable?: string | undefined;
  /** Flags for iree-compile. */
  readonly extra: readonly string[];
  /** GPU_TARGET of the environment; must agree with the file's own `.amdgcn_target`. */
  readonly gpuTarget?: string | undefined;
  readonly engine: EngineName;
}

export interface AsmCommandResult {
  readonly executable: string;
  readonly kernels: readonly string[];
  readonly target: string;
  readonly output: string;
  readonly bytes: number;
  readonly codeSha256: string;
  readonly change: ChangeReport;
  readonly remarks: readonly string[];
}

/** Replaces one executable of INPUT.mlir by MODIFIED.s and writes the compiled module. */
export async function assembleInto(
  modified: string,
  input: string,
  output: string,
  options: AsmCommandOptions,
): Promise<AsmCommandResult> {
  const text = readText(modified, 'the assembly');
  readWhole(input, 'the MLIR input');
  const target = chooseTarget(text, modified, options.gpuTarget);
  const extra = takeTarget(options.extra, target).rest;
  const compiler = await probeCompiler(requireIreeTool('iree-compile'));
  return withTemporaryFolder(async (work) => {
    const flags = [...targetFlags(compiler, target, extra), ...extra];
    const { module, records } = await compileBaseline(compiler, flags, input, work);
    const kernels = kernelNamesOf(text);
    const name = chooseExecutable(kernels, records, modified, options.executable);
    const executable = ownerOf(module, kernels, name);
    const before = readFacts(executable.codeObject);
    const source: Source = { main: { path: modified, text }, included: [] };
    const baselineTarget = formatProcessorAndFeatures(before.target);
    checkSource(source, baselineTarget);
    const { code } = await assemble(options.engine, source, baselineTarget);
    const after = readFacts(code);
    const remarks = verifyReplacement(before, after, executable.kernels, source);
    writeFileSync(join(work, 'modified.hsaco'), code);
    const compiled = join(work, 'modified.vmfb');
    const { stderr } = await compile(compiler, [
      ...flags,
      `--iree-hal-executable-object-search-path=${work}`,
      `--iree-hal-substitute-executable-object=${name}=modified.hsaco`,
      input,
      '-o',
      compiled,
    ]);
    checkSubstitutions(stderr, [name], executableNames(records));
    const result = readWhole(compiled, 'the compiled module');
    const compiledCode = readModule(result).executables;
    for (const kernel of executable.kernels) {
      const now = compiledCode.find((e) => e.kernels.some((k) => k.name === kernel.name));
      if (now !== undefined && sha256(now.codeObject) === sha256(code)) continue;
      throw new WavesmithError('hijack/not-proven', `The compiled module does not hold the edit of '${kernel.name}'.`, {
        hint: 'Nothing was written. Use hijack init and hijack build --via patch instead.',
      });
    }
    writeWhole(output, result);
    return {
      executable: name,
      kernels: executable.kernels.map((k) => k.name),
      target,
      output,
      bytes: result.length,
      codeSha256: sha256(code),
      change: describeChange(before, after),
      remarks,
    };
  });
}

function chooseTarget(text: string, file: string, gpuTarget: string | undefined): string {
  const directive = readTargetDirective(text);
  const target = directive?.processor ?? gpuTarget?.replace(/:.*/, '') ?? 'gfx950';
  if (gpuTarget !== undefined && gpuTarget.replace(/:.*/, '') !== target) {
    throw new WavesmithError(
      'hijack/target-mismatch',
      `GPU_TARGET is ${gpuTarget}, but the assembly is for ${directive?.processorAndFeatures}.`,
      {
        file,
        line: directive?.line,
        hint: `Set GPU_TARGET=${target}, or take assembly of a compilation for ${gpuTarget}.`,
      },
    );
  }
  if (!isTargetName(target)) {
    throw new WavesmithError('hijack/target', `The assembly is for ${target}, which is not supported.`, {
      file,
      line: directive?.line,
      hint: `Supported targets are ${TARGET_LIST}.`,
    });
  }
  return target;
}

/** Compiles the input as it is, every dispatch by itself, to know its executables and what their kernels look like. */
async function compileBaseline(
  compiler: IreeCompiler,
  flags: readonly string[],
  input: string,
  work: string,
): Promise<{ module: readonly ModuleExecutable[]; records: Map<string, KernelRecord> }> {
  const phases = join(work, 'phases');
  mkdirSync(phases);
  const output = join(work, 'baseline.vmfb');
  const unlinked = flags.some((flag) => flag.startsWith('--iree-hal-link-executables'))
    ? []
    : ['--iree-hal-link-executables=false'];
  await compile(compiler, [
    ...flags,
    ...unlinked,
    ...compiler.elideFlags,
    `--dump-compilation-phases-to=${phases}`,
    input,
    '-o',
    output,
  ]);
  const sources = readdirSync(phases).find((n) => n.endsWith('.executable-sources.mlir'));
  const text = sources === undefined ? '' : readFileSync(join(phases, sources), 'utf8');
  return {
    module: readModule(readWhole(output, 'the baseline module')).executables,
    records: readKernelRecords(text, ''),
  };
}

function executableNames(records: ReadonlyMap<string, KernelRecord>): string[] {
  return [...new Set([...records.values()].flatMap((r) => (r.executable === null ? [] : [r.executable])))];
}

function chooseExecutable(
  kernels: readonly string[],
  records: ReadonlyMap<string, KernelRecord>,
  file: string,
  asked: string | undefined,
): string {
  const all = executableNames(records);
  const list = `The module's executables are: ${all.join(', ') || '(none)'}.`;
  const owners = [...new Set(kernels.flatMap((kernel) => records.get(kernel)?.executable ?? []))];
  if (owners.length > 1) {
    throw new WavesmithError(
      'hijack/linked-assembly',
      `'${basename(file)}' is the assembly of a linked module: it holds kernels of ${owners.length} executables ` +
        `(${owners.slice(0, 4).join(', ')}${owners.length > 4 ? ', …' : ''}), and one executable is substituted at a time.`,
      {
        file,
        hint:
          "Dump with --iree-hal-link-executables=false and edit one dispatch, or use 'wavesmith hijack init', which does " +
          'that by default and also takes linked modules with --link.',
      },
    );
  }
  if (asked !== undefined && !all.includes(asked)) {
    throw new WavesmithError('hijack/no-such-executable', `The module has no executable '${asked}'.`, { hint: list });
  }
  if (owners.length === 0) {
    const derived = asked ?? executableOfDump(file);
    throw new WavesmithError(
      'hijack/stale-asm',
      `None of the kernels in '${basename(file)}' (${kernels.join(', ') || 'it defines none'}) exists in this compilation` +
        `${all.includes(derived) ? ` of '${derived}'` : ''}.`,
      {
        file,
        hint: `Assembly and module must come from the same input and the same flags; pass the flags of the dump. ${list}`,
      },
    );
  }
  if (asked !== undefined && asked !== owners[0]) {
    throw new WavesmithError(
      'hijack/wrong-executable',
      `The kernel in '${basename(file)}' belongs to executable '${owners[0]}', not to '${asked}'.`,
      { file, hint: `Give ${owners[0]}, or leave the name out.` },
    );
  }
  return owners[0];
}

function ownerOf(module: readonly ModuleExecutable[], kernels: readonly string[], name: string): ModuleExecutable {
  const found = module.find((executable) => executable.kernels.some((k) => kernels.includes(k.name)));
  if (found !== undefined) return found;
  throw new WavesmithError(
    'hijack/stale-asm',
    `Executable '${name}' of this compilation has none of the file's kernels.`,
    {
      hint: 'Assembly and module must come from the same input and the same flags.',
    },
  );
}
