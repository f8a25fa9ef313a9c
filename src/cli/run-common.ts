// What `wavesmith run` shares between its two targets: a kernel with described arguments, and a capture.
import { WavesmithError } from '../base/index.ts';
import { type CodeObject, link, readCodeObject, readObject } from '../codeobject/index.ts';
import { countersText, profileText } from './run-report.ts';
import type { RunSession, ToolReport } from './run-tools.ts';

/** Object files are linked in memory, alone, as `ld.lld -shared` links one. */
export function loadable(codeObject: CodeObject, file: string): CodeObject {
  if (!codeObject.isRelocatable) return codeObject;
  return readCodeObject(link([readObject(codeObject.elf)]), [file]);
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
