// The hijack loop for a capture: any kernel of any program, without the program. The folder holds capture.wscap, asm/KERNEL.s (to edit),
// baseline/KERNEL.s (the same as it was), manifest.json, and modified.co once it is built.
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { disassembleCodeObject } from '../asm/index.ts';
import { WavesmithError } from '../base/index.ts';
import type { Device } from '../device/index.ts';
import type { KernelProof } from '../equivalence/index.ts';
import { makeFolders } from '../snapshot/folders.ts';
import { type Capture, openCapture, type ReplayResult, replayCapture, rewriteCapture } from '../snapshot/index.ts';
import type { Objection } from '../verdict/index.ts';
import { checkEdit, checkFailed, type EditFinding } from './check-edit.ts';
import { assemble, type EngineName, type Source } from './engine.ts';
import { type CodeObjectFacts, changedKernels, readFacts, sameCode } from './facts.ts';
import { readText, readWhole, sha256, writeWhole } from './files.ts';
import { proveEdit } from './prove-edit.ts';
import { type ChangeReport, describeChange } from './report.ts';
import { verifyReplacement } from './verify.ts';

const FORMAT = 'wavesmith-hijack-capture';
const CAPTURE = 'capture.wscap';
const MODIFIED = 'modified.co';
/** Characters of a kernel's name that its file keeps. */
const NAME_LENGTH = 80;

export interface CapturedManifest {
  readonly format: typeof FORMAT;
  readonly version: 1;
  readonly kernel: string;
  readonly target: string;
  /** The file to edit. */
  readonly asm: string;
  readonly asmSha256: string;
  readonly codeSha256: string;
}

export interface CapturedInitOptions {
  readonly force: boolean;
  readonly addresses?: boolean | undefined;
  readonly encodings?: boolean | undefined;
}

/** Whether a folder was made by `initFromCapture`. */
export function isCapturedFolder(folder: string): boolean {
  return existsSync(join(folder, CAPTURE)) && existsSync(join(folder, 'manifest.json'));
}

