// Assembly speed of instructions: parse and encode against llvm-mc on one large text, interleaved, median of several rounds.
// llvm-mc's time is the difference between a large and a small file, so that starting the process does not count.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decoderFor } from '../src/isa/codec/decode.ts';
import { encodeInto } from '../src/isa/codec/encode.ts';
import { InstructionParser } from '../src/isa/parse/parse.ts';
import { Lexer, textFromBytes } from '../src/isa/text/lexer.ts';

const LLVM = process.env.WAVESMITH_LLVM ?? '/usr/lib/llvm-22/bin';
const ROUNDS = 7;
const LINES = 200_000;

/** What a matrix kernel is made of. */
const MIX = [
  's_waitcnt vmcnt(0) lgkmcnt(0)',
  'v_add_u32_e32 v1, 0x80, v2',
  'v_fma_f32 v4, v5, v6, -v7',
  'v_lshl_add_u32 v8, v9, 2, v10',
  'v_mfma_f32_32x32x8_f16 a[0:15], v[2:3], v[4:5], a[0:15]',
  'v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[0:1] op_sel_hi:[1,0,1]',
  'global_load_dwordx4 v[16:19], v20, s[2:3] offset:16',
  'buffer_load_dwordx4 v[20:23], v24, s[8:11], 0 offen offset:64',
  'ds_read_b128 v[24:27], v28 offset:512',
  'ds_write_b64 v28, v[30:31]',
  'v_cndmask_b32_e64 v32, v33, 0, s[12:13]',
  'v_cmp_lt_i32_e32 vcc, s3, v9',
  's_add_u32 s4, s4, 0x100',
  's_barrier',
  'v_cvt_f16_f32_e32 v3, v4',
  'v_mul_f32_e32 v1, v2, v3',
];

function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}

function assemble(bytes: Uint8Array): number {
  const lexer = new Lexer(textFromBytes(bytes));
  const parser = new InstructionParser(lexer, {
    target: 'gfx942',
    xnack: false,
    constant: () => undefined,
    here: () => '.Ltmp0',
    numericLabel: () => undefined,
  });
  const out = new Uint8Array(LINES * 16);
  let size = 0;
  while (lexer.nextStatement()) {
    const parsed = parser.parse();
    if (parsed === undefined) throw new Error(lexer.diagnostics[0]?.message);
    size += encodeInto(parsed.instruction, out, size);
  }
  if (decoderFor('gfx942').decode(out, 0) === undefined) throw new Error('nothing was assembled');
  return size;
}

function milliseconds(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function llvm(file: string): number {
  return milliseconds(() => {
    const args = ['-triple=amdgcn', '-mcpu=gfx942', '-filetype=obj', '-o', '/dev/null', file];
    const result = spawnSync(join(LLVM, 'llvm-mc'), args, { stdio: 'inherit' });
    if (result.error !== undefined || result.status !== 0) throw result.error ?? new Error('llvm-mc failed');
  });
}

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-bench-'));
try {
  const text = Array.from({ length: LINES }, (_, i) => MIX[(i * 7) % MIX.length]).join('\n');
  const large = join(folder, 'large.s');
  const small = join(folder, 'small.s');
  writeFileSync(large, `${text}\n`);
  writeFileSync(small, `${MIX.join('\n')}\n`);
  const bytes = new TextEncoder().encode(`${text}\n`);
  assemble(bytes);
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    ours.push(milliseconds(() => assemble(bytes)));
    theirs.push(llvm(large) - llvm(small));
  }
  const rate = (ms: number): string => `${Math.round(LINES / ms)} k lines/s`;
  const [a, b] = [median(ours), median(theirs)];
  console.log(`parse + encode  ${a.toFixed(0)} ms  ${rate(a)}`);
  console.log(`llvm-mc         ${b.toFixed(0)} ms  ${rate(b)}`);
  console.log(`ratio           ${(b / a).toFixed(2)}× llvm-mc`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
