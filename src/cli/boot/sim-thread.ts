// A thread of the virtual GPU in dist/: the built worker as scripts with V8's compiled code, kept from run to run as that of commands
// is.
import { cachedDataVersionTag } from 'node:v8';
import { workerData } from 'node:worker_threads';
import { CodeCache, codeCacheFolder } from './code-cache.ts';
import { entryScript, Modules } from './modules.ts';

/** What dist/sim-worker.cjs exports. */
interface SimWorker {
  serve(beforeAnswer?: () => void): void;
}

/** What the process tells its thread. */
interface ThreadData {
  /** This thread writes its compiled code when it has answered for the first time and there is more of it than was kept: one of a process does. */
  readonly keeps: boolean;
}

/** A number in lower-case letters: flags of V8, which its compiled code belongs to, differ from command to command. */
const letters = (n: number): string =>
  [...n.toString(16)].map((digit) => 'abcdefghijklmnop'[Number.parseInt(digit, 16)]).join('');

const { keeps: isKeeper } = workerData as ThreadData;
const codeTag = cachedDataVersionTag();
const { source, build } = entryScript(__dirname, 'sim-worker');
const cache = new CodeCache(codeCacheFolder(), build, `thread${letters(codeTag)}`);
const { serve } = new Modules(__dirname, cache).load('sim-worker', source) as SimWorker;
let keeps = isKeeper && cache.isWorthWriting;
serve(() => {
  // Another thread may have changed a flag: this one's code is not of its kind any more.
  if (keeps && cachedDataVersionTag() === codeTag) cache.write();
  keeps = false;
});
