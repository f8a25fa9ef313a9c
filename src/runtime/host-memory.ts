// Device memory is the host's memory once it is touched. Programs that touch more than the host has are ended with a sentence before the
// host ends whatever it likes.
import { fstatSync, readFileSync } from 'node:fs';
import { freemem, totalmem } from 'node:os';
import { WavesmithError } from '../base/index.ts';

/** How often it looks. Programs touch about a gigabyte a second. */
const PERIOD_MS = 250;
/** Programs that have touched less than this are not what the host is short of. */
const MUCH_BYTES = 2 ** 30;
/** What the host keeps: a sixteenth of it, at most 1 GiB. */
const KEPT_BYTES = Math.min(2 ** 30, totalmem() / 16);

const numberIn = (file: string): number => {
  try {
    return Number(readFileSync(file, 'utf8').trim());
  } catch {
    return Number.NaN; // there is no such control group
  }
};

/** Bytes that the control group of this process may still take; infinite without a limit. Source: Linux, admin-guide/cgroup-v2. */
function availableInGroup(): number {
  let group: string | undefined;
  try {
    group = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1];
  } catch {
    // A system without control groups has no limit.
  }
  if (group === undefined) return Number.POSITIVE_INFINITY;
  const folder = `/sys/fs/cgroup${group === '/' ? '' : group}`;
  const limit = numberIn(`${folder}/memory.max`);
  const used = numberIn(`${folder}/memory.current`);
  if (Number.isNaN(limit) || Number.isNaN(used)) return Number.POSITIVE_INFINITY;
  // Pages of files can go; those of the device's memory are not among them.
  const files = /^inactive_file (\d+)$/m.exec(readFileSync(`${folder}/memory.stat`, 'utf8'))?.[1];
  return limit - used + Number(files ?? 0);
}

const gib = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`;

/** What is wrong when programs have touched `touched` bytes and the host has `available` left; undefined when nothing is. */
export function hostMemoryError(touched: number, available: number): WavesmithError | undefined {
  if (touched < MUCH_BYTES || available >= KEPT_BYTES) return undefined;
  return new WavesmithError(
    'runtime/host-memory',
    `Programs have written ${gib(touched)} of device memory, and this machine has ${gib(available)} left.`,
    {
      hint: 'Use less memory. Memory that nothing wrote, and zeros of hipMemset, take none; --memory GIB gives the GPU less.',
    },
  );
}

/** Looks at the memory behind `descriptor` until `stop` is called; `short` hears when the host is short of memory because of it. */
export function watchHostMemory(descriptor: number, short: (error: WavesmithError) => void): { stop: () => void } {
  const timer = setInterval(() => {
    const touched = fstatSync(descriptor).blocks * 512;
    if (touched < MUCH_BYTES) return;
    const error = hostMemoryError(touched, Math.min(freemem(), availableInGroup()));
    if (error !== undefined) short(error);
  }, PERIOD_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
