// `wavesmith profile --device sim`: runs a program on the virtual GPU with every dispatch counted, and timed by a model when asked.
import type { TimingModel } from '../device/sim/timing/model.ts';
import { packageRoot } from '../iree/index.ts';
import type { TargetName } from '../isa/types.ts';
import { type Recording, recordSimulated, shellLine } from '../profile/index.ts';
import { runProgram, startDeviceProcess } from '../runtime/exec.ts';
import { ModelClock } from '../runtime/model-clock.ts';
import { profiledChip, RuntimeProfiler } from '../runtime/profiler.ts';

/** Runs the program to its end; its recording and its exit status. */
export async function simulateProgram(
  target: TargetName,
  program: readonly string[],
  timing: TimingModel | undefined,
): Promise<{ readonly recording: Recording; readonly status: number }> {
  const profiler = new RuntimeProfiler();
  const device = await startDeviceProcess({
    root: packageRoot() ?? '.',
    target,
    profiler,
    timing,
    clock: timing && new ModelClock(timing.chip),
    report: (text) => process.stderr.write(`wavesmith: ${text}\n`),
  });
  try {
    const status = await runProgram(device, program);
    const { name, computeUnits } = device.server.hello;
    const { dispatches, failures, copies } = profiler;
    const recording = recordSimulated({
      program: shellLine(program),
      target,
      device: name,
      computeUnits,
      dispatches,
      failures,
      copies,
      chip: timing && profiledChip(timing.chip),
    });
    if (status !== 0) {
      recording.report(
        'sim/exit',
        'virtual GPU',
        `The program ended with status ${status}; the profile may be incomplete.`,
      );
    }
    return { recording, status };
  } finally {
    await device.close();
  }
}
