// A launch of an archive of HIP Record & Replay as a capture. The archive holds what a program copied to the GPU, not what was there: the calls
// before the launch are done again on the virtual GPU, at the addresses that they had, and the launch is recorded there.
import { WavesmithError } from '../../base/index.ts';
import type { CodeObject } from '../../codeobject/index.ts';
import { type DeviceBuffer, type DeviceModule, SimDevice } from '../../device/index.ts';
import { nodeSimOptions } from '../../device/node/index.ts';
import { isSimKernel } from '../../device/sim/module.ts';
import { isTargetName } from '../../isa/index.ts';
import type { ImportResult } from '../import.ts';
import type { Manifest, UnsupportedRecord } from '../manifest.ts';
import { type FinishOptions, Recorder } from '../record.ts';
import { type HrrArchive, openHrrArchive } from './archive.ts';
import type { HrrCall, HrrEvent, HrrLaunch } from './events.ts';

export interface HrrOptions extends FinishOptions {
  /** Launches of kernels whose name matches; default all. */
  readonly kernel?: RegExp | undefined;
  /** Which of them (default 0). */
  readonly dispatch?: number | undefined;
  /** Whose code is run when the archive has several; default the only one. */
  readonly target?: string | undefined;
  /** Ends a launch that executes more wave instructions (default: the device's own limit). */
  readonly maxInstructions?: number | undefined;
}

interface Allocation {
  readonly buffer: DeviceBuffer;
  readonly kind: 'coarse' | 'host' | 'managed';
  readonly name: string;
}

const FILL_STEP = 2 ** 20;

/** Records a launch. What the archive does not say is in the result and in the capture; what is wrong with it is `capture/bad-import`. */
export async function importHrr(
  folder: string,
  path: string,
  producer: Manifest['producer'],
  options: HrrOptions = {},
): Promise<ImportResult> {
  const archive = openHrrArchive(folder);
  const { events, isComplete, records } = archive.log;
  const { event, code } = chosen(archive, options);
  const player = new Player(archive, code, options);
  try {
    if (!isComplete) player.note('log', 'The program did not come to its end: the log has no last record.');
    if (isComplete && records.read !== records.written) {
      player.note(
        'log',
        `The log has ${records.read} records, and its last one says ${records.written}: it is damaged.`,
      );
    }
    for (const one of events) {
      if (one === event) break;
      await player.play(one);
    }
    const recorder = await player.record(event.does as HrrLaunch, code, producer, events.indexOf(event));
    const summary = await recorder.finish(path, options);
    const remarks = player.records.map((r) => r.message);
    return { from: 'hrr', manifestHash: summary.manifestHash, regions: summary.allocations, remarks };
  } finally {
    player.close();
  }
}

/** The launch that is wanted, and its code. */
function chosen(
  archive: HrrArchive,
  { kernel = /(?:)/, dispatch = 0, target }: HrrOptions,
): { readonly event: HrrEvent; readonly code: CodeObject } {
  const launches = archive.log.events.filter(({ does }) => does.call === 'launch');
  const matching = launches.filter(({ does }) => kernel.test((does as HrrLaunch).kernel));
  const event = matching[dispatch];
  if (event === undefined) {
    const names = [...new Set(launches.map(({ does }) => (does as HrrLaunch).kernel))];
    throw new WavesmithError('capture/no-dispatch', `The archive has ${matching.length} launches that match.`, {
      file: archive.path,
      hint: names.length === 0 ? 'It has no launches.' : `It has launches of ${names.slice(0, 20).join(', ')}.`,
    });
  }
  return { event, code: codeOf(archive, event.does as HrrLaunch, target) };
}

function codeOf(archive: HrrArchive, { kernel, code }: HrrLaunch, target: string | undefined): CodeObject {
  const all = archive.code(kernel, code).filter((object) => isTargetName(object.target.processor));
  const found = all.filter((object) => target === undefined || object.target.processor === target);
  const [first] = found;
  const bad = (message: string, hint?: string): WavesmithError =>
    new WavesmithError('capture/bad-import', message, { file: archive.path, hint });
  if (first === undefined) {
    const targets = [...new Set(all.map((object) => object.target.processor))].join(', ');
    throw bad(`The archive has no code for kernel '${kernel}'${targets === '' ? '' : ` but for ${targets}`}.`);
  }
  const targets = [...new Set(found.map((object) => object.target.processor))];
  if (targets.length > 1) throw bad(`Kernel '${kernel}' is there for ${targets.join(', ')}.`, 'Choose with --target.');
  if (found.some((object) => Buffer.compare(object.bytes, first.bytes) !== 0))
    throw bad(
      `The archive has ${found.length} code objects with a kernel '${kernel}', and does not say which was launched.`,
    );
  return first;
}

/** The memory of the program as far as the log tells it. */
class Player {
  readonly records: UnsupportedRecord[] = [];
  private readonly archive: HrrArchive;
  private readonly target: string;
  private readonly onStep: HrrOptions['onStep'];
  private readonly maxInstructions: number | undefined;
  private readonly device: SimDevice;
  private readonly allocations = new Map<number, Allocation>();
  private readonly modules = new Map<string, DeviceModule>();
  private readonly counts = new Map<string, number>();
  private launches = 0;

  constructor(archive: HrrArchive, code: CodeObject, { onStep, maxInstructions }: HrrOptions) {
    const { processor } = code.target;
    if (!isTargetName(processor)) throw new Error('codeOf gives known targets only');
    this.archive = archive;
    this.target = processor;
    this.onStep = onStep;
    this.maxInstructions = maxInstructions;
    this.device = new SimDevice(processor, nodeSimOptions());
  }

  close(): void {
    this.device.close();
  }

