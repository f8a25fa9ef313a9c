// Runs a dispatch in strict mode: adds the checker to its monitors, and turns what stops it into a finding of a partial result.
import { WavesmithError } from '../../../base/index.ts';
import { DeviceFault } from '../../fault.ts';
import type { Engine, EngineJob } from '../dispatch/engine.ts';
import type { SimDispatchRequest, SimDispatchResult } from '../options.ts';
import { StrictChecker, type StrictKernel } from './checker.ts';
import { StrictEngine } from './engine.ts';
import { StrictStop } from './findings.ts';
import type { MemoryHistory } from './history.ts';

/** The checker as a monitor with an engine of its own: compiled code with checks. */
class StrictMonitor extends StrictChecker {
  engine(job: EngineJob): Engine {
    return new StrictEngine(job, this);
  }
}

/** Errors of a running kernel that are findings of a strict run; others (bad requests, aborted runs) stay errors. */
function isFinding(error: unknown): error is WavesmithError {
  return error instanceof WavesmithError && error.code.startsWith('sim/') && error.code !== 'sim/aborted';
}

/** `run` executes a request with monitors; the result has the findings. */
export async function dispatchStrict(
  request: SimDispatchRequest,
  kernel: StrictKernel,
  history: MemoryHistory,
  run: (request: SimDispatchRequest) => Promise<SimDispatchResult>,
): Promise<SimDispatchResult> {
  const checker = new StrictMonitor(kernel, history, request.strict ?? {});
  const withFindings = (result: SimDispatchResult, isComplete: boolean, stoppedBy?: DeviceFault): SimDispatchResult => {
    const { findings, dropped } = checker.log;
    return {
      ...result,
      findings,
      findingsDropped: dropped,
      diagnostics: findings,
      diagnosticsDropped: dropped,
      isComplete,
      stoppedBy,
    };
  };
  try {
    const result = await run({ ...request, strict: undefined, monitors: [...(request.monitors ?? []), checker] });
    checker.finish();
    return withFindings(result, true);
  } catch (error) {
    if (!checker.hasBegun) throw error;
    if (error instanceof StrictStop) return withFindings(checker.partialResult(), false);
    if (!isFinding(error)) throw error;
    const { code, message, position, hint } = error;
    if (code === 'sim/budget')
      checker.stopped('schedule/budget', message, position.pc, hint ?? 'Raise the instruction budget.');
    else checker.stopped('run/stopped', message, position.pc, hint ?? `See the error ${code}.`);
    return withFindings(checker.partialResult(), false, error instanceof DeviceFault ? error : undefined);
  } finally {
    checker.letGo();
  }
}
