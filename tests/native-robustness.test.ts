// The device process and its programs when things go wrong: many programs at once, kills at any moment, other users, bad messages.
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ByteWriter, randomNumbers } from '../src/base/index.ts';
import { findNativeBuild, loadAddon } from '../src/runtime/addon.ts';
import { type DeviceProcess, startDeviceProcess } from '../src/runtime/exec.ts';
import { MessageType, PROTOCOL_VERSION } from '../src/runtime/generated/messages.ts';
import { encodeMessage, MessageStream } from '../src/runtime/protocol.ts';
import { RuntimeServer } from '../src/runtime/server.ts';
import { exec, nativeTests, root } from './support/native.ts';

const native = nativeTests();
const { file, kernels } = native ?? { file: String, kernels: String };

function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

/** A zombie that nobody has waited for yet counts as gone. */
function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function until(holds: () => boolean, what: string, ms = 60_000): Promise<void> {
  const end = Date.now() + ms;
  while (!holds()) {
    if (Date.now() > end) throw new Error(`${what}: not after ${ms} ms`);
    await sleep(5);
  }
}

/** Abstract sockets of device processes, by name. */
function sockets(): Set<string> {
  return new Set(readFileSync('/proc/net/unix', 'utf8').match(/@wavesmith-[0-9a-f]{32}/g) ?? []);
}

/** The device's address in the environment of a program. */
function socketOf(program: number | undefined): string | undefined {
  try {
    return /WAVESMITH_SOCKET=(@wavesmith-[0-9a-f]+)/.exec(readFileSync(`/proc/${program}/environ`, 'utf8'))?.[1];
  } catch {
    return undefined;
  }
}

/** Files of this project in shared memory, without those of fuzzers (memory-folder.ts), which may run at the same time. */
const shared = (): string[] =>
  existsSync('/dev/shm') ? readdirSync('/dev/shm').filter((name) => /wavesmith-(?!fuzz-)/.test(name)) : [];

interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<{ code: number | null; signal: string | null }>;
  output(): string;
}

function startExec(temporary: string, ...program: string[]): Running {
  const { WAVESMITH_PRELOAD: preload } = process.env;
  const child = spawn(process.execPath, [join(root, 'bin/wavesmith'), 'exec', '--', ...program], {
    env: { ...process.env, TMPDIR: temporary, ...(preload ? { LD_PRELOAD: preload } : {}) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal })),
  );
  return { child, ended, output: () => output };
}

describe.skipIf(native === undefined)('many programs', () => {
  it('share one device, eight at once', async () => {
    const programs = ['signals', 'queues', 'memory', 'copies', 'executables', 'virtual-memory', 'errors', 'queues'];
    const [tests, own, other] = [file('hsa-tests'), kernels('gfx942'), kernels('gfx90a')];
    const script = `${programs.map((part) => `${tests} ${own} ${other} ${part} & P="$P $!"`).join('\n')}
      for p in $P; do wait $p || exit 1; done`;
    const run = await exec(['sh', '-c', script]);
    expect(run.status, run.stderr).toBe(0);
    expect(run.stdout.trim().split('\n').sort()).toEqual(programs.map((part) => `ok ${part}`).sort());
  });

  it('give their memory back when they end without freeing it', async () => {
    // Together 6.4 GiB, more than the device has; the resident memory of the device process stays small.
    const script = `for n in $(seq 100); do ${file('hsa-leave')} 64 || exit $?; done; grep VmRSS /proc/$PPID/status`;
    const run = await exec(['sh', '-c', script], { options: ['--memory', '4'] });
    expect(run.status, run.stderr).toBe(0);
    expect(run.stdout.match(/^ready$/gm)).toHaveLength(100);
    const resident = Number(/VmRSS:\s+(\d+) kB/.exec(run.stdout)?.[1]);
    expect(resident).toBeGreaterThan(10_000);
    expect(resident).toBeLessThan(500_000);
  });
});

