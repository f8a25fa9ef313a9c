// `wavesmith probe FOLDER`: a probe in the code objects of a hijack folder, the edited ones where it was built.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { disassembleCodeObject } from '../src/asm/index.ts';
import { readCodeObject } from '../src/codeobject/index.ts';
import { wavesmith } from './support/cli.ts';
import { kernelObject } from './support/kernel-source.ts';

const root = mkdtempSync(join(tmpdir(), 'wavesmith-folder-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test('the probe goes into what was loaded, and into what was edited', async () => {
  const [file, folder, output] = [join(root, 'k.co'), join(root, 'folder'), join(root, 'out')];
  writeFileSync(file, kernelObject({ code: 's_mov_b32 s4, 1\ns_mov_b32 s5, s4' }).bytes);
  expect((await wavesmith('hijack', 'init', file, '-o', folder)).code).toBe(0);
  const put = async (): Promise<string> => {
    const { code, out } = await wavesmith('probe', '--tool', 'instr-count', folder, '-o', output, '--json');
    expect(code).toBe(0);
    const { codeObjects } = JSON.parse(out);
    expect(codeObjects).toEqual([expect.objectContaining({ complete: true, output: join(output, 'k.co') })]);
    expect(readdirSync(output)).toEqual(['k.co']);
    return disassembleCodeObject(readCodeObject(readFileSync(join(output, 'k.co'))));
  };
  expect(await put()).toContain('s_mov_b32 s4, 1\n');
  const [name] = readdirSync(join(folder, 'asm')) as [string];
  const text = readFileSync(join(folder, 'asm', name), 'utf8');
  writeFileSync(join(folder, 'asm', name), text.replace('s_mov_b32 s4, 1', 's_mov_b32 s4, 2'));
  expect((await wavesmith('hijack', 'build', folder)).code).toBe(0);
  const edited = await put();
  expect(edited).toContain('s_mov_b32 s4, 2\n');
  expect(edited).toContain('global_atomic_add_x2');
});

test('a folder that is none is refused, and nothing is made', async () => {
  const { code, err } = await wavesmith('probe', '--tool', 'instr-count', root, '-o', join(root, 'nothing'));
  expect([code, readdirSync(root).includes('nothing')]).toEqual([1, false]);
  expect(err).toContain('hijack/no-folder');
});
