// Room `hijack`: the hijack loop for programs and code objects: what a program loads becomes a folder of assembly, edited kernels take the place
// of its own when they are loaded, both run on the same memory and are compared. IREE modules have their own loop in `iree`, whose parts this uses.
// Begin with this file, build.ts and run.ts, the three steps of the loop; program-host.ts runs a program, variables.ts links edited code to its memory.
//
// Making a hijack folder from what a program loads, or from a file that holds code objects.
import { basename, join } from 'node:path';
import { WavesmithError } from '../base/index.ts';
import { formatProcessorAndFeatures } from '../codeobject/elf/target-id.ts';
import { extractCodeObjects, openContainer } from '../codeobject/index.ts';
import { readFacts } from '../iree/facts.ts';
import { readWhole, sha256, writeWhole } from '../iree/files.ts';
import type { InitOptions } from '../iree/init.ts';
import { layOutFolder } from '../iree/init.ts';
import { writeManifest } from '../iree/manifest.ts';
import { type ChosenFile, chooseText } from '../iree/texts.ts';
import type { ToolDispatch } from '../runtime/tool-records.ts';
import { EVERY_DISPATCH, type ToolListener } from '../runtime/tool-server.ts';
import type { Launch, ProgramCode, ProgramManifest } from './manifest.ts';
import { type ProgramDevice, type ProgramRun, runProgram } from './program-host.ts';

export interface InitProgramOptions extends InitOptions {
  /** Code objects without such a kernel are left out. */
  readonly kernel?: RegExp | undefined;
  readonly report: (text: string) => void;
}

export interface ProgramInitResult {
  readonly folder: string;
  readonly manifest: ProgramManifest;
  readonly remarks: readonly string[];
  /** Null for a file. */
  readonly run: Pick<ProgramRun, 'status' | 'seconds'> | null;
}

/** A code object that was found, and how its kernels were launched. */
interface Found {
  readonly bytes: Uint8Array;
  readonly origin: string;
  readonly launches: Map<string, Launch[]>;
}

/** Runs a program and makes a folder of every code object that it loads. */
export async function initFromProgram(
  command: readonly string[],
  folder: string,
  device: ProgramDevice,
  options: InitProgramOptions & { readonly show: 'stdout' | 'stderr' },
): Promise<ProgramInitResult> {
  const found = new Map<string, Found>();
  const remarks: string[] = [];
  let programs = 0;
  const listener: ToolListener = {
    plan: ({ bytes, uri }) => {
      const hash = sha256(bytes);
      if (!found.has(hash)) found.set(hash, { bytes, origin: uri, launches: new Map() });
      return { kernels: [] };
    },
    onProgram: () => programs++,
    onDispatch: (dispatch) => noteLaunch(found, dispatch),
    onNote: ({ text }) => remarks.push(text),
  };
  const run = await runProgram(listener, {
    device,
    command,
    range: EVERY_DISPATCH,
    show: options.show,
    report: options.report,
  });
  const how = run.fault ?? (run.status === 0 ? undefined : `it ended with status ${run.status}`);
  if (how !== undefined) remarks.push(`The program did not end well: ${how.split('\n')[0]}`);
  if (found.size === 0) {
    throw new WavesmithError('hijack/no-code', `'${command.join(' ')}' loaded no code object.`, {
      hint:
        programs === 0
          ? `It did not start the HSA runtime (status ${run.status}); does it use the GPU, and which libhsa-runtime64 does it load?`
          : 'It started the HSA runtime and ran no kernel of its own.',
    });
  }
  const manifest = await layOutCode(folder, { kind: 'program', command }, [...found.values()], options);
  return { folder, manifest, remarks, run };
}

function noteLaunch(found: ReadonlyMap<string, Found>, dispatch: ToolDispatch): void {
  const { code, kernel, grid, block, groupSegment } = dispatch;
  if (code === undefined || kernel === undefined) return;
  const entry = found.get(sha256(code.bytes));
  const launches = entry?.launches.get(kernel) ?? [];
  const launch = { grid, block, ldsBytes: groupSegment };
  if (!launches.some((l) => JSON.stringify(l) === JSON.stringify(launch))) launches.push(launch);
  entry?.launches.set(kernel, launches);
}