/** Makes a hijack folder of a capture; the text assembles to the captured code. */
export async function initFromCapture(
  path: string,
  folder: string,
  options: CapturedInitOptions,
): Promise<CapturedManifest> {
  const capture = openCapture(path);
  const code = capture.codeObject();
  const { kernel } = capture.manifest.dispatch;
  const { addresses, encodings } = options;
  const text = disassembleCodeObject(code, { addresses, encodings });
  const name = `${kernel.replace(/[^\w.-]/g, '_').slice(0, NAME_LENGTH)}.s`;
  const manifest: CapturedManifest = {
    format: FORMAT,
    version: 1,
    kernel,
    target: capture.manifest.code.target,
    asm: `asm/${name}`,
    asmSha256: sha256(text),
    codeSha256: capture.manifest.code.sha256,
  };
  const before = readFacts(code);
  const { code: again } = await assemble('wavesmith', sourceOf(manifest.asm, text), manifest.target);
  if (!sameCode(before, readFacts(again))) {
    throw new Error(`the text of '${kernel}' does not assemble to the captured code`);
  }
  if (existsSync(folder)) {
    if (!options.force || !isCapturedFolder(folder)) {
      throw new WavesmithError('hijack/folder-exists', `'${folder}' exists already.`, {
        file: folder,
        hint: 'Choose another folder, or give --force to replace a hijack folder (edits in it are lost).',
      });
    }
  }
  const partial = `${folder}.tmp-${process.pid}`;
  try {
    makeFolders(partial);
    rewriteCapture(capture, join(partial, CAPTURE), {});
    writeWhole(join(partial, manifest.asm), text);
    writeWhole(join(partial, 'baseline', name), text);
    writeWhole(join(partial, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    rmSync(folder, { recursive: true, force: true });
    renameSync(partial, folder);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return manifest;
}

const sourceOf = (path: string, text: string): Source => ({ main: { path, text }, included: [] });

function readCapturedManifest(folder: string): CapturedManifest {
  const path = join(folder, 'manifest.json');
  const bad = (): WavesmithError =>
    new WavesmithError('hijack/bad-manifest', `'${path}' is not the manifest of a hijack folder of a capture.`, {
      file: path,
      hint: "Make the folder anew with 'wavesmith hijack init X.wscap'.",
    });
  let value: Partial<CapturedManifest>;
  try {
    value = JSON.parse(readText(path, 'the manifest')) as Partial<CapturedManifest>;
  } catch {
    throw bad();
  }
  const { format, kernel, asm, target } = value;
  const isName = typeof asm === 'string' && /^asm\/[\w.-]+\.s$/.test(asm);
  if (format !== FORMAT || typeof kernel !== 'string' || !isName || typeof target !== 'string') throw bad();
  return value as CapturedManifest;
}

interface Edited {
  readonly manifest: CapturedManifest;
  readonly capture: Capture;
  readonly before: CodeObjectFacts;
  readonly after: CodeObjectFacts;
  readonly source: Source;
  readonly isEdited: boolean;
  readonly findings: readonly EditFinding[];
}

async function readEdited(folder: string, engine: EngineName): Promise<Edited> {
  const manifest = readCapturedManifest(folder);
  const capture = openCapture(join(folder, CAPTURE));
  const before = readFacts(capture.codeObject());
  const path = join(folder, manifest.asm);
  const text = readText(path, 'the edited text');
  const source = sourceOf(path, text);
  if (sha256(text) === manifest.asmSha256) {
    return { manifest, capture, before, after: before, source, isEdited: false, findings: [] };
  }
  const assembled = await assemble(engine, source, manifest.target);
  const after = readFacts(assembled.code);
  return {
    manifest,
    capture,
    before,
    after,
    source,
    isEdited: true,
    findings: checkEdit(before, after, assembled.lines),
  };
}

export interface CapturedBuild {
  readonly output: string;
  readonly kernel: string;
  readonly state: 'unchanged' | 'same-code' | 'changed';
  readonly bytes: number;
  readonly change: ChangeReport | null;
  readonly remarks: readonly string[];
  readonly findings: readonly EditFinding[];
  readonly proofs: readonly KernelProof[];
}

/** Assembles the edited text, checks that it can stand in for the captured code, and writes the code object. */
export async function buildCaptured(
  folder: string,
  options: { readonly output?: string | undefined; readonly engine: EngineName; readonly force: boolean },
): Promise<CapturedBuild> {
  const { manifest, capture, before, after, source, isEdited, findings } = await readEdited(folder, options.engine);
  const output = options.output ?? join(folder, MODIFIED);
  const { kernel, block } = capture.manifest.dispatch;
  let remarks: string[] = [];
  try {
    if (isEdited)
      remarks = verifyReplacement(
        before,
        after,
        [{ name: kernel, workgroupSize: [block[0], block[1], block[2]] }],
        source,
      );
  } catch (error) {
    const mayForce = error instanceof WavesmithError && error.code !== 'hijack/kernel-name';
    if (!options.force || !mayForce) throw error;
    remarks = [`forced past ${error.code}: ${error.message}`];
  }
  const errors = findings.filter((f) => f.severity === 'error');
  if (errors.length > 0 && !options.force) throw checkFailed(errors, source.main.path);
  const isSame = sameCode(before, after);
  writeWhole(output, after.bytes);
  return {
    output,
    kernel: manifest.kernel,
    state: !isEdited ? 'unchanged' : isSame ? 'same-code' : 'changed',
    bytes: after.bytes.length,
    change: isSame ? null : describeChange(before, after),
    remarks,
    findings,
    proofs: isSame ? [] : await proveEdit(before, after, changedKernels(before, after)),
  };
}

/** Replays the capture with the code that was built, and judges: also that it is what the text says, and what the checker thinks of it. */
export async function runCaptured(
  folder: string,
  options: {
    readonly modified?: string | undefined;
    readonly open: (target: CodeObjectFacts['targetName'], capture: Capture) => Promise<Device>;
    readonly exact?: boolean | undefined;
    readonly force?: boolean | undefined;
    readonly iterations?: number | undefined;
    readonly maxInstructions?: number | undefined;
  },
): Promise<ReplayResult> {
  const path = options.modified ?? join(folder, MODIFIED);
  if (!existsSync(path)) {
    throw new WavesmithError('hijack/no-modified', `There is no '${path}' to compare with.`, {
      hint: `Build it with 'wavesmith hijack build ${folder}'.`,
    });
  }
  const { capture, before, after, findings, source } = await readEdited(folder, 'wavesmith');
  const code = readWhole(path, 'the modified code object');
  const modified = readFacts(code);
  const isBuilt = options.modified !== undefined || sameCode(modified, after);
  const device = await options.open(before.targetName, capture);
  try {
    return await replayCapture(device, capture, {
      code: sameCode(before, modified) ? undefined : code,
      exact: options.exact,
      iterations: options.iterations,
      maxInstructions: options.maxInstructions,
      evidence: {
        notBuilt: isBuilt ? [] : [`${source.main.path} was edited after it was built.`],
        force: options.force,
        objections: findings
          .filter((f) => f.severity === 'error')
          .map(({ rule, kernel, line, message }): Objection => {
            const place = line === undefined ? '' : `${source.main.path}:${line}`;
            return { by: 'checker', rule, kernel, place, message };
          }),
      },
    });
  } finally {
    device.close();
  }
}
