// `wavesmith probe --self-check`: whether a probe leaves every buffer of a run as the original does; if not, the point that is guilty.
import { WavesmithError } from '../../base/index.ts';
import { type Instrumented, instrument, type ProbeDefinition } from '../../instrument/index.ts';
import { runKernel } from '../run.ts';

/** Runs with some of the points; what every buffer holds afterwards, or that the run failed. */
async function contentsOf(
  probe: ProbeDefinition,
  line: string[],
  kernel: RegExp | undefined,
  only: ((point: number) => boolean) | undefined,
  settings: Readonly<Record<string, string>>,
): Promise<{ readonly bytes: readonly Uint8Array[] | undefined; readonly result: Instrumented | undefined }> {
  let bytes: readonly Uint8Array[] | undefined;
  let result: Instrumented | undefined;
  try {
    await runKernel(line, {
      replace: (codeObject, name) => {
        if (only === undefined || kernel?.test(name) === false) return codeObject;
        result = instrument(codeObject, probe, { kernel: new RegExp(`^${name}$`), only, settings, verify: false });
        return result.codeObject;
      },
      ended: (_, contents) => {
        bytes = contents;
      },
      print: () => {},
    });
  } catch (error) {
    if (!(error instanceof WavesmithError) || only === undefined) throw error;
  }
  return { bytes, result };
}

function isSame(a: readonly Uint8Array[] | undefined, b: readonly Uint8Array[] | undefined): boolean {
  return (
    a !== undefined &&
    b !== undefined &&
    a.length === b.length &&
    a.every((x, i) => Buffer.compare(x, b[i] as Uint8Array) === 0)
  );
}

/** Undefined when the probe changes nothing; else the error that names the first point that does. */
export async function selfCheck(
  probe: ProbeDefinition,
  line: readonly string[],
  kernel: RegExp | undefined,
  settings: Readonly<Record<string, string>>,
): Promise<WavesmithError | undefined> {
  const args = [...line];
  const original = await contentsOf(probe, args, kernel, undefined, settings);
  const all = await contentsOf(probe, args, kernel, () => true, settings);
  if (isSame(original.bytes, all.bytes)) return undefined;
  let good = 0;
  let bad = (all.result?.placed ?? 0) + (all.result?.rejected.length ?? 0);
  while (bad - good > 1) {
    const middle = (good + bad) >>> 1;
    const part = await contentsOf(probe, args, kernel, (point) => point < middle, settings);
    if (isSame(original.bytes, part.bytes)) good = middle;
    else bad = middle;
  }
  const guilty = await contentsOf(probe, args, kernel, (point) => point === good, settings);
  const isAlone = !isSame(original.bytes, guilty.bytes);
  return new WavesmithError(
    'probe/self-check',
    `The kernel's results change with point ${good} of the probe${isAlone ? '' : ', together with those before it'}.`,
    { hint: 'This is a defect of wavesmith, or of assembly text in the probe.' },
  );
}
