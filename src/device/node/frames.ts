// How a thread of Node shows itself memory beyond the window: the native addon maps pages of the device's file over wasm memory.
import { createRequire } from 'node:module';
import type { BeyondWindow } from '../sim/state/frames.ts';

/** What of the native addon (native/addon/addon.cc) shows frames. */
export interface FrameAddon {
  /** Maps `size` bytes of a file from `offset` over the bytes at `at` of a WebAssembly memory; all are whole pages. */
  showFrame(memory: Uint8Array, at: number, descriptor: number, offset: number, size: number): void;
  /** `size` bytes of a file from `offset` as a buffer, mapped until it is collected; whole pages. */
  viewFile(descriptor: number, offset: number, size: number): ArrayBuffer;
}

/** Where the memory is, for any thread of the process. */
export interface FrameSource {
  /** File of the addon. */
  readonly addon: string;
  /** Descriptor of the device's file. */
  readonly descriptor: number;
}

/** How this thread sees memory beyond the window. */
export function showFrom(source: unknown, memory: WebAssembly.Memory): Pick<BeyondWindow, 'show' | 'view'> {
  const { addon: path, descriptor } = source as FrameSource;
  const addon = createRequire(import.meta.url)(path) as FrameAddon;
  const bytes = new Uint8Array(memory.buffer);
  return {
    show: (at, offset, size) => addon.showFrame(bytes, at, descriptor, offset, size),
    view: (offset, size) => addon.viewFile(descriptor, offset, size),
  };
}