/** Makes a folder of the code objects in a file: a code object, a bundle, a program with embedded ones. */
export async function initFromCode(
  path: string,
  folder: string,
  options: InitProgramOptions & { readonly target?: string | undefined },
): Promise<ProgramInitResult> {
  const bytes = readWhole(path, 'the file');
  const { target } = options;
  const all = extractCodeObjects(openContainer(bytes, basename(path)));
  const chosen =
    target === undefined ? all : all.filter((c) => c.targetId.replace(/^.*--/, '').split(':')[0] === target);
  if (chosen.length === 0) {
    throw new WavesmithError(
      'container/no-gpu-code',
      `'${path}' holds no code object${target === undefined ? '' : ` for ${target}`}.`,
      { file: path, hint: 'wavesmith inspect shows what it holds.' },
    );
  }
  const found = chosen.map((c): Found => ({ bytes: c.bytes, origin: c.path.join(' > '), launches: new Map() }));
  const manifest = await layOutCode(folder, { kind: 'code', path, sha256: sha256(bytes) }, found, options);
  return { folder, manifest, remarks: [], run: null };
}

async function layOutCode(
  folder: string,
  source: ProgramManifest['source'],
  all: readonly Found[],
  options: InitProgramOptions,
): Promise<ProgramManifest> {
  const names = new Set<string>();
  const files: ChosenFile[] = [];
  const codes: { readonly path: string; readonly bytes: Uint8Array }[] = [];
  const executables: ProgramCode[] = [];
  let target = '';
  for (const { bytes, origin, launches } of all) {
    const facts = readFacts(bytes);
    const kernels = [...facts.kernels.keys()];
    if (kernels.length === 0 || (options.kernel !== undefined && !kernels.some((k) => options.kernel?.test(k))))
      continue;
    const name = uniqueName(kernels, names);
    const text = await chooseText({
      name,
      kernels,
      facts,
      dumped: undefined,
      whole: options.whole === true,
      comments: options.comments ?? { addresses: false, encodings: false },
    });
    const [main, ...parts] = text.files;
    const code = join('code', `${name}.co`);
    const asm = (path: string): string => join('asm', path);
    target = facts.targetName;
    files.push(...text.files);
    codes.push({ path: code, bytes });
    executables.push({
      name,
      target: formatProcessorAndFeatures(facts.target),
      asm: asm(main.path),
      asmSha256: sha256(main.text),
      ...(parts.length === 0
        ? {}
        : { parts: parts.map((p) => ({ kernel: p.kernel ?? '', asm: asm(p.path), sha256: sha256(p.text) })) }),
      asmFrom: text.from,
      codeSha256: sha256(bytes),
      codeBytes: bytes.length,
      code,
      origin,
      kernels: [...facts.kernels.values()].map((k) => ({
        name: k.name,
        kernargSize: k.descriptor.kernargSize,
        ldsBytes: k.descriptor.groupSegmentFixedSize,
        launches: launches.get(k.name) ?? [],
      })),
    });
  }
  if (executables.length === 0) {
    const what = options.kernel === undefined ? 'kernels' : `a kernel that matches ${String(options.kernel)}`;
    throw new WavesmithError('hijack/no-code', `None of ${all.length} code object(s) has ${what}.`, {
      hint: 'Without --kernel all code objects are taken that have kernels.',
    });
  }
  const manifest: ProgramManifest = { format: 'wavesmith-hijack', version: 1, source, target, executables };
  layOutFolder(folder, options.force, files, (partial) => {
    for (const { path, bytes } of codes) writeWhole(join(partial, path), bytes);
    writeManifest(partial, manifest);
  });
  return manifest;
}

const LONGEST_NAME = 120;

/** A name for a code object: that of its first kernel, fit for a file. */
function uniqueName(kernels: readonly string[], taken: Set<string>): string {
  const [first = 'code'] = kernels;
  const stem = first.replace(/[^\w.$-]/g, '_').slice(0, LONGEST_NAME);
  let name = stem;
  for (let n = 2; taken.has(name.toLowerCase()); n++) name = `${stem}-${n}`;
  taken.add(name.toLowerCase());
  return name;
}
