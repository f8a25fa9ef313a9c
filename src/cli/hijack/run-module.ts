// Whole modules under the virtual runtime for `hijack run`: the device that iree-run-module sees, and the report.
import { WavesmithError } from '../../base/index.ts';
import type { Comparison } from '../../iree/compare.ts';
import type { FunctionRun, ModuleDispatch, ModuleHost, ModuleRunResult, ModuleSide } from '../../iree/run-module.ts';
import { packageRoot, runTool } from '../../iree/tools.ts';
import type { TargetName } from '../../isa/types.ts';
import { startDeviceProcess } from '../../runtime/exec.ts';

/** Most milliseconds one run of iree-run-module may take. */
const TIMEOUT_MS = 3_600_000;
/** Time for a program to end by itself after a fault. */
const GRACE_MS = 300;

/** Opens virtual GPUs that other programs see as theirs; an unknown device is a usage error. */
export function moduleHostOpener(
  name: string,
  mfma: 'exact' | 'fast',
): (target: TargetName, maxInstructions: number | undefined) => Promise<ModuleHost> {
  if (name !== 'sim') {
    throw new WavesmithError('cli/usage', `There is no device '${name}'.`, { hint: "The device is 'sim'." });
  }
  return async (target, maxInstructions) => {
    const dispatches: ModuleDispatch[] = [];
    const device = await startDeviceProcess({
      root: packageRoot() ?? '.',
      target,
      mfma,
      maxInstructions,
      onDispatch: (kernel, { instructions }) => dispatches.push({ kernel, instructions }),
      report: (text) => process.stderr.write(`wavesmith: ${text}\n`),
    });
    return {
      dispatches,
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
      close: () => device.close(),
    };
  };
}

/** The report as text. */
export function describeModules(result: ModuleRunResult): string {
  const { functions } = result;
  if (functions.length === 0) return 'No kernel was changed: baseline and modified module hold the same code.\n';
  const lines = functions.flatMap((f) => describeFunction(f, result.exact));
  for (const { function: name, message, hint } of result.notRun) {
    lines.push(`@${name}  not run: ${message}${hint === null ? '' : ` ${hint}`}`);
  }
  const bad = functions.filter((f) => f.verdict === 'different' || f.verdict === 'failed').length;
  const exactly = functions.filter((f) => f.verdict === 'identical').length;
  lines.push(
    result.ok
      ? `EQUAL: ${functions.length} function(s), ${exactly} identical in every bit, seed ${result.seed}`
      : `DIFFERENT: ${bad || functions.length - exactly} of ${functions.length} function(s), seed ${result.seed}`,
    '',
  );
  return lines.join('\n');
}

function describeFunction(run: FunctionRun, isExact: boolean): string[] {
  const lines = [`@${run.function}(${run.inputs.join(', ')})`];
  const side = (name: string, s: ModuleSide | null): string =>
    s === null
      ? `  ${name}  did not finish`
      : `  ${name}  ${s.dispatches} dispatch(es), ${s.instructions} instructions, ${s.seconds.toFixed(2)} s`;
  lines.push(side('baseline', run.baseline), side('modified', run.modified));
  if (run.error !== null) lines.push(...run.error.message.split('\n').map((line) => `    ${line}`));
  for (const { index, type, comparison } of run.outputs) {
    lines.push(...differenceLines(`  output ${index} (${type})`, comparison, isExact));
  }
  return lines;
}

/** How two buffers differ, in one line or two. */
export function differenceLines(what: string, c: Comparison, isExact: boolean): string[] {
  if (c.different === 0) return [`${what}: identical`];
  const scale = `largest difference ${number(c.maxAbsolute)}, relative ${number(c.maxRelative)}`;
  const first =
    c.first === null ? '' : `; element ${c.first.index}: ${number(c.first.baseline)} → ${number(c.first.modified)}`;
  const lines = [
    c.outside === 0
      ? `${what}: ${c.different} differ in bits, all within the ${c.elementType} tolerance ${c.tolerance} (${scale})`
      : `${what}: ${c.outside} outside the ${c.elementType} tolerance ${c.tolerance} (${scale}${first})`,
  ];
  if (c.outside === 0 && isExact) {
    lines.push(
      `    --exact was asked for; rounding differences like these are normal for ${c.elementType}: leave it out`,
    );
  }
  return lines;
}

function number(value: number): string {
  return Number.isFinite(value) ? Number(value.toPrecision(5)).toString() : String(value);
}
