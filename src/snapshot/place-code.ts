// The code of a capture on a device, and its variables where edited code has them.
import { WavesmithError } from '../base/index.ts';
import { readCodeObject } from '../codeobject/index.ts';
import { imageSize } from '../device/image.ts';
import type { Device, DeviceBuffer, DeviceModule } from '../device/index.ts';
import type { Capture } from './capture.ts';
import { hex } from './fields.ts';
import type { PlacedChunk } from './placed-chunk.ts';

/**
 * Loads the captured code at its address. Edited code that does not fit there is loaded elsewhere, which is a remark; a device that cannot choose
 * where code goes has it elsewhere when no captured memory points into it, and else fails with `replay/relocated`.
 */
export function loadCode(
  device: Device,
  capture: Capture,
  code: Uint8Array | undefined,
  remarks: string[],
): DeviceModule {
  const { loadAddress } = capture.manifest.code;
  try {
    return device.load(code ?? capture.codeObject(), loadAddress);
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    const hasNoPlace = error.code === 'device/no-code-address';
    if (!hasNoPlace && (error.code !== 'device/address-taken' || code === undefined)) throw error;
    const module = device.load(code ?? capture.codeObject());
    const pointer = hasNoPlace && module.address !== loadAddress ? pointerIntoCode(capture) : undefined;
    if (pointer === undefined) {
      remarks.push(
        hasNoPlace
          ? `the device chose ${hex(module.address)} for the code, not ${hex(loadAddress)}; nothing that was captured points there`
          : `the edited code does not fit in the place of the captured one and is at ${hex(module.address)}: pointers into code or variables that lie in memory are not valid`,
      );
      return module;
    }
    module.unload();
    throw new WavesmithError(
      'replay/relocated',
      `The device cannot put the code at ${hex(loadAddress)}, and the captured memory at ${hex(pointer)} points into it: the replay would not be faithful.`,
      { file: capture.path, hint: error.hint, cause: error },
    );
  }
}

/** Where captured memory holds an aligned word that is an address of the code object; undefined when it does not. */
function pointerIntoCode(capture: Capture): number | undefined {
  const { loadAddress } = capture.manifest.code;
  const end = loadAddress + imageSize(readCodeObject(capture.codeObject()).elf);
  for (const chunk of capture.chunks) {
    const pre = chunk.pre();
    if (pre === undefined) continue;
    const view = new DataView(pre.buffer, pre.byteOffset, pre.length);
    for (let at = 0; at + 8 <= pre.length; at += 8) {
      const word = Number(view.getBigUint64(at, true));
      if (word >= loadAddress && word < end) return chunk.address + at;
    }
  }
  return undefined;
}

/** The captured contents of variables in the places that variables of the same name have in edited code. */
export function moveVariables(
  capture: Capture,
  module: DeviceModule,
  buffer: DeviceBuffer,
  chunks: readonly PlacedChunk[],
  remarks: string[],
): PlacedChunk[] {
  const moved: PlacedChunk[] = [];
  for (const variable of capture.manifest.code.variables) {
    const target = module.variables.find((v) => v.name === variable.name);
    for (const chunk of chunks) {
      const from = Math.max(0, variable.address - chunk.address);
      const to = Math.min(chunk.length, variable.address + variable.size - chunk.address);
      const cut = (bytes: Uint8Array | undefined): Uint8Array | undefined => bytes?.subarray(from, to);
      const known = chunk.known === null ? null : cut(chunk.known);
      const isTouched = known === undefined || known?.includes(1) === true || cut(chunk.writes)?.includes(1) === true;
      if (from >= to || !isTouched) continue;
      if (target === undefined || target.size !== variable.size) {
        remarks.push(
          `the edited code has no variable '${variable.name}' of ${variable.size} bytes: its captured content is not used`,
        );
        break;
      }
      const address = target.address + chunk.address + from - variable.address;
      if (target.address !== variable.address) {
        remarks.push(
          `variable '${variable.name}' is at ${hex(target.address)} in the edited code, not at ${hex(variable.address)}`,
        );
      }
      const initial = chunk.initial.subarray(from, to);
      const { allocation } = chunk;
      const sides = { initial, known, post: cut(chunk.post), writes: cut(chunk.writes) };
      moved.push({ address, length: to - from, allocation, buffer, offset: address - buffer.address, ...sides });
    }
  }
  return moved;
}
