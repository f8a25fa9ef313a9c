// Which dispatches: `--dispatch N`, `A-B`, `A-` or `every:K`, counted from 0.
import { WavesmithError } from '../base/index.ts';
import { type DispatchRange, EVERY_DISPATCH } from '../runtime/tool-server.ts';

/** Reads a range; a wrong one is `cli/usage`. */
export function parseDispatchRange(text: string | undefined): DispatchRange {
  if (text === undefined) return EVERY_DISPATCH;
  const every = /^every:(\d+)$/.exec(text)?.[1];
  if (every !== undefined && BigInt(every) > 0n) return { ...EVERY_DISPATCH, step: BigInt(every) };
  const match = /^(\d+)(?:(-)(\d*))?$/.exec(text);
  const first = BigInt(match?.[1] ?? 0);
  const last = match?.[2] === undefined ? first : match[3] === '' ? EVERY_DISPATCH.last : BigInt(match[3] ?? 0);
  if (match !== null && last >= first && last <= EVERY_DISPATCH.last) return { first, last, step: 1n };
  throw new WavesmithError('cli/usage', `--dispatch is N, A-B, A- or every:K, counted from 0, not '${text}'.`);
}
