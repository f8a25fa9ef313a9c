// Room `cli/capture`: the subcommands of `wavesmith capture`, one file each, and the options they share. Begin with this file.
//
// `wavesmith capture info`: what a capture holds.
import { type Capture, openCapture } from '../../snapshot/index.ts';
import schema from '../../snapshot/schema/wscap-1.schema.json' with { type: 'json' };
import { newCommand, parseArguments, printJson } from '../support.ts';

const hex = (n: number): string => `0x${n.toString(16)}`;
const sum = (all: Iterable<number>): number => [...all].reduce((a, b) => a + b, 0);

/** Runs the command. */
export async function run(argv: string[]): Promise<number> {
  const command = newCommand('capture info', 'What a capture holds. An incomplete one is shown as far as it goes.')
    .argument('[capture]', 'a .wscap')
    .option('--schema', 'print the JSON schema of manifest.json')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExit code 0: complete. 1: incomplete.');
  if (!parseArguments(command, argv)) return 0;
  const { json, schema: wantsSchema } = command.opts<{ json?: boolean; schema?: boolean }>();
  if (wantsSchema === true) {
    printJson(schema);
    return 0;
  }
  const capture = openCapture(command.args[0] ?? '', { allowIncomplete: true });
  if (json === true) printJson(record(capture));
  else process.stdout.write(infoText(capture));
  return capture.missing.length === 0 ? 0 : 1;
}

function record(capture: Capture) {
  const { manifest, missing, hash, stored } = capture;
  return {
    path: capture.path,
    complete: missing.length === 0,
    missing,
    manifestHash: hash,
    pages: stored.size,
    storedBytes: sum([...stored.values()].map((p) => p.stored)),
    memoryBytes: sum([...stored.values()].map((p) => p.bytes)),
    ...manifest,
  };
}

function allocationLines({ manifest, chunks }: Capture): string[] {
  return manifest.memory.allocations.map((allocation, i) => {
    const own = chunks.filter((c) => c.entry.allocation === i);
    const before = own.filter((c) => c.entry.pre !== undefined).length;
    const after = own.filter((c) => c.entry.post !== undefined).length;
    const { address, size, kind, label, provenance, flags } = allocation;
    const more = [provenance, ...flags].filter((text) => text !== '').join(', ');
    return `  ${hex(address)}  ${String(size).padStart(11)}  ${kind.padEnd(8)} ${before}+${after}  ${label}${more === '' ? '' : ` (${more})`}`;
  });
}

function infoText(capture: Capture): string {
  const { manifest, missing, stored, hash } = capture;
  const { dispatch, code, memory, determinism, annotations, unsupported } = manifest;
  const pages = [...stored.values()];
  const lines = [
    ...(missing.length === 0 ? [] : [`INCOMPLETE: ${missing.join(' ')}`]),
    `kernel       ${dispatch.kernel}, dispatch ${dispatch.sequence}`,
    `launch       ${dispatch.gridWorkItems.join('×')} work-items in workgroups of ${dispatch.block.join('×')}, LDS ${dispatch.staticLds}+${dispatch.dynamicLds}, scratch ${dispatch.scratch}${dispatch.instructions === undefined ? '' : `, ${dispatch.instructions} instructions`}`,
    `code         ${code.target}, ${code.bytes} bytes at ${hex(code.loadAddress)}, sha256 ${code.sha256.slice(0, 16)}…`,
    `recorded by  ${manifest.producer.name} ${manifest.producer.version} on ${manifest.producer.device}`,
    `memory       ${memory.mode}, ${memory.chunks.length} chunks, ${sum(pages.map((p) => p.bytes))} bytes in ${sum(pages.map((p) => p.stored))}${memory.proved ? ', proved complete' : ', not proved'}`,
    `manifest     ${hash}`,
    determinismText(determinism),
    `arguments    ${dispatch.kernarg.slots.length === 0 ? 'none' : ''}`,
    ...dispatch.kernarg.slots.map((slot) => {
      const target = slot.points === undefined ? undefined : memory.allocations[slot.points.allocation];
      const value = `0x${Buffer.from(slot.bytes).reverse().toString('hex')}`;
      const to =
        target === undefined ? '' : ` → ${target.label || hex(target.address)} + 0x${slot.points?.offset.toString(16)}`;
      return `  +${String(slot.offset).padEnd(4)} ${slot.kind.padEnd(22)} ${slot.name}${slot.name === '' ? '' : ' '}${value}${to}`;
    }),
    'allocations  (address, bytes, kind, chunks before+after, label)',
    ...allocationLines(capture),
    ...annotations.map(
      (a) =>
        `buffer       ${hex(a.address)} ${a.name}: ${a.elementType}[${a.shape.join(',')}]${a.tolerance === undefined ? '' : `, tolerance ${a.tolerance}`}`,
    ),
    ...unsupported.map((u) => `not captured ${u.what}: ${u.message}`),
  ];
  return `${lines.join('\n')}\n`;
}

function determinismText(determinism: Capture['manifest']['determinism']): string {
  if (determinism === null) return 'order        not tried';
  const others = determinism.runs.filter((r) => r.outcome !== 'same');
  if (others.length === 0) return `order        the same in ${determinism.runs.length} orders`;
  return `order        NONDETERMINISTIC: ${others.map((r) => `${r.order}: ${r.outcome}`).join('; ')}`;
}
