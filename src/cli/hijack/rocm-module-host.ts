// Whole modules on the GPU of this machine for `hijack run`: iree-run-module with the tools library in it, which tells the kernels that ran.
import { WavesmithError } from '../../base/index.ts';
import { runProgram } from '../../hijack/program-host.ts';
import type { ModuleDispatch, ModuleHost, ModuleHostOptions } from '../../iree/run-module.ts';
import { programDevice } from '../program-device.ts';
import { DispatchProgress } from '../run-progress.ts';

/** Opens the GPU that the program finds by itself. It counts no instructions, checks nothing, and its memory is not followed. */
export function rocmHostOpener(name: string): (options: ModuleHostOptions) => Promise<ModuleHost> {
  const device = programDevice(name);
  return async ({ isStrict, maxMilliseconds }) => {
    if (isStrict) {
      throw new WavesmithError('hijack/no-strict', "The device 'rocm' cannot check kernels while they run.", {
        hint: 'Leave out --check, or use --device sim, which has the strict mode.',
      });
    }
    const dispatches: ModuleDispatch[] = [];
    const progress = new DispatchProgress(process.stderr);
    return {
      dispatches,
      memory: undefined,
      run: async (program, args) => {
        const ran = await runProgram(
          {
            plan: ({ object }) => ({ kernels: object.kernels.map(({ name: kernel }) => ({ kernel, report: true })) }),
            onDispatch: ({ kernel }) => {
              if (kernel === undefined) return;
              dispatches.push({ kernel, instructions: undefined, findings: [] });
              progress.update(dispatches.length, kernel);
            },
          },
          {
            device,
            command: [program, ...args],
            show: 'none',
            timeout: maxMilliseconds,
            report: (text) => process.stderr.write(`wavesmith: ${text}\n`),
          },
        );
        return {
          status: ran.status,
          stdout: Buffer.from(ran.stdout).toString(),
          stderr: ran.fault ?? '',
          milliseconds: ran.seconds * 1000,
          timedOut: ran.timedOut,
        };
      },
      close: async () => progress.clear(),
    };
  };
}
