// Whole-file assembly (labels, branches, descriptors, relocations, ELF) against `llvm-mc -filetype=obj` on one large text:
// interleaved, median of several rounds. llvm-mc's process start is measured on an empty source and taken off.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { assembleToObject } from '../src/asm/index.ts';

const LLVM = process.env.WAVESMITH_LLVM ?? '/usr/lib/llvm-22/bin';
const ROUNDS = 7;
const KERNELS = 400;

/** One kernel of about 500 lines, as a compiler writes it. */
function kernel(index: number): string {
  const lines = [`\t.globl\tk${index}`, '\t.p2align\t8', `\t.type\tk${index},@function`, `k${index}:`];
  lines.push('\ts_load_dwordx4 s[4:7], s[0:1], 0x0', '\ts_waitcnt lgkmcnt(0)');
  for (let block = 0; block < 16; block++) {
    lines.push(`.LBB${index}_${block}:`);
    for (let i = 0; i < 3; i++) {
      const v = 8 * i + 2 * block;
      lines.push(
        `\tglobal_load_dwordx4 v[${v + 8}:${v + 11}], v${v}, s[4:5] offset:${16 * i}`,
        `\tv_lshl_add_u32 v${v}, v${v + 1}, 2, v${v + 2}`,
        `\tv_pk_fma_f32 v[${2 * i}:${2 * i + 1}], v[2:3], v[4:5], v[0:1] op_sel_hi:[1,0,1]`,
        `\tv_mfma_f32_32x32x8_f16 a[0:15], v[${2 * i}:${2 * i + 1}], v[4:5], a[0:15]`,
        `\tds_read_b128 v[${v + 4}:${v + 7}], v${v} offset:${64 * i}`,
        '\ts_waitcnt vmcnt(2) lgkmcnt(0)',
        `\tv_add_u32_e32 v${v}, 0x${(0x80 + i).toString(16)}, v${v}`,
        `\tv_cndmask_b32_e64 v${v}, v${v + 1}, 0, s[12:13]`,
      );
    }
    lines.push(
      '\ts_add_u32 s8, s8, table@rel32@lo+4',
      '\ts_sub_u32 s9, s9, 1',
      `\ts_cbranch_scc0 .LBB${index}_${block}`,
    );
  }
  lines.push('\ts_endpgm', `.Lend${index}:`, `\t.size\tk${index}, .Lend${index}-k${index}`);
  lines.push('\t.section\t.rodata,"a",@progbits', '\t.p2align\t6, 0x0', `\t.amdhsa_kernel k${index}`);
  lines.push('\t\t.amdhsa_next_free_vgpr 96', '\t\t.amdhsa_next_free_sgpr 16', '\t\t.amdhsa_accum_offset 64');
  lines.push('\t.end_amdhsa_kernel', '\t.text');
  return `${lines.join('\n')}\n`;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-bench-'));
const header = '\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n';
const large = join(folder, 'large.s');
const empty = join(folder, 'empty.s');
const object = join(folder, 'out.o');
writeFileSync(large, header + Array.from({ length: KERNELS }, (_, i) => kernel(i)).join(''));
writeFileSync(empty, header);

function llvm(source: string): number {
  const started = performance.now();
  const flags = ['-triple=amdgcn-amd-amdhsa', '-mcpu=gfx942', '-filetype=obj', source, '-o', object];
  const run = spawnSync(join(LLVM, 'llvm-mc'), flags, { encoding: 'utf8' });
  if (run.status !== 0) throw new Error(run.stderr.split('\n')[0] || String(run.error));
  return performance.now() - started;
}

try {
  const source = readFileSync(large);
  const lines = source.toString('latin1').split('\n').length;
  llvm(large);
  if (Buffer.compare(Buffer.from(assembleToObject(source)), readFileSync(object)) !== 0) {
    throw new Error('the two objects differ');
  }
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const started = performance.now();
    assembleToObject(source);
    ours.push(performance.now() - started);
    theirs.push(llvm(large) - llvm(empty));
  }
  const row = (name: string, ms: number) =>
    `${name.padEnd(26)}${ms.toFixed(0).padStart(7)} ms ${((lines / ms) * 1000).toFixed(0).padStart(10)} lines/s`;
  console.log(`${lines} lines, the objects are equal, median of ${ROUNDS} rounds`);
  console.log(row('wavesmith (in process)', median(ours)));
  console.log(row('llvm-mc 22 (less start-up)', median(theirs)));
  console.log(`speed relative to llvm-mc: ${(median(theirs) / median(ours)).toFixed(2)}x`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
