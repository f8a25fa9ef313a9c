// `wavesmith replay reserve-check`: are the addresses of a capture free in a process?
import { WavesmithError } from '../../base/index.ts';
import { checkReserve, mappingsOf, openCapture } from '../../snapshot/index.ts';
import { newCommand, parseArguments, printJson } from '../support.ts';

const hex = (n: number): string => `0x${n.toString(16)}`;

/** Runs the command. */
export async function run(argv: string[]): Promise<number> {
  const command = newCommand('replay reserve-check', 'Are all addresses of a capture free? No GPU is touched.')
    .argument('<capture>', 'a .wscap')
    .option('--pid <n>', 'ask about this process instead of a fresh one of Wavesmith')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExit code 0: every range is free. 1: some are not; what is in their way is named.');
  if (!parseArguments(command, argv)) return 0;
  const { pid, json } = command.opts<{ pid?: string; json?: boolean }>();
  if (pid !== undefined && !/^\d{1,9}$/.test(pid))
    throw new WavesmithError('cli/usage', `--pid ${pid} is not a number.`);
  const capture = openCapture(command.args[0] ?? '');
  const result = checkReserve(capture, mappingsOf(pid === undefined ? 'self' : Number(pid)));
  if (json === true) printJson({ capture: capture.path, ...result });
  else {
    const lines = result.ranges.map(({ label, address, size, reason, mapping }) => {
      const range = `${hex(address)}-${hex(address + size)}  ${label}`;
      if (reason === undefined) return `  free   ${range}`;
      const by =
        mapping === undefined
          ? ''
          : `: ${hex(mapping.start)}-${hex(mapping.end)} ${mapping.permissions} ${mapping.name || '(anonymous)'}`;
      return `  taken  ${range}\n         ${reason}${by}`;
    });
    const taken = result.ranges.filter((r) => r.reason !== undefined).length;
    lines.push(
      taken === 0 ? `FREE: all ${result.ranges.length} ranges` : `TAKEN: ${taken} of ${result.ranges.length} ranges`,
    );
    process.stdout.write(`${lines.join('\n')}\n`);
  }
  return result.ok ? 0 : 1;
}
