// The commands disasm and diff end to end: selection, output forms, exit codes, errors.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeBundle } from '../src/codeobject/index.ts';
import { wavesmith } from './support/cli.ts';
import { buildWithWavesmith } from './support/round-trip.ts';
import { sampleText } from './support/sample.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-'));
const at = (name: string) => join(folder, name);

beforeAll(() => {
  const objects = ['gfx942', 'gfx950'].map((target) => buildWithWavesmith(sampleText(target), false));
  writeFileSync(at('a.co'), objects[0]);
  writeFileSync(at('a.s'), sampleText());
  writeFileSync(at('b.s'), sampleText().replace('s_nop 3', 's_nop 4'));
  writeFileSync(at('wrong.s'), `${sampleText()}\ts_nonsense 1\n`);
  const entry = (target: string, bytes: Uint8Array) => ({ id: `hipv4-amdgcn-amd-amdhsa--${target}`, bytes });
  writeFileSync(at('two.hipfb'), writeBundle([entry('gfx942', objects[0]), entry('gfx950', objects[1])]));
  writeFileSync(at('picture.png'), Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3]));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('wavesmith disasm', () => {
  it('should print text, or write it to a file', async () => {
    const printed = await wavesmith('disasm', at('a.co'));
    expect(printed.code).toBe(0);
    expect(printed.out).toContain('\t.amdhsa_kernel second\n');
    await wavesmith('disasm', at('a.co'), '-o', at('out.s'));
    expect(readFileSync(at('out.s'), 'utf8')).toBe(printed.out);
  });

  it('should list one instruction per line: address, words, text', async () => {
    const { out } = await wavesmith('disasm', '--listing', at('a.co'));
    const lines = out.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^[0-9a-f]{12}\t68000081\tv_add_u32_e32 v0, 1, v0$/);
    expect(out).toMatch(/\n[0-9a-f]{12}\tc0060000 00000000\ts_load_dwordx2 s\[0:1\], s\[0:1\], 0x0\n/);
  });

  it('should print JSON', async () => {
    const whole = JSON.parse((await wavesmith('disasm', '--json', at('a.co'))).out);
    expect(whole).toMatchObject({ version: 5, kernels: ['first', 'second'] });
    expect(whole.text).toContain('first:');
    const listing = JSON.parse((await wavesmith('disasm', '--json', '--listing', at('a.co'))).out);
    expect(listing.sections[0].name).toBe('.text');
    expect(listing.sections[0].instructions[0]).toMatchObject({ size: 4, words: [0x68000081] });
  });

  it('should ask which of several code objects is meant, and take a number or a target', async () => {
    const { code, err } = await wavesmith('disasm', at('two.hipfb'));
    expect(code).toBe(1);
    expect(err).toContain('holds 2 code objects');
    expect(err).toContain('1  gfx950  2 kernels');
    for (const wanted of ['1', 'gfx950', 'amdgcn-amd-amdhsa--gfx950']) {
      const { out } = await wavesmith('disasm', at('two.hipfb'), '--object', wanted);
      expect(out).toContain('.amdgcn_target "amdgcn-amd-amdhsa--gfx950"');
    }
    expect((await wavesmith('disasm', at('two.hipfb'), '--object', 'gfx90a')).err).toContain("no code object 'gfx90a'");
  });

  it('should refuse files without GPU code and unknown kernels', async () => {
    expect((await wavesmith('disasm', at('picture.png'))).err).toContain('error[container/unknown]');
    expect((await wavesmith('disasm', at('absent.co'))).err).toContain('error[io/read]');
    const { code, err } = await wavesmith('disasm', at('a.co'), '--kernel', 'third');
    expect(code).toBe(1);
    expect(err).toContain("It has 'first', 'second'.");
  });
});

describe('wavesmith diff', () => {
  it('should exit 0 when nothing differs, also between a code object and its text', async () => {
    expect((await wavesmith('diff', at('a.co'), at('a.s'))).code).toBe(0);
  });

  it('should exit 1 and show the change without colours when the output is no terminal', async () => {
    const { code, out } = await wavesmith('diff', at('a.co'), at('b.s'));
    expect(code).toBe(1);
    expect(out).toContain('- s_nop 3\n+ s_nop 4\n');
    expect(out).not.toContain('\x1b[');
  });

  it('should print JSON', async () => {
    const { code, out } = await wavesmith('diff', '--json', at('a.s'), at('b.s'));
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ same: false, functions: [{}, { name: 'first', status: 'changed' }, {}] });
  });

  it('should mark what is proved to be the same function', async () => {
    const { code, out } = await wavesmith('diff', '--prove', at('a.co'), at('b.s'));
    expect(code).toBe(1);
    expect(out).toContain("  same function: first: proved ('wavesmith prove' prints the assumptions)\n");
    expect(out).toMatch(/^@@ .* proved equal$/m);
    const json = JSON.parse((await wavesmith('diff', '--prove', '--json', at('a.co'), at('b.s'))).out);
    expect(json.proofs).toEqual([{ kernel: 'first', verdict: 'proved', reason: null }]);
  });

  it('should compare objects of containers', async () => {
    const two = at('two.hipfb');
    expect((await wavesmith('diff', two, two, '--object', '0')).code).toBe(0);
    const { code, out } = await wavesmith('diff', two, two, '--object', '0', '--object-b', '1');
    expect(code).toBe(1);
    expect(out).toContain('amdgcn-amd-amdhsa--gfx942 -> amdgcn-amd-amdhsa--gfx950');
  });

  it('should report text that does not assemble, with its place', async () => {
    const { code, err } = await wavesmith('diff', at('a.co'), at('wrong.s'));
    expect(code).toBe(1);
    expect(err).toMatch(/wrong\.s:\d+:2: error\[diff\/assembly\]/);
  });

  it('should refuse a bad context', async () => {
    expect((await wavesmith('diff', at('a.co'), at('a.co'), '--context', 'many')).code).toBe(2);
  });
});
