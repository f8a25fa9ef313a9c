// `wavesmith trace`: per-instruction listing of a thread trace (decoded ATT folder, ATT stats, raw gfx9 .att blobs).
import { WavesmithError } from '../base/index.ts';
import { analyse, isKnown, loadProfile, perfettoTrace, speedscopeFile, type TraceSection } from '../profile/index.ts';
import { writePieces } from './profile-output.ts';
import { newCommand, parseArguments, printJson } from './support.ts';

interface Flags {
  codeObject?: string;
  base?: string;
  waves?: boolean;
  perfetto?: string;
  speedscope?: string;
  json?: boolean;
}

/** Runs `wavesmith trace`. */
export async function run(argv: string[]): Promise<number> {
  const command = newCommand('trace', 'List the instructions of a thread trace with counts, latency, stall and idle.')
    .argument('<paths...>', 'ui_output folders, stats CSV, raw .att files, code objects')
    .option('--code-object <file>', 'code object that raw traces ran')
    .option('--base <address>', 'its load address; found from the kernel entries when not given')
    .option('--waves', 'also list the traced waves')
    .option('--perfetto <file>', 'also write a timeline for ui.perfetto.dev')
    .option('--speedscope <file>', 'also write a profile for speedscope.app')
    .option('--json', 'print the traces as JSON');
  if (!parseArguments(command, argv)) return 0;
  const flags = command.opts<Flags>();
  const paths = command.processedArgs[0] as string[];
  const inputs = flags.codeObject === undefined ? paths : [...paths, flags.codeObject];
  const { recording, sqtt } = loadProfile(inputs, { base: address(flags.base) });
  if (recording.traces.length === 0) {
    throw new WavesmithError('trace/none', `There is no thread trace under ${paths.join(', ')}.`, {
      file: paths[0],
      hint: "Give the output of 'rocprofv3 --att'.",
    });
  }
  if (flags.perfetto !== undefined) writePieces(flags.perfetto, perfettoTrace(recording));
  if (flags.speedscope !== undefined) writePieces(flags.speedscope, speedscopeFile(recording, paths.join(' ')));
  const { traces, findings } = analyse(recording);
  if (flags.json === true) {
    const raw = sqtt.map(({ trace, header, targetCu, tokens, counts, base, stitched, fits, changedKinds }) => ({
      source: trace.source,
      header,
      targetCu,
      tokens: { ...tokens, counts: [...tokens.counts] },
      counts,
      base: base ?? null,
      stitched,
      fits,
      changedKinds,
    }));
    printJson({ schema: 'wavesmith.trace', version: '1.0', traces, raw, findings });
    return 0;
  }
  for (const result of sqtt) {
    const { counts, tokens, stitched } = result;
    process.stdout.write(
      `${result.trace.source}: SE ${result.header.shaderEngine}, ${tokens.tokens} tokens, ${counts.starts} wave starts, ` +
        `${counts.ends} ends, ${result.trace.waves.length + result.trace.omittedWaves} traced waves, ` +
        `${stitched.matched} of ${stitched.total} instructions matched\n`,
    );
  }
  for (const trace of traces) if (trace.lines.length > 0) process.stdout.write(listing(trace, flags.waves === true));
  for (const finding of findings) process.stdout.write(`${finding.code} ${finding.file}: ${finding.message}\n`);
  return 0;
}

function address(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = /^(0x[0-9a-fA-F]{1,13}|\d{1,15})$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value)) {
    throw new WavesmithError('cli/usage', `--base must be an address, not '${text}'.`, {
      hint: "'wavesmith trace --help' shows the usage.",
    });
  }
  return value;
}

function listing(trace: TraceSection, waves: boolean): string {
  const out = [`\n${trace.source} (${trace.kind})`];
  const sampled = trace.lines.some((line) => line.samples !== null && line.samples > 0);
  const head = ['address', 'hits', 'latency', 'stall', 'idle', ...(sampled ? ['samples'] : [])];
  out.push(`${head.map((name) => name.padStart(10)).join('')}  instruction`);
  let kernel: string | null = null;
  for (const line of trace.lines) {
    if (line.kernel !== kernel) {
      kernel = line.kernel;
      out.push(`; ${kernel ?? ''}`);
    }
    const cells = [line.address.toString(16), line.hits, line.latency, line.stall, line.idle];
    if (sampled) cells.push(line.samples ?? 0);
    const where = line.source === '' ? '' : `  ; ${line.source}`;
    out.push(`${cells.map((cell) => String(cell).padStart(10)).join('')}  ${line.text}${where}`);
  }
  out.push('class            lines      hits   latency     stall      idle');
  for (const sum of trace.classes) {
    const cells = [sum.lines, sum.hits, sum.latency, sum.stall, sum.idle];
    out.push(sum.class.padEnd(12) + cells.map((cell) => String(cell).padStart(10)).join(''));
  }
  if (isKnown(trace.stallShare))
    out.push(`stalled ${(100 * trace.stallShare.value).toFixed(1)}% of instruction cycles`);
  if (isKnown(trace.loadToUse)) out.push(`load to use ${trace.loadToUse.value.toFixed(1)} cycles (mean)`);
  for (const reason of trace.stallReasons) out.push(`stalled samples ${reason.reason}: ${reason.samples}`);
  if (waves) {
    for (const wave of trace.waves) {
      out.push(
        `wave SE ${wave.shaderEngine} CU ${wave.cu} SIMD ${wave.simd} slot ${wave.slot}: ${wave.begin} to ${wave.end}, ${wave.instructions} instructions`,
      );
    }
  }
  return `${out.join('\n')}\n`;
}