describe.skipIf(native === undefined)('kill -9', () => {
  const next = randomNumbers(20261121);

  // Other tests make files in the usual one at the same time.
  const temporary = mkdtempSync(join(tmpdir(), 'wavesmith-killed-'));
  afterAll(() => rmSync(temporary, { recursive: true, force: true }));

  /** Starts a device with a program, kills at a moment, and checks that nothing is left. */
  async function killAt(victim: 'program' | 'device' | 'both', delay: number): Promise<void> {
    const run = startExec(temporary, file('hsa-tests'), kernels('gfx942'), kernels('gfx90a'), 'queues');
    const device = run.child.pid as number;
    // In a checkout the compiler may run as a child first.
    const find = (): number | undefined => childrenOf(device).find((pid) => socketOf(pid) !== undefined);
    await until(() => find() !== undefined || !isAlive(device), 'the program starts');
    const program = find();
    const socket = socketOf(program);
    await sleep(delay);
    const kill = (pid: number | undefined): void => {
      try {
        if (pid !== undefined) process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended already.
      }
    };
    if (victim !== 'device') kill(program);
    if (victim !== 'program') kill(device);
    const { code, signal } = await run.ended;
    await until(() => program === undefined || !isAlive(program), `program ${program} ends`);
    if (socket !== undefined) await until(() => !sockets().has(socket), `socket ${socket} goes`);
    const hasFinished = run.output().includes('ok queues');
    if (victim === 'program' && !hasFinished) {
      expect(code, run.output()).toBe(137);
      expect(run.output()).toContain('was ended by SIGKILL');
    } else if (!hasFinished)
      expect(signal ?? code, run.output()).toBe(victim === 'both' && signal === null ? 137 : 'SIGKILL');
  }

  it('of program, device or both at any moment leaves nothing behind', async () => {
    const before = shared();
    const moments = Array.from({ length: 30 }, (_, n) => ({
      victim: (['program', 'device', 'both'] as const)[n % 3] as 'program' | 'device' | 'both',
      delay: Math.floor(next() * 700),
    }));
    for (let at = 0; at < moments.length; at += 3) {
      await Promise.all(moments.slice(at, at + 3).map(({ victim, delay }) => killAt(victim, delay)));
    }
    expect(readdirSync(temporary)).toEqual([]);
    expect(shared().filter((name) => !before.includes(name))).toEqual([]);
  });

  it('of a device that programs share is reported by them', async () => {
    const script = `eval "$(node ${join(root, 'bin/wavesmith')} exec --env)"
      ${file('hsa-leave')} 1 30 & wait $!; echo "status $?"`;
    const shell = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [shell.stdout, shell.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await until(() => output.includes('ready'), 'the program runs');
    const program = childrenOf(shell.pid as number)[0] as number;
    const address = socketOf(program);
    const device = readdirSync('/proc').find((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`--serve\0${shell.pid}`);
      } catch {
        return false;
      }
    });
    process.kill(Number(device), 'SIGKILL');
    await until(() => output.includes('status'), 'the program ends');
    expect(output).toContain('wavesmith: the device process has ended; the program cannot go on.');
    expect(output).toContain('status 134');
    await until(() => !sockets().has(address as string), `socket ${address} goes`);
  });
});

