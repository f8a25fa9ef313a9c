// Disassembly speed: our listing against `llvm-objdump -d` on one large object, interleaved, median of several rounds.
// llvm-objdump's time is the difference between a large and a small file, so that starting the process does not count.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { readElf } from '../src/codeobject/elf/read.ts';
import { listing } from '../src/isa/print/listing.ts';
import { targetFromElfMach } from '../src/isa/table/targets.ts';
import type { TargetName } from '../src/isa/types.ts';

const LLVM = process.env.WAVESMITH_LLVM ?? '/usr/lib/llvm-22/bin';
const ROUNDS = 7;
/** Copies of the base text, so that one round is long enough to measure. */
const COPIES = 20;

/** scripts/run-ts.mjs bundles this file elsewhere, but keeps its path in argv. */
const root = dirname(dirname(resolve(process.argv[1] ?? '.')));

/** The instructions used when there is no reference object: a mix of every kind of unit. */
const MIX = `
s_load_dwordx4 s[4:7], s[0:1], 0x10
s_waitcnt vmcnt(0) lgkmcnt(0)
v_add_f32_e32 v1, v2, v3
v_fma_f32 v4, v5, v6, -v7
v_lshl_add_u32 v8, v9, 2, v10
v_pk_fma_f16 v11, v12, v13, v14 op_sel_hi:[0,1,1]
v_mfma_f32_32x32x8_f16 a[0:15], v[2:3], v[4:5], a[0:15]
global_load_dwordx4 v[16:19], v[20:21], off offset:16
buffer_load_dword v22, v23, s[8:11], 0 offen offset:64
ds_read_b128 v[24:27], v28 offset:512
ds_write_b64 v28, v[30:31]
v_cndmask_b32_e64 v32, v33, 0, s[12:13]
v_mov_b32_dpp v34, v35 row_shr:1 row_mask:0xf bank_mask:0xf
s_cmp_lt_u32 s14, 0x12345
s_cbranch_scc1 -40
`;

/** The largest code object of the reference data, or undefined. */
function largestObject(): string | undefined {
  const corpus = join(root, '..', 'shared', 'corpus');
  if (!existsSync(corpus)) return undefined;
  const files = readdirSync(corpus, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(co|hsaco)$/.test(name) && !name.startsWith('bundles'))
    .map((name) => join(corpus, name));
  return files.sort((a, b) => statSync(b).size - statSync(a).size)[0];
}

function run(tool: string, args: string[], input?: string): void {
  const result = spawnSync(join(LLVM, tool), args, { input, stdio: ['pipe', 'ignore', 'inherit'], maxBuffer: 1 << 30 });
  if (result.error !== undefined || result.status !== 0) throw result.error ?? new Error(`${tool} failed`);
}

function baseText(): { bytes: Uint8Array; target: TargetName; name: string } {
  const path = largestObject();
  if (path !== undefined) {
    const elf = readElf(readFileSync(path));
    const target = targetFromElfMach(elf.header.flags & 0xff);
    const text = elf.section('.text');
    if (target !== undefined && text !== undefined)
      return { bytes: text.bytes, target, name: path.split('/').pop() ?? '' };
  }
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-bench-'));
  try {
    const object = join(folder, 'mix.o');
    run('llvm-mc', ['-triple=amdgcn-amd-amdhsa', '-mcpu=gfx942', '-filetype=obj', '-o', object, '-'], MIX.repeat(4000));
    const text = readElf(readFileSync(object)).section('.text');
    return { bytes: Uint8Array.from(text?.bytes ?? []), target: 'gfx942', name: 'generated mix' };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** An object file with the bytes as its .text. */
function writeObjectFile(path: string, bytes: Uint8Array, target: TargetName, folder: string): void {
  const binary = join(folder, 'text.bin');
  writeFileSync(binary, bytes);
  run(
    'llvm-mc',
    ['-triple=amdgcn-amd-amdhsa', `-mcpu=${target}`, '-filetype=obj', '-o', path, '-'],
    `.incbin "${binary}"\n`,
  );
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1] as number;
}

function time(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

const { bytes: once, target, name } = baseText();
const bytes = new Uint8Array(once.length * COPIES);
for (let i = 0; i < COPIES; i++) bytes.set(once, i * once.length);
const folder = mkdtempSync(join(tmpdir(), 'wavesmith-bench-'));
try {
  const large = join(folder, 'large.o');
  const small = join(folder, 'small.o');
  writeObjectFile(large, bytes, target, folder);
  writeObjectFile(small, once.subarray(0, 64), target, folder);
  let instructions = 0;
  const list = () => {
    instructions = 0;
    let characters = 0;
    for (const line of listing(bytes, 0, target)) {
      instructions++;
      characters += line.text.length;
    }
    if (characters === 0) throw new Error('nothing was listed');
  };
  const first = time(list);
  const our: number[] = [];
  const llvm: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    our.push(time(list));
    const whole = time(() => run('llvm-objdump', ['-d', '-z', large]));
    llvm.push(whole - time(() => run('llvm-objdump', ['-d', '-z', small])));
  }
  const rate = (ms: number) => `${(instructions / ms / 1000).toFixed(2)} M inst/s`;
  console.log(`disassemble: ${name} × ${COPIES}, ${target}, ${instructions} instructions, median of ${ROUNDS}`);
  console.log(`  wavesmith listing   ${rate(median(our))}   (first run, not warmed up: ${rate(first)})`);
  console.log(`  llvm-objdump -d     ${rate(median(llvm))}`);
  console.log(`  ratio               ${(median(llvm) / median(our)).toFixed(1)}×`);
} finally {
  rmSync(folder, { recursive: true });
}
