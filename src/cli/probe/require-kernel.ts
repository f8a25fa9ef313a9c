// `--kernel RE` that no kernel answers to is a mistake: nothing would be probed.
import { WavesmithError } from '../../base/index.ts';

/** Most names that are told. */
const MOST_NAMES = 8;

/** Throws `probe/no-kernel` unless the pattern, where there is one, has one of the kernels. */
export function requireKernel(
  pattern: RegExp | undefined,
  kernels: readonly { readonly name: string }[],
  file: string,
): void {
  if (pattern === undefined || kernels.some(({ name }) => pattern.test(name))) return;
  const names = kernels.map(({ name }) => name);
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} others` : '';
  throw new WavesmithError('probe/no-kernel', `--kernel ${pattern.source} fits no kernel of '${file}'.`, {
    file,
    hint: `It has: ${names.slice(0, MOST_NAMES).join(', ') || 'no kernel'}${more}.`,
  });
}
