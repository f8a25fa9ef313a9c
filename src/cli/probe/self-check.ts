// `wavesmith probe --self-check`: whether a probe leaves every buffer of a run, or all memory of a program's dispatches, as the original does;
// if not, the point that is guilty.
import { WavesmithError } from '../../base/index.ts';
import { type ProbeProgramOptions, probeProgram } from '../../hijack/probe-program.ts';
import { type Instrumented, instrument, type ProbeDefinition } from '../../instrument/index.ts';
import type { Comparison } from '../../verdict/index.ts';
import { runKernel } from '../run.ts';

/** Runs with some of the points; what every buffer holds afterwards, or that the run failed. */
async function contentsOf(
  probe: ProbeDefinition,
  line: string[],
  kernel: RegExp | undefined,
  only: ((point: number, pc: number) => boolean) | undefined,
  settings: Readonly<Record<string, string>>,
): Promise<{ readonly bytes: readonly Uint8Array[] | undefined; readonly result: Instrumented | undefined }> {
  let bytes: readonly Uint8Array[] | undefined;
  let result: Instrumented | undefined;
  try {
    await runKernel(line, {
      replace: (codeObject, name) => {
        if (only === undefined || kernel?.test(name) === false) return codeObject;
        result = instrument(codeObject, probe, { kernel: exactly(name), only, settings, verify: false });
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
  const last = (all.result?.placed ?? 0) + (all.result?.rejected.length ?? 0);
  const good = await lastGood(last, async (middle) => {
    const part = await contentsOf(probe, args, kernel, (point) => point < middle, settings);
    return isSame(original.bytes, part.bytes);
  });
  let at: number | undefined;
  const only = (point: number, pc: number): boolean => {
    if (point === good) at = pc;
    return point === good;
  };
  const guilty = await contentsOf(probe, args, kernel, only, settings);
  const isAlone = !isSame(original.bytes, guilty.bytes);
  return guiltyPoint('The kernel', good, placeText(all.result, at), isAlone);
}

/** How many of the first points may be placed before the results change; all of `last` change them. */
async function lastGood(last: number, isGood: (count: number) => Promise<boolean>): Promise<number> {
  let [good, bad] = [0, last];
  while (bad - good > 1) {
    const middle = (good + bad) >>> 1;
    if (await isGood(middle)) good = middle;
    else bad = middle;
  }
  return good;
}

/** ` at 0x1528 (v_add_f32_e32 v2, v2, v2)`; nothing when the address is not known. */
function placeText(result: Instrumented | undefined, pc: number | undefined): string {
  if (pc === undefined) return '';
  const text = result?.program.at(pc)?.text;
  return ` at 0x${pc.toString(16)}${text === undefined ? '' : ` (${text})`}`;
}

function guiltyPoint(whose: string, point: number, place: string, isAlone: boolean): WavesmithError {
  return new WavesmithError(
    'probe/self-check',
    `${whose}'s results change with point ${point} of the probe${place}${isAlone ? '' : ' together with those before it'}.`,
    {
      hint: 'Either the probe changes what the kernel computes with, by writes or assembly text, or this is a defect of wavesmith.',
    },
  );
}

/** What a program's check said. */
export interface ProgramCheck {
  /** Dispatches whose memory was compared. */
  readonly compared: number;
  readonly remarks: readonly string[];
  readonly verdict: WavesmithError | undefined;
}

/** Runs a program with each probed dispatch run as the original too, on the same memory; the guilty point is found by running it again. */
export async function selfCheckProgram(
  probe: ProbeDefinition,
  command: readonly string[],
  options: ProbeProgramOptions,
): Promise<ProgramCheck> {
  const checked = { ...options, isCompared: true, show: 'none' } as const;
  const { comparisons, remarks, codes } = await probeProgram(probe, command, checked);
  const wrong = comparisons.find(isDifferent);
  const summary = { compared: comparisons.length, remarks };
  if (wrong === undefined) return { ...summary, verdict: undefined };
  const { instrumented } = codes.find(({ launches }) => launches.some((l) => l.kernel === wrong.kernel)) ?? {};
  const kernel = exactly(wrong.kernel);
  const differs = async (only: (point: number, pc: number) => boolean): Promise<boolean> =>
    (await probeProgram(probe, command, { ...checked, kernel, only })).comparisons.some(isDifferent);
  const last = (instrumented?.placed ?? 0) + (instrumented?.rejected.length ?? 0);
  const good = await lastGood(last, async (middle) => !(await differs((point) => point < middle)));
  let at: number | undefined;
  const isAlone = await differs((point, pc) => {
    if (point === good) at = pc;
    return point === good;
  });
  const place = placeText(instrumented, at);
  return { ...summary, verdict: guiltyPoint(`Kernel '${wrong.kernel}'`, good, place, isAlone) };
}

function isDifferent({ places }: { readonly places: readonly { readonly comparison: Comparison }[] }): boolean {
  return places.some(({ comparison }) => comparison.different > 0 || comparison.trailing.different > 0);
}

/** A kernel by its whole name. */
export function exactly(name: string): RegExp {
  return new RegExp(`^${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`);
}
