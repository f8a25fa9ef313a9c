// A Redis or Valkey of this test's own, on loopback, that keeps nothing. Undefined, with a message, where neither is installed.
import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

function onPath(name: string): string | undefined {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** The program; undefined when there is none. */
export const redisProgram = onPath('redis-server') ?? onPath('valkey-server');
if (redisProgram === undefined)
  console.warn('Tests of queues are skipped: neither redis-server nor valkey-server is installed.');

export interface RedisServer {
  readonly url: string;
  /** Kills it. */
  stop(): Promise<void>;
}

/** Starts one; `port` of an earlier one puts it in its place. */
export async function startRedis(port?: number): Promise<RedisServer & { readonly port: number }> {
  if (redisProgram === undefined) throw new Error('no redis-server');
  const chosen = port ?? (await freePort());
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-redis-'));
  const options = [
    '--port',
    String(chosen),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    folder,
  ];
  const child: ChildProcess = spawn(redisProgram, options, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (text: Buffer) => {
      if (text.includes('eady to accept connections')) resolve();
    });
    child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}`)));
  });
  return {
    port: chosen,
    url: `redis://127.0.0.1:${chosen}`,
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
