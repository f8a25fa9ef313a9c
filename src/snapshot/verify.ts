// Whether a capture is what it says: every page against its hash, every part against the others, and a replay with poison.
import { WavesmithError } from '../base/index.ts';
import { readCodeObject } from '../codeobject/index.ts';
import { type Capture, pageIds } from './capture.ts';
import { hexBytes } from './fields.ts';
import { deviceFor } from './record.ts';
import { type ReplayResult, replayCapture } from './replay.ts';

export interface VerifyResult {
  readonly ok: boolean;
  /** What is wrong, one sentence each. */
  readonly problems: readonly string[];
  readonly pages: number;
  /** Undefined when nothing was replayed. */
  readonly replay: ReplayResult | undefined;
}

/** Bytes at an address before the dispatch, as far as the capture knows them; others are undefined. */
export function memoryBefore(capture: Capture, address: number, size: number): (number | undefined)[] {
  const out: (number | undefined)[] = new Array(size).fill(undefined);
  for (const chunk of capture.chunks) {
    const from = Math.max(address, chunk.address);
    const to = Math.min(address + size, chunk.address + chunk.length);
    if (from >= to) continue;
    const pre = chunk.pre();
    const known = chunk.known();
    if (pre === undefined) continue;
    for (let at = from; at < to; at++) {
      if (known === undefined || known[at - chunk.address] === 1) out[at - address] = pre[at - chunk.address];
    }
  }
  return out;
}

/** Checks a capture. `replay: false` leaves the dispatch out. */
export async function verifyCapture(
  capture: Capture,
  options: { readonly replay?: boolean | undefined } = {},
): Promise<VerifyResult> {
  const problems = [...capture.missing];
  const tell = (check: () => void): void => {
    try {
      check();
    } catch (error) {
      if (!(error instanceof WavesmithError)) throw error;
      problems.push(error.message);
    }
  };
  const ids = pageIds(capture.manifest);
  for (const id of ids) tell(() => void capture.pages.page(id, capture.stored.get(id)?.bytes ?? 0));
  for (const chunk of capture.chunks) {
    tell(() => {
      chunk.pre();
      chunk.post();
      chunk.known();
      chunk.reads();
      chunk.writes();
    });
  }
  tell(() => checkCode(capture));
  if (problems.length === 0) tell(() => checkArguments(capture));
  const replay = problems.length > 0 || options.replay === false ? undefined : await replayed(capture);
  return { ok: problems.length === 0 && replay?.ok !== false, problems, pages: ids.size, replay };
}

async function replayed(capture: Capture): Promise<ReplayResult> {
  const device = deviceFor(capture);
  try {
    return await replayCapture(device, capture);
  } finally {
    device.close();
  }
}

function checkCode(capture: Capture): void {
  const { code, dispatch } = capture.manifest;
  const object = readCodeObject(capture.codeObject());
  const bad = (message: string): WavesmithError =>
    new WavesmithError('capture/bad-manifest', message, { file: capture.path });
  if (!object.kernels.some((k) => k.name === dispatch.kernel))
    throw bad(`The code object has no kernel '${dispatch.kernel}'.`);
  const { processor } = object.target;
  if (code.target.split(':')[0] !== processor)
    throw bad(`The code object is for ${processor}, the capture says ${code.target}.`);
}

/** The arguments in the manifest are those in memory. */
function checkArguments(capture: Capture): void {
  const { kernarg } = capture.manifest.dispatch;
  const memory = memoryBefore(capture, kernarg.address, kernarg.size);
  for (const { name, offset, size, bytes } of kernarg.slots) {
    const now = memory.slice(offset, offset + size);
    if (now.every((b, i) => b === undefined || b === bytes[i])) continue;
    throw new WavesmithError(
      'capture/bad-manifest',
      `Argument '${name}' is ${hexBytes(bytes)} in the manifest and something else in memory.`,
      { file: capture.path },
    );
  }
}
