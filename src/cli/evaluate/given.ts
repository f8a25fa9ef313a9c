// What `evaluate` and `optimize` take alike from the command line: the baseline, the class, a line for a person.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { WavesmithError } from '../../base/index.ts';
import { isCapturedFolder } from '../../iree/captured.ts';
import { isTargetName, type TargetName } from '../../isa/index.ts';
import { CLASSES, type EquivalenceClass } from '../../optimize/index.ts';
import { type Capture, openCapture } from '../../snapshot/index.ts';

/** The value of `--class`. */
export function classOf(text: string): EquivalenceClass {
  const found = CLASSES.find((c) => c === text);
  if (found !== undefined) return found;
  throw new WavesmithError('cli/usage', `--class is ${CLASSES.join(', ')}, not '${text}'.`);
}

/** The capture of a baseline: a `.wscap`, or the one in a hijack folder. */
export function baselineCapture(path: string): Capture {
  const folder = existsSync(path) && isCapturedFolder(path);
  return openCapture(folder ? join(path, 'capture.wscap') : path);
}

/** The processor of a capture. */
export function targetOf({ path, manifest }: Capture): TargetName {
  const processor = manifest.code.target.split(':')[0] ?? '';
  if (isTargetName(processor)) return processor;
  throw new WavesmithError('device/unsupported-target', `No device runs code for ${processor}.`, { file: path });
}

/** Tells a person what is being done, after a second. */
export function stepLine(): ((text: string) => void) | undefined {
  if (process.stderr.isTTY !== true) return undefined;
  const started = performance.now();
  return (text) => {
    if (performance.now() - started > 1000) process.stderr.write(`\r\x1b[K${text.slice(0, 100)}`);
  };
}