describe.skipIf(native === undefined)('the socket', () => {
  let device: DeviceProcess;
  const reports: string[] = [];
  beforeAll(async () => {
    device = await startDeviceProcess({ root, target: 'gfx942', report: (text) => reports.push(text) });
  });
  afterAll(() => device.close());

  /** Sends bytes; gives what came back when the device closed the connection or answered `answers` messages. */
  function talk(bytes: Uint8Array, answers = Number.POSITIVE_INFINITY): Promise<{ types: number[]; closed: boolean }> {
    return new Promise((resolve, reject) => {
      const types: number[] = [];
      const stream = new MessageStream();
      const socket = connect({ path: `\0${device.server.address.slice(1)}` }, () => socket.write(bytes));
      socket.on('data', (chunk) => {
        types.push(...stream.push(chunk).map((m) => m.type));
        if (types.length < answers) return;
        socket.end();
        resolve({ types, closed: false });
      });
      socket.on('close', () => resolve({ types, closed: true }));
      socket.on('error', reject);
    });
  }

  const hello = encodeMessage(
    MessageType.Hello,
    1n,
    new ByteWriter().u32(PROTOCOL_VERSION).u32(process.pid).u64(0).finish(),
  );
  const u32 = (...values: number[]): Uint8Array => {
    const w = new ByteWriter();
    for (const value of values) w.u32(value);
    return w.finish();
  };

  it('answers a greeting', async () => {
    expect(await talk(hello, 1)).toEqual({ types: [MessageType.Reply], closed: false });
  });

  it.each([
    ['an impossible length', u32(0xffffffff, 1, 0, 0)],
    ['a message before the greeting', encodeMessage(MessageType.Allocate, 1n, new Uint8Array(24))],
    ['an unknown type', Buffer.concat([hello, encodeMessage(77, 2n, new Uint8Array(8))])],
    ['a payload that ends early', Buffer.concat([hello, encodeMessage(MessageType.Allocate, 2n, new Uint8Array(9))])],
    ['a short doorbell', Buffer.concat([hello, encodeMessage(MessageType.Doorbell, 0n, new Uint8Array(3))])],
    ['an address above 2^53', Buffer.concat([hello, encodeMessage(MessageType.Free, 2n, new Uint8Array(8).fill(255))])],
    ['text', new TextEncoder().encode('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')],
  ])('closes the connection after %s, and reports it', async (_what, bytes) => {
    reports.length = 0;
    expect((await talk(bytes)).closed).toBe(true);
    expect(reports).toHaveLength(1);
    expect(reports[0]).toMatch(/^closed the connection of process \d+: /);
    expect((await talk(hello, 1)).types).toEqual([MessageType.Reply]);
    await until(() => device.server.programs === 0, 'connections end');
  });

  it('answers requests that cannot be met with errors', async () => {
    const requests = [
      encodeMessage(MessageType.Free, 2n, new ByteWriter().u64(0x1000).finish()),
      encodeMessage(
        MessageType.Allocate,
        3n,
        new ByteWriter()
          .u64(2 ** 45)
          .u64(4096)
          .u64(0)
          .u64(1)
          .finish(),
      ),
      encodeMessage(MessageType.Load, 4n, new TextEncoder().encode('no code object')),
      encodeMessage(
        MessageType.QueueCreate,
        5n,
        new ByteWriter().u64(64).u64(64).u64(64).u64(64).u32(64).u32(0).finish(),
      ),
      encodeMessage(MessageType.Adopt, 6n, new ByteWriter().u64(0).u64(4096).finish()),
    ];
    const { types } = await talk(Buffer.concat([hello, ...requests]), 6);
    expect(types).toEqual([MessageType.Reply, ...requests.map(() => MessageType.Error)]);
  });

  it('refuses connections of other users', async () => {
    const addon = loadAddon(findNativeBuild(root));
    const refused: string[] = [];
    const { server } = device;
    const stranger = { ...addon, peer: () => ({ pid: 4711, uid: (process.getuid?.() ?? 0) + 1 }) };
    const strict = new RuntimeServer(server.device, stranger, server.hello, (text) => refused.push(text));
    await strict.listen();
    const answer = await new Promise<string>((resolve) => {
      const socket = connect({ path: `\0${strict.address.slice(1)}` }, () => socket.write(hello));
      socket.on('data', () => resolve('answered'));
      socket.on('error', () => resolve('closed'));
      socket.on('close', () => resolve('closed'));
    });
    expect(answer).toBe('closed');
    expect(refused[0]).toMatch(/^refused a connection of user \d+ \(process 4711\)$/);
    await strict.close();
  });

  it.skipIf(process.getuid?.() !== 0)('refuses a real other user', async () => {
    reports.length = 0;
    // The other user may not be able to enter this project's folder, so the program and its library are copied out of it.
    const open = mkdtempSync(join(tmpdir(), 'other-user-'));
    chmodSync(open, 0o755);
    const library = 'libhsa-runtime64.so.1';
    copyFileSync(file('hsa-agents'), join(open, 'hsa-agents'));
    copyFileSync(join(device.build.libraries, library), join(open, library));
    const env = { ...device.environment(process.env), LD_LIBRARY_PATH: open };
    const program = ['--reuid=65534', '--regid=65534', '--clear-groups', join(open, 'hsa-agents')];
    const child = spawn('setpriv', program, { env, cwd: open });
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
    rmSync(open, { recursive: true });
    expect(errors).toContain('the device process refused the connection');
    expect(status).toBe(2);
    expect(reports.join()).toContain('refused a connection of user 65534');
  });
});
