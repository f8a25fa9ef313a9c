// How many lines `wavesmith check` prints for three hand-written kernels of the reference corpus, or for the files given: every place in
// full (`--all --pedantic`), one line for each rule and kernel (`--pedantic`), and the default. The table is in docs/check/README.md.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

const KERNELS = [
  'fmha_v3_bwd_bwd_hd128_bf16_swa_a32_rtne_psskddv.co',
  'fmoe_2stages_fmoe_stage1_bf16_pertokenFp8_doweight_g1u1_160x64_pf3.co',
  'pa_pa_bf16_perblockFp8_blk1024_1tg_4w_qlen16_msk1_ps.co',
];
const root = dirname(dirname(resolve(process.argv[1] ?? '.')));
const corpus = join(root, '..', 'shared', 'corpus', 'gfx942');
const given = process.argv.slice(2);
const files = (given.length > 0 ? given : KERNELS.map((name) => join(corpus, name))).filter(existsSync);
if (files.length === 0) console.log('skipped: the reference corpus is absent.');

function lines(file: string, ...flags: string[]): string[] {
  const command = [join(root, 'bin', 'wavesmith'), 'check', file, '--no-config', ...flags];
  const { stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8', maxBuffer: 1 << 28 });
  return `${stdout}${stderr}`.split('\n').filter((line) => line !== '');
}
for (const file of files) {
  const [every, rules, shown] = [lines(file, '--all', '--pedantic'), lines(file, '--pedantic'), lines(file)];
  console.log(
    `${basename(file)}: ${every.length} lines with --all --pedantic, ${rules.length} with --pedantic, ${shown.length} by default`,
  );
  for (const line of shown) console.log(`  ${line}`);
}
