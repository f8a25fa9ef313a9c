// Picks one code object of whatever file was given: by number or target (`--object`), or by the kernel that is asked for.
import { WavesmithError } from '../base/index.ts';
import { type CodeObject, codeObjectsOf, openContainer } from '../codeobject/index.ts';

export interface Selection {
  /** Index from 0 in file order, or a target id or processor name. */
  readonly object?: string | undefined;
  /** A kernel that must be there; decides among several code objects. */
  readonly kernel?: string | undefined;
}

/** The selected code object; an ambiguous or empty selection is an error that lists what there is. */
export function selectCodeObject(bytes: Uint8Array, file: string, selection: Selection): CodeObject {
  const all = codeObjectsOf(openContainer(bytes, file));
  if (all.length === 0) {
    throw new WavesmithError('container/empty', `'${file}' holds no code object.`, { file });
  }
  const matching = selection.object === undefined ? all : byNumberOrTarget(all, file, selection.object);
  if (matching.length === 1) return matching[0];
  const { kernel } = selection;
  const withKernel = kernel === undefined ? [] : matching.filter((o) => o.kernels.some((k) => k.name === kernel));
  if (withKernel.length === 1) return withKernel[0];
  const what =
    kernel === undefined ? '' : ` and ${withKernel.length === 0 ? 'none' : `${withKernel.length}`} with '${kernel}'`;
  throw new WavesmithError('container/ambiguous', `'${file}' holds ${matching.length} code objects${what}.`, {
    file,
    hint: `Pick one with --object N or --object TARGET:\n${listOf(all)}`,
  });
}

function byNumberOrTarget(all: readonly CodeObject[], file: string, wanted: string): readonly CodeObject[] {
  if (/^\d+$/.test(wanted)) {
    const one = all[Number(wanted)];
    if (one !== undefined) return [one];
  } else {
    const exact = all.filter((o) => o.targetId === wanted || o.targetId.endsWith(`--${wanted}`));
    const found = exact.length > 0 ? exact : all.filter((o) => o.target.processor === wanted);
    if (found.length > 0) return found;
  }
  throw new WavesmithError('container/no-object', `'${file}' has no code object '${wanted}'.`, {
    file,
    hint: `There is:\n${listOf(all)}`,
  });
}

const MAX_LISTED = 40;

function listOf(all: readonly CodeObject[]): string {
  const lines = all.slice(0, MAX_LISTED).map((object, i) => {
    const kernels = object.kernels.length === 1 ? object.kernels[0].name : `${object.kernels.length} kernels`;
    return `    ${i}  ${object.targetId.replace(/^.*--/, '')}  ${kernels}  (${object.path.slice(1).join(' > ') || 'the file'})`;
  });
  if (all.length > MAX_LISTED) lines.push(`    … and ${all.length - MAX_LISTED} more`);
  return lines.join('\n');
}