  /** A thing that the archive does not say, once. */
  note(what: string, message: string): void {
    const seen = this.counts.get(message) ?? 0;
    this.counts.set(message, seen + 1);
    if (seen === 0) this.records.push({ what, message });
  }

  async play({ name, does }: HrrEvent): Promise<void> {
    switch (does.call) {
      case 'allocate':
        return this.allocate(name, does);
      case 'free':
        return this.free(does.address);
      case 'copy':
        return this.copy(name, does);
      case 'fill':
        return this.fill(name, does);
      case 'launch': {
        this.onStep?.(`running the launches before it: ${++this.launches}`);
        const { kernel, request } = this.prepare(does, codeOf(this.archive, does, this.target));
        await this.device.dispatch({ kernel, ...request });
        return;
      }
      case 'unknown':
        this.note(name, `${name} is not done again: what it made or wrote is not in the capture.`);
    }
  }

  private allocate(name: string, { kind, address, bytes }: Extract<HrrCall, { call: 'allocate' }>): void {
    if (address === 0 || bytes === 0) return;
    // An address that is given out again was freed by a call that the log does not have.
    this.free(address);
    this.allocations.set(address, { buffer: this.device.allocAt(address, bytes, name), kind, name });
    if (kind !== 'coarse') {
      this.note(
        name,
        `The log does not say what the program wrote into memory of ${name}, but for its copies and snapshots.`,
      );
    }
  }

  private free(address: number): void {
    const allocation = this.allocations.get(address);
    if (allocation === undefined) return;
    this.allocations.delete(address);
    this.device.free(allocation.buffer);
  }

  /** The allocation with an address, and where it is in it; undefined when all of the range is not in one. */
  private find(address: number, bytes: number): { readonly buffer: DeviceBuffer; readonly offset: number } | undefined {
    for (const { buffer } of this.allocations.values()) {
      const offset = address - buffer.address;
      if (offset >= 0 && offset + bytes <= buffer.size) return { buffer, offset };
    }
    return undefined;
  }

  private copy(name: string, { to, from, bytes, blob }: Extract<HrrCall, { call: 'copy' }>): void {
    const target = this.find(to, bytes);
    const source = this.find(from, bytes);
    if (target === undefined && source === undefined) {
      this.note(name, `${name} copied between addresses that no allocation of the log has.`);
      return;
    }
    const content = this.archive.blob(blob);
    if (content !== undefined && content.length < bytes) {
      throw new WavesmithError(
        'capture/bad-import',
        `Blob ${blob} has ${content.length} of the ${bytes} bytes that ${name} copied.`,
        {
          file: this.archive.path,
        },
      );
    }
    if (target === undefined) {
      if (content !== undefined && source !== undefined) this.check(name, source, content.subarray(0, bytes));
      return;
    }
    const data =
      source === undefined ? content?.subarray(0, bytes) : this.device.read(source.buffer, source.offset, bytes);
    if (data === undefined) this.note(name, `The archive lacks what ${name} copied to the GPU.`);
    else this.device.write(target.buffer, data, target.offset);
  }

  /** What the program read from the GPU is what the virtual GPU has. */
  private check(name: string, { buffer, offset }: { buffer: DeviceBuffer; offset: number }, wanted: Uint8Array): void {
    const now = this.device.read(buffer, offset, wanted.length);
    if (Buffer.compare(now, wanted) === 0) return;
    this.note(
      name,
      `What ${name} read from the GPU differs from what the virtual GPU has there: an earlier launch had another result.`,
    );
  }

  private fill(name: string, { to, value, count }: Extract<HrrCall, { call: 'fill' }>): void {
    const bytes = value.length * count;
    const target = this.find(to, bytes);
    if (target === undefined) {
      this.note(name, `${name} filled addresses that no allocation of the log has.`);
      return;
    }
    const step = Buffer.alloc(Math.min(bytes, FILL_STEP), value);
    for (let at = 0; at < bytes; at += step.length) {
      this.device.write(target.buffer, step.subarray(0, Math.min(step.length, bytes - at)), target.offset + at);
    }
  }

  /** Loads the code and puts snapshots in their places. */
  private prepare({ kernel: name, grid, block, dynamicLds, args, snapshots }: HrrLaunch, code: CodeObject) {
    const key = code.path.join('\0');
    const module = this.modules.get(key) ?? this.device.load(code.bytes);
    this.modules.set(key, module);
    for (const { address, bytes, blob } of snapshots) {
      const target = this.find(address, bytes);
      const content = this.archive.blob(blob);
      if (target === undefined || content === undefined || content.length < bytes)
        this.note('snapshot', `The archive lacks host memory that '${name}' could read.`);
      else this.device.write(target.buffer, content.subarray(0, bytes), target.offset);
    }
    return {
      kernel: module.kernel(name),
      request: { grid, block, dynamicLds, args, maxInstructions: this.maxInstructions },
    };
  }

  /** Makes the launch that is recorded. */
  async record(
    launch: HrrLaunch,
    code: CodeObject,
    producer: Manifest['producer'],
    sequence: number,
  ): Promise<Recorder> {
    const { kernel, request } = this.prepare(launch, code);
    if (!isSimKernel(kernel)) throw new Error('the device is a virtual GPU');
    this.note('result', 'The result was computed on the virtual GPU: the archive has none of single launches.');
    const recorder = new Recorder({
      kernel,
      codeObject: code.bytes,
      producer,
      sequence,
      target: code.targetId.replace(/^.*--/, ''),
      describe: ({ base }) => {
        const known = this.allocations.get(base);
        return known === undefined ? {} : { kind: known.kind, provenance: known.name };
      },
      unsupported: this.records,
    });
    await this.device.dispatch({ kernel, ...request, monitors: [recorder.monitor] });
    return recorder;
  }
}
