// `--device` for commands that run programs with the tools library in them.
import { WavesmithError } from '../base/index.ts';
import type { ProgramDevice } from '../hijack/program-host.ts';
import type { RunOptions } from '../runtime/sim-runtime.ts';
import { parseDevice } from './exec.ts';

/** `sim:TARGET`, or `rocm` and `rocm:N` for the GPU and the libraries that the machine has; another one is `cli/bad-option`. */
export function programDevice(text: string, run: RunOptions = {}): ProgramDevice {
  const [isRocm, index] = /^rocm(?::(\d{1,4}))?$/.exec(text) ?? [];
  if (isRocm !== undefined) return { kind: 'rocm', index: index === undefined ? undefined : Number(index) };
  if (text.startsWith('rocm')) {
    throw new WavesmithError('cli/bad-option', `'${text}' is not a device.`, {
      hint: "Use 'rocm', or 'rocm:N' with the number of a GPU.",
    });
  }
  return { kind: 'sim', target: parseDevice(text), run };
}
