// Whole modules under the virtual runtime for `hijack run`: the device that iree-run-module sees, and the report.

import type { StrayWrites } from '../../iree/module-memory.ts';
import type {
  FunctionRun,
  ModuleDispatch,
  ModuleHost,
  ModuleHostOptions,
  ModuleRunResult,
  ModuleSide,
} from '../../iree/run-module.ts';
import { packageRoot, runTool } from '../../iree/tools.ts';
import { startDeviceProcess, tooManyKernels } from '../../runtime/exec.ts';
import { comparisonLines } from '../../verdict/index.ts';
import { DispatchProgress } from '../run-progress.ts';
import { conclusion } from './describe.ts';
import { simDevice } from './device.ts';

/** Most milliseconds one run of iree-run-module may take. */
const TIMEOUT_MS = 3_600_000;
/** Time for a program to end by itself after a fault. */
const GRACE_MS = 300;

/** Opens virtual GPUs that other programs see as theirs; an unknown device is a usage error. */
export function moduleHostOpener(
  name: string,
  mfma: 'exact' | 'fast',
): (options: ModuleHostOptions) => Promise<ModuleHost> {
  const check = simDevice(name);
  return async ({ target, maxInstructions, maxKernels = Number.POSITIVE_INFINITY, isStrict, fresh }) => {
    check(target);
    const dispatches: ModuleDispatch[] = [];
    const progress = new DispatchProgress(process.stderr);
    const device = await startDeviceProcess({
      root: packageRoot() ?? '.',
      target,
      mfma,
      maxInstructions,
      fresh,
      strict: isStrict ? {} : undefined,
      onDispatch: (kernel, { instructions, findings = [] }) => {
        dispatches.push({ kernel, instructions, findings });
        progress.update(dispatches.length, kernel);
        if (dispatches.length > maxKernels) device.server.onFault(tooManyKernels(maxKernels));
      },
      report: (text) => process.stderr.write(`wavesmith: ${text}\n`),
    });
    return {
      dispatches,
      get memory() {
        return device.writtenMemory;
      },
      run: async (program, args) => {
        // A program may wait for ever for a kernel that failed. Without a device it ends, and what started it.
        let fault = '';
        device.server.onFault = (text) => {
          fault ||= text;
          setTimeout(() => void device.server.close(), GRACE_MS).unref();
        };
        const ran = await runTool(device.build.launcher, [String(process.pid), program, ...args], {
          env: device.environment(process.env),
          timeout: TIMEOUT_MS,
        });
        return fault === '' ? ran : { ...ran, status: ran.status === 0 ? 1 : ran.status, stdout: '', stderr: fault };
      },
      close: () => {
        progress.clear();
        return device.close();
      },
    };
  };
}

/** The report as text. */
export function describeModules(result: ModuleRunResult): string {
  const { functions, notRun, exact, seed } = result;
  const lines = functions.flatMap((f) => describeFunction(f, exact));
  for (const { function: name, message, hint } of notRun) {
    lines.push(`@${name}  not run: ${message}${hint === null ? '' : ` ${hint}`}`);
  }
  lines.push(
    ...conclusion(
      result,
      functions.map((f) => f.verdict),
      'function(s)',
      seed,
    ),
  );
  return lines.join('\n');
}

function describeFunction(run: FunctionRun, isExact: boolean): string[] {
  const lines = [`@${run.function}(${run.inputs.join(', ')})`];
  const side = (name: string, s: ModuleSide | null): string =>
    s === null
      ? `  ${name}  did not finish`
      : `  ${name}  ${s.dispatches} dispatch(es), ${s.instructions === null ? '' : `${s.instructions} instructions, `}${s.seconds.toFixed(2)} s`;
  lines.push(side('baseline', run.baseline), side('modified', run.modified));
  if (run.error !== null) lines.push(...run.error.message.split('\n').map((line) => `    ${line}`));
  for (const { index, type, comparison } of run.outputs) {
    lines.push(...comparisonLines(`  output ${index} (${type})`, comparison, isExact));
  }
  for (const { allocation, comparison } of run.contents) {
    lines.push(...comparisonLines(`  memory of allocation ${allocation}`, comparison, isExact));
  }
  if (run.memory !== null) lines.push(memoryLine(run.memory));
  else if (run.modified !== null)
    lines.push('  memory: this device does not follow what is written beside the outputs');
  lines.push(...run.reasons.map((reason) => `  ${reason}`));
  if (run.verdict === 'nothing-compared')
    lines.push('  nothing compared: the function has no output and left no memory');
  return lines;
}

function memoryLine({ allocations, bytes, untouched, stray }: StrayWrites): string {
  const what = `  memory: ${allocations} allocation(s), ${bytes} bytes`;
  if (stray === null) return `${what}; the sides allocated differently, so their writes were not compared`;
  return `${what}; of ${untouched} bytes that the baseline leaves alone, the modified module wrote ${stray}`;
}
