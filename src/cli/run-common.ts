// What `wavesmith run` shares between its two targets: a kernel with described arguments, and a capture.
import { WavesmithError } from '../base/index.ts';
import { type CodeObject, link, readCodeObject, readObject } from '../codeobject/index.ts';
import { countersText, profileText } from './run-report.ts';
import type { RunSession, ToolReport } from './run-tools.ts';
import { selectCodeObject } from './select-code-object.ts';
import { readInput } from './support.ts';

/** Object files are linked in memory, with the `further` ones, as `ld.lld -shared` links them. */
export function loadable(codeObject: CodeObject, file: string, further: readonly string[] = []): CodeObject {
  if (!codeObject.isRelocatable && further.length === 0) return codeObject;
  const others = further.map((path) => [selectCodeObject(readInput(path), path, {}), path] as const);
  for (const [one, path] of [[codeObject, file] as const, ...others]) {
    if (one.isRelocatable) continue;
    throw new WavesmithError(
      'run/not-an-object',
      'The file is linked already; only object files are linked together.',
      {
        file: path,
        hint: 'Give one linked code object, or object files only.',
      },
    );
  }
  return readCodeObject(link([codeObject, ...others.map(([one]) => one)].map((one) => readObject(one.elf))), [file]);
}

/** The number of an option; what is none is `cli/usage`. */
export function parseCount(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw new WavesmithError('cli/usage', `${option} ${text} is not a whole number.`);
  return Number(text);
}

/** Ctrl-C: the first one ends the run in order (with a stepper it stops and asks), one more ends it at once. */
export function onInterrupt(ending: AbortController, session: RunSession | undefined): () => void {
  const stepper = session?.tools.stepper;
  const handler = (): void => {
    const asks = stepper !== undefined && !stepper.isOver;
    if (asks && !stepper.isInterrupted) stepper.interrupt();
    else if (!asks && !ending.signal.aborted) ending.abort();
    else process.exit(130);
  };
  process.on('SIGINT', handler);
  return () => process.off('SIGINT', handler);
}

/** Counters and profile as text. */
export function toolsReport(tools: ToolReport): string {
  const lines = [
    ...(tools.counters === undefined ? [] : countersText(tools)),
    ...(tools.profile === undefined ? [] : profileText(tools.profile)),
  ];
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}
