// A thread of the virtual GPU in dist/: the built worker as scripts with V8's compiled code, kept from run to run as that of commands
// is. `workerData.keeps` says that this thread writes that code when it has answered for the first time and there is more of it than was kept: one of a
// process does.
import { cachedDataVersionTag } from 'node:v8';
import { workerData } from 'node:worker_threads';
import { CodeCache, codeCacheFolder } from './code-cache.ts';
import { entryScript, Modules } from './modules.ts';

/** What dist/sim-worker.cjs exports. */
interface SimWorker {
  serve(beforeAnswer?: () => void): void;
}

/** A number in lower-case letters: flags of V8, which its compiled code belongs to, differ from command to command. */
const letters = (n: number): string =>
  [...n.toString(16)].map((digit) => 'abcdefghijklmnop'[Number.parseInt(digit, 16)]).join('');

const { source, build } = entryScript(__dirname, 'sim-worker');
const cache = new CodeCache(codeCacheFolder(), build, `thread${letters(cachedDataVersionTag())}`);
const { serve } = new Modules(__dirname, cache).load('sim-worker', source) as SimWorker;
let keeps = (workerData as { keeps: boolean } | null)?.keeps === true && cache.isWorthWriting;
serve(() => {
  if (keeps) cache.write();
  keeps = false;
});
