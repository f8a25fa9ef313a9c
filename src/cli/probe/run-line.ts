// `wavesmith probe -- run …`: a probe in the kernel of a run line.
import { nodeProbeCache } from '../../device/node/index.ts';
import {
  atOriginal,
  type Instrumented,
  instrument,
  type ProbeDefinition,
  placeAtOriginal,
} from '../../instrument/index.ts';
import { probePage } from '../../report/index.ts';
import { runKernel } from '../run.ts';
import { printJson, writeOutput } from '../support.ts';
import type { ProbeFlags } from './flags.ts';
import { isComplete, pageCode, placementRecord, reportText } from './print.ts';
import { exportReport } from './program.ts';
import { requireKernel } from './require-kernel.ts';
import { samplingOf } from './sampling.ts';
import { exactly, selfCheck } from './self-check.ts';

/** Runs a kernel with a probe in it. */
export async function probeRun(
  probe: ProbeDefinition,
  line: readonly string[],
  kernel: RegExp | undefined,
  options: ProbeFlags,
): Promise<number> {
  let result: Instrumented | undefined;
  let report: Readonly<Record<string, unknown>> = {};
  const code = await runKernel([...line], {
    replace: (codeObject, one) => {
      requireKernel(kernel, [{ name: one }], codeObject.path.at(-1) ?? one);
      result = instrument(codeObject, probe, {
        kernel: exactly(one),
        growth: options.growth,
        settings: options.settings,
        ...samplingOf(options),
        cache: options.cache ? nodeProbeCache() : undefined,
      });
      return result.codeObject;
    },
    place: (place) => (result === undefined ? place : placeAtOriginal(place, result)),
    ended: (image) => {
      if (result === undefined) return;
      const { address, size } = result.memory;
      report = result.report(size === 0 ? new Uint8Array() : image(address, size));
    },
    print: (record, text) => {
      if (result === undefined) return;
      exportReport(probe, report, options.export);
      if (options.html !== undefined) {
        const page = pageCode(String(record.file), probe, report, result);
        writeOutput(options.html, probePage(probe.name, probe.summary, [page]));
      }
      if (options.json === true)
        printJson({
          tool: probe.name,
          ...report,
          complete: isComplete(result),
          placement: placementRecord(result),
          run: record,
        });
      else {
        const lines = reportText(probe, report, result, options.listing === true);
        process.stdout.write(`${[`${probe.name}: ${probe.summary}`, ...lines].join('\n')}\n\n${text()}`);
      }
    },
  }).catch((error: unknown) => {
    throw result === undefined ? error : atOriginal(error, result.pcs);
  });
  if (options.selfCheck === true) {
    const verdict = await selfCheck(probe, line, kernel, options.settings);
    if (verdict !== undefined) throw verdict;
    process.stderr.write('self-check: every buffer is as the original leaves it\n');
  }
  return code !== 0 ? code : options.requireAll === true && (result?.rejected.length ?? 0) > 0 ? 1 : 0;
}
