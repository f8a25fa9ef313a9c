// `wavesmith probe FILE -o OUT`: a probe in a code object, or in those of a hijack folder.
import { statSync } from 'node:fs';
import { WavesmithError } from '../../base/index.ts';
import type { CodeObject } from '../../codeobject/index.ts';
import { nodeProbeCache } from '../../device/node/index.ts';
import { optimizeLess } from '../../device/node/v8-flags.ts';
import { instrument, type ProbeDefinition } from '../../instrument/index.ts';
import { readCodeInput } from '../read-code-input.ts';
import { loadable } from '../run-common.ts';
import { selectCodeObject } from '../select-code-object.ts';
import { printJson, writeOutput } from '../support.ts';
import type { ProbeFlags } from './flags.ts';
import type { FolderCode } from './folder.ts';
import { isComplete, placementRecord, placementText } from './print.ts';
import { requireKernel } from './require-kernel.ts';
import { samplingOf } from './sampling.ts';

/** Rewrites a code object. Its memory is read by whoever loads it: the record says where it is. */
export async function probeFile(
  probe: ProbeDefinition,
  file: string,
  kernel: RegExp | undefined,
  options: ProbeFlags,
): Promise<number> {
  if (options.output === undefined)
    throw new WavesmithError('cli/usage', '-o is missing: the instrumented code object is written there.', {
      hint: 'Or run it: behind --.',
    });
  optimizeLess();
  const { output } = options;
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true) {
    const { folderCodes, isHijackFolder } = await import('./folder.ts');
    if (isHijackFolder(file)) return probeFolder(probe, file, folderCodes(file, output), kernel, options);
  }
  const codeObject = loadable(selectCodeObject(readCodeInput(file), file, { object: options.object }), file);
  requireKernel(kernel, codeObject.kernels, file);
  const { record, lines, result } = rewritten(probe, codeObject, { file, output }, kernel, options);
  if (options.json === true) printJson(record);
  else process.stdout.write([...lines, ''].join('\n'));
  return options.requireAll === true && result.rejected.length > 0 ? 1 : 0;
}

/** Rewrites the code objects of a hijack folder into another folder. */
function probeFolder(
  probe: ProbeDefinition,
  folder: string,
  codes: readonly FolderCode[],
  kernel: RegExp | undefined,
  options: ProbeFlags,
): number {
  const objects = codes.map((code) => loadable(selectCodeObject(code.bytes, code.file, {}), code.file));
  requireKernel(
    kernel,
    objects.flatMap(({ kernels }) => kernels),
    folder,
  );
  const all = objects.map((object, i) => rewritten(probe, object, codes[i] as FolderCode, kernel, options));
  if (options.json === true) printJson({ tool: probe.name, folder, codeObjects: all.map(({ record }) => record) });
  else process.stdout.write(all.map(({ lines }) => [...lines, ''].join('\n')).join(''));
  return options.requireAll === true && all.some(({ result }) => result.rejected.length > 0) ? 1 : 0;
}

/** Writes the instrumented code object; what is said of it. */
function rewritten(
  probe: ProbeDefinition,
  codeObject: CodeObject,
  { file, output }: { readonly file: string; readonly output: string },
  kernel: RegExp | undefined,
  options: ProbeFlags,
) {
  const result = instrument(codeObject, probe, {
    kernel,
    growth: options.growth,
    settings: options.settings,
    ...samplingOf(options),
    cache: options.cache ? nodeProbeCache() : undefined,
  });
  writeOutput(output, result.codeObject.bytes);
  const record = {
    tool: probe.name,
    file,
    output,
    complete: isComplete(result),
    placement: placementRecord(result),
    memory: result.memory,
  };
  return { record, lines: [`${probe.name} in '${output}'`, ...placementText(result)], result };
}
