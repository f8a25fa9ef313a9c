// The language server on a source of 10,000 lines, over its real protocol: from a keystroke to the diagnostics (the pause
// before the analysis included), and the time of requests. `node scripts/run-ts.mjs bench/lsp.bench.ts [FILE.s]` for another source.
// The server is warm except for the first row: an editor keeps it running. The generated source repeats groups of eight lines, and
// every keystroke breaks and mends the same line; give a file to time real code.
import { readFileSync } from 'node:fs';
import type { Position } from 'vscode-languageserver';
import { LspClient } from '../tests/support/lsp-client.ts';

const ROUNDS = 25;
const LINES = 10_000;

/** A correct kernel: groups of a load, a wait and arithmetic, with labels and comments. */
function kernel(lines: number): string {
  const body: string[] = [];
  for (let i = 0; body.length < lines; i++) {
    const v = 8 + (i % 20) * 4;
    body.push(
      `.Lgroup${i}:                       ; group ${i}`,
      `\tglobal_load_dwordx4 v[${v}:${v + 3}], v0, s[0:1] offset:${(i % 64) * 16}`,
      `\tv_mul_u32_u24_e32 v4, ${i % 64}, v0`,
      `\ts_add_u32 s4, s4, 0x${(i + 65).toString(16)}`,
      '\ts_waitcnt vmcnt(0)',
      `\tv_fma_f32 v${v}, v${v + 1}, v${v + 2}, -v${v + 3}`,
      `\tv_pk_fma_f32 v[${v}:${v + 1}], v[${v + 2}:${v + 3}], v[4:5], v[${v}:${v + 1}] op_sel_hi:[1,0,1]`,
      `\tv_lshl_add_u32 v5, v4, 2, v${v}`,
    );
  }
  return [
    '.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n.text\n.globl k\n.p2align 8\n.type k,@function\nk:',
    '\tv_mov_b32_e32 v4, 0\n\tv_mov_b32_e32 v5, 0\n\ts_mov_b32 s4, 0',
    ...body,
    '\ts_endpgm\n.rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_next_free_vgpr 96',
    '.amdhsa_next_free_sgpr 16\n.amdhsa_accum_offset 96\n.end_amdhsa_kernel\n',
  ].join('\n');
}

const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);

function row(name: string, values: readonly number[]): void {
  const times = sorted(values);
  const at = (share: number): string =>
    (times[Math.floor(share * (times.length - 1))] as number).toFixed(0).padStart(7);
  console.log(`${name.padEnd(34)}${at(0.5)}${at(0.9)}${at(1)}`);
}

const file = process.argv[2];
const text = file === undefined ? kernel(LINES) : readFileSync(file, 'utf8');
const lines = text.split('\n');
const middle = lines.findIndex((line, i) => i > lines.length / 2 && /^\s+v_\w+ /.test(line));
const place: Position = { line: middle, character: /\S/.exec(lines[middle] as string)?.index ?? 0 };

const client = new LspClient();
await client.start();
const uri = 'file:///bench.s';
let from = performance.now();
await client.open(uri, text);
const first = await client.diagnostics(uri, 1);
console.log(
  'Timed: wall clock from a message to its answer; the server runs already and is warm but for the first analysis.' +
    (process.argv[2] === undefined ? ' The source repeats groups of eight lines; give a file to time real code.' : ''),
);
console.log(
  `${lines.length} lines, ${first.length} diagnostics; first ${(performance.now() - from).toFixed(0)} ms after opening\n`,
);
console.log(`${'milliseconds'.padEnd(34)}${' median'}${'    90%'}${'    max'}`);

const good: number[] = [];
const bad: number[] = [];
const requests = new Map<string, number[]>();
let version = 1;
const typed = { start: place, end: { ...place, character: place.character + 1 } };
for (let round = 0; round < ROUNDS; round++) {
  // One keystroke breaks the instruction, the next one mends it.
  from = performance.now();
  await client.change(uri, ++version, { range: { start: place, end: place }, text: 'q' });
  const broken = await client.diagnostics(uri, version);
  bad.push(performance.now() - from);
  if (!broken.some((d) => d.range.start.line === middle)) throw new Error('the broken line is not diagnosed');
  from = performance.now();
  await client.change(uri, ++version, { range: typed, text: '' });
  const mended = await client.diagnostics(uri, version);
  good.push(performance.now() - from);
  if (mended.length !== first.length) throw new Error('the mended text has other diagnostics');
  for (const method of ['hover', 'completion', 'semanticTokens/full', 'documentSymbol']) {
    from = performance.now();
    await client.request(method, uri, { ...place, character: place.character + 3 });
    const times = requests.get(method) ?? [];
    times.push(performance.now() - from);
    requests.set(method, times);
  }
}
row('keystroke → diagnostics, correct', good);
row('keystroke → diagnostics, broken', bad);
for (const [method, times] of requests) row(method, times);
await client.stop();
