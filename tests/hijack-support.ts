// Shared by the hijack tests: a fresh copy of the fixture folder, edits by pattern, stand-ins for outside programs.
import { chmodSync, cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach } from 'vitest';
import { elementType } from '../src/base/index.ts';
import type { Device, DeviceBuffer } from '../src/device/device.ts';
import { SimDevice } from '../src/device/sim/sim-device.ts';
import type { BuildOptions } from '../src/iree/build.ts';
import type { RunOptions } from '../src/iree/run.ts';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const FIXTURE = join(root, 'fixtures', 'matmul_f16.gfx942');
export const KERNEL = 'matmul_dispatch_0_matmul_128x128x128_f16xf16xf32';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-hijack-'));
  folders.push(folder);
  return folder;
}

/** A fresh copy of the fixture's hijack folder. */
export function fixtureFolder(): string {
  const folder = join(temporaryFolder(), 'matmul');
  cpSync(FIXTURE, folder, { recursive: true });
  return folder;
}

/** The only (or the named) kernel's assembly file of a hijack folder. */
export function asmFile(folder: string, part = ''): string {
  const names = readdirSync(join(folder, 'asm'), { recursive: true, encoding: 'utf8' }).sort();
  const name = names.find((n) => n.endsWith('.s') && n.includes(part) && basename(n) !== 'shared.s');
  if (name === undefined) throw new Error(`no assembly like '${part}' in ${folder}`);
  return join(folder, 'asm', name);
}

/** Replaces in the assembly; an edit that finds nothing is a mistake of the test. */
export function edit(file: string, pattern: RegExp | string, replacement: string): void {
  const before = readFileSync(file, 'utf8');
  const after = before.replace(pattern, replacement);
  if (after === before) throw new Error(`the edit ${pattern} found nothing in ${file}`);
  writeFileSync(file, after);
}

/** Makes the next build assemble everything: without the pristine text it cannot know what was not touched. */
export function forgetPristine(folder: string): void {
  rmSync(join(folder, 'baseline'), { recursive: true });
}

/** A shell script that stands in for an outside program. */
export function standIn(folder: string, name: string, body: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

export const BUILD: BuildOptions = { via: 'patch', engine: 'wavesmith', force: false };

export const RUN: RunOptions = {
  openDevice: async (target, isStrict) => new SimDevice(target, isStrict ? { run: { strict: {} } } : {}),
  dispatches: [],
  all: false,
  seed: 1,
  buffers: new Map(),
  constants: new Map(),
  exact: false,
};

/** The elements of a buffer. */
export function floats(name: string, bytes: Uint8Array): number[] {
  const type = elementType(name);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: (8 * bytes.length) / type.storageBits }, (_, i) => type.read(view, i));
}

/** What went into and came out of the allocations of a side's dispatches, in order: of the first run, of the second, … */
export interface Recording {
  readonly inputs: Uint8Array[];
  readonly outputs: Uint8Array[];
}

/** A virtual device that records what is written before and read after the dispatch. */
export function recordingDevices(recordings: Recording[]): RunOptions['openDevice'] {
  return async (target, isStrict) => {
    const device: Device = await RUN.openDevice(target, isStrict);
    const recording: Recording = { inputs: [], outputs: [] };
    recordings.push(recording);
    const write = device.write.bind(device);
    const read = device.read.bind(device);
    device.write = (buffer: DeviceBuffer, bytes: Uint8Array, offset?: number) => {
      recording.inputs.push(bytes.slice());
      write(buffer, bytes, offset);
    };
    device.read = (buffer: DeviceBuffer, offset?: number, size?: number) => {
      const bytes = read(buffer, offset, size);
      recording.outputs.push(bytes.slice());
      return bytes;
    };
    return device;
  };
}

/** The pinned iree-compile of this checkout, or undefined with a message. */
export function ireeCompile(): string | undefined {
  const path = join(root, '.wavesmith', 'venv', 'bin', 'iree-compile');
  if (existsSync(path)) return path;
  console.warn("skipped: IREE is not installed ('npm run setup' installs it)");
  return undefined;
}
