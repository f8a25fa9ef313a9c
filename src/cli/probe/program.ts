// `wavesmith probe -- PROGRAM …`: a probe in the kernels of an unmodified program.
import { WavesmithError } from '../../base/index.ts';
import { nodeProbeCache } from '../../device/node/index.ts';
import { type ProbedCode, type ProbedProgram, probeProgram } from '../../hijack/probe-program.ts';
import type { ProbeDefinition } from '../../instrument/index.ts';
import { probePage } from '../../report/index.ts';
import { parseDispatchRange } from '../dispatch-range.ts';
import { programDevice } from '../program-device.ts';
import { printJson, writeOutput } from '../support.ts';
import type { ProgramFlags } from './flags.ts';
import { isComplete, pageCode, placementRecord, reportText } from './print.ts';
import { samplingOf } from './sampling.ts';
import { selfCheckProgram } from './self-check.ts';

/** Runs a program with a probe. The exit code is the program's, or 1 when it ended well but something is missing and all was required. */
export async function probeCommand(
  probe: ProbeDefinition,
  command: readonly string[],
  kernel: RegExp | undefined,
  flags: ProgramFlags,
): Promise<number> {
  const { json, requireAll } = flags;
  const options = {
    device: programDevice(flags.device),
    kernel,
    growth: flags.growth,
    ...samplingOf(flags),
    cache: flags.cache ? nodeProbeCache() : undefined,
    settings: flags.settings,
    range: flags.dispatch === undefined ? undefined : parseDispatchRange(flags.dispatch),
    show: json === true ? 'stderr' : 'stdout',
    report: (text: string): void => void process.stderr.write(`wavesmith: ${text}\n`),
  } as const;
  const result = await probeProgram(probe, command, options);
  result.codes.filter(wasLaunched).forEach(({ found }, i) => {
    if (found !== undefined) exportReport(probe, found, flags.export, i);
  });
  if (flags.html !== undefined) {
    const pages = result.codes
      .filter(wasLaunched)
      .flatMap(({ origin, found, instrumented }) =>
        found === undefined || instrumented === undefined ? [] : [pageCode(origin, probe, found, instrumented)],
      );
    writeOutput(flags.html, probePage(probe.name, probe.summary, pages));
  }
  const complete = result.isClosed && result.codes.every(isWhole) && result.codes.some(wasLaunched);
  if (json === true) printJson(programRecord(probe, command, flags, result, complete));
  else process.stdout.write(programText(probe, result, flags));
  if (flags.selfCheck === true) {
    const { compared, remarks, verdict } = await selfCheckProgram(probe, command, options);
    for (const remark of remarks) process.stderr.write(`self-check: ${remark}\n`);
    if (verdict !== undefined) throw verdict;
    const said =
      compared === 0
        ? 'no dispatch was compared'
        : `the memory of ${compared} dispatch(es) is as the original leaves it`;
    process.stderr.write(`self-check: ${said}\n`);
    if (compared === 0) return 1;
  }
  return result.run.status !== 0 ? result.run.status : requireAll === true && !complete ? 1 : 0;
}

/** Writes what a probe exports; of a program's further code objects to FILE.2, FILE.3 and so on. */
export function exportReport(
  probe: ProbeDefinition,
  report: Readonly<Record<string, unknown>>,
  file: string | undefined,
  index = 0,
): void {
  if (file === undefined) return;
  if (probe.export === undefined) {
    throw new WavesmithError('cli/usage', `The probe '${probe.name}' exports nothing.`, {
      hint: 'trace-export writes a time line for Perfetto.',
    });
  }
  writeOutput(index === 0 ? file : `${file}.${index + 1}`, probe.export(report));
}

function isWhole({ instrumented, problem }: ProbedCode): boolean {
  return problem === undefined && (instrumented === undefined || isComplete(instrumented));
}

function wasLaunched({ launches }: ProbedCode): boolean {
  return launches.some((l) => l.dispatches > 0);
}

function programRecord(
  probe: ProbeDefinition,
  command: readonly string[],
  { device }: ProgramFlags,
  { codes, run, remarks }: ProbedProgram,
  complete: boolean,
) {
  return {
    tool: probe.name,
    command,
    device,
    status: run.status,
    fault: run.fault ?? null,
    complete,
    codeObjects: codes.map(({ origin, sha256, launches, instrumented, problem, found }) => ({
      origin,
      sha256,
      launches,
      problem: problem ?? null,
      ...found,
      placement: instrumented === undefined ? null : placementRecord(instrumented),
    })),
    remarks,
  };
}

function programText(
  probe: ProbeDefinition,
  { codes, run, isClosed, remarks }: ProbedProgram,
  flags: ProgramFlags,
): string {
  const lines = [`${probe.name}: ${probe.summary}`];
  for (const code of codes.filter(wasLaunched)) {
    lines.push('', code.origin);
    for (const { kernel, dispatches, probed } of code.launches.filter((l) => l.dispatches > 0)) {
      const without = probed === dispatches ? '' : `, ${dispatches - probed} of them without the probe`;
      lines.push(`  ${kernel}: launched ${dispatches} time(s)${without}`);
    }
    if (code.problem !== undefined) lines.push(`NOT PROBED: ${code.problem}`);
    if (code.instrumented !== undefined && code.found !== undefined)
      lines.push(...reportText(probe, code.found, code.instrumented, flags.listing === true));
  }
  if (!codes.some(wasLaunched)) lines.push('NOTHING PROBED: the program launched no kernel that was seen');
  if (!isClosed) {
    lines.push(
      'INCOMPLETE: a process was killed or left by _exit; what its kernels did in its last 0.2 seconds may be missing',
    );
  }
  lines.push(...remarks.map((remark) => `remark: ${remark}`));
  if (run.fault !== undefined) lines.push(run.fault.trimEnd());
  if (run.status !== 0) lines.push(`the program ended with status ${run.status}`);
  return `${lines.join('\n')}\n`;
}
