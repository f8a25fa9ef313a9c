// `wavesmith mcp`, spoken to over standard input and output by the protocol's own client.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createTwoFilesPatch } from 'diff';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { disassembleCodeObject } from '../src/asm/index.ts';
import { record } from './support/captures.ts';
import { wavesmith } from './support/cli.ts';
import { objectOf, SUBJECTS } from './support/optimize/subjects.ts';
import { variantObject } from './support/optimize/variants.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-mcp-test-'));
const root = join(folder, 'root');
const bin = join(import.meta.dirname, '..', 'bin', 'wavesmith');
const client = new Client({ name: 'test', version: '1' });

/** The elementwise kernel with time wasted before its load. */
const slow = variantObject({
  name: 'slow',
  of: 'elementwise',
  replace: [['s_lshl_b32', `${'s_nop 15\n  '.repeat(20)}s_lshl_b32`]],
});
const fastText = disassembleCodeObject(objectOf('elementwise'));

beforeAll(async () => {
  mkdirSync(root);
  const { args, grid, block } = SUBJECTS.elementwise;
  await record(root, 'slow.wscap', { code: slow, args, grid, block });
  writeFileSync(join(root, 'slow.co'), slow);
  writeFileSync(join(folder, 'secret.co'), slow);
  symlinkSync(join(folder, 'secret.co'), join(root, 'link.co'));
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [bin, 'mcp', '--root', root], stderr: 'inherit' }),
  );
});
afterAll(async () => {
  await client.close();
  rmSync(folder, { recursive: true, force: true });
});

async function call(name: string, args: Record<string, unknown>): Promise<{ text: string; isError: boolean }> {
  const { content, isError } = await client.callTool({ name, arguments: args });
  const [first] = content;
  return { text: first?.type === 'text' ? first.text : '', isError: isError === true };
}

test('says what it is and what it can do', async () => {
  expect(client.getServerVersion()?.name).toBe('wavesmith');
  expect(client.getInstructions()).toContain('evaluate');
  const { tools } = await client.listTools();
  expect(tools.map((t) => t.name)).toEqual(['disasm', 'asm', 'check', 'prove', 'run', 'time', 'profile', 'evaluate']);
  for (const { description, inputSchema } of tools) {
    expect(description?.length).toBeGreaterThan(40);
    expect(inputSchema.type).toBe('object');
  }
});

describe('a kernel is made faster with nothing but the tools', () => {
  test('time shows where it stands', async () => {
    const { text, isError } = await call('time', { file: 'slow.wscap' });
    expect(isError, text).toBe(false);
    expect(text).toMatch(/modelled on mi300x/);
    expect(text).toMatch(/s_nop 15/);
  });

  test('disasm, an edit, check, prove, evaluate', async () => {
    const { text } = await call('disasm', { file: 'slow.wscap' });
    expect(text).toBe(disassembleCodeObject(slow));
    const edited = text.replaceAll('\ts_nop 15\n', '');
    expect(await call('asm', { text: edited, output: 'fast.co' })).toEqual({ text: 'Assembled.', isError: false });
    expect(JSON.parse((await call('check', { file: 'fast.co' })).text)).toMatchObject({ findings: [] });
    expect((await call('prove', { baseline: 'slow.co', edited: 'fast.co' })).text).toContain('"proved"');
    for (const candidate of [
      { candidate: 'fast.co' },
      { text: edited },
      { text: createTwoFilesPatch('a.s', 'b.s', text, edited) },
    ]) {
      const verdict = await call('evaluate', { baseline: 'slow.wscap', ledger: 'work.db', ...candidate });
      expect(verdict).toEqual({ isError: false, text: expect.stringMatching(/\nACCEPTED: ×\d\.\d+ .*proved\n$/) });
    }
  });

  test('a wrong one is rejected, which is an answer', async () => {
    const text = fastText.replace('v_fma_f32 v2, s9, v2, v3', 'v_mov_b32_e32 v2, 1.0');
    expect(await call('evaluate', { baseline: 'slow.wscap', text })).toEqual({
      isError: false,
      text: expect.stringMatching(/REJECTED: at equivalence\n$/),
    });
  });

  test('run and profile', async () => {
    const { args, grid, block } = SUBJECTS.elementwise;
    const ran = await call('run', {
      file: 'slow.co',
      kernel: 'k',
      args,
      grid: grid.join(),
      block: block.join(),
      strict: true,
    });
    expect(ran.isError, ran.text).toBe(false);
    expect(JSON.parse(ran.text)).toMatchObject({ kernel: 'k' });
    const profile = await call('profile', { file: 'slow.wscap' });
    expect([profile.isError, profile.text.slice(0, 1)]).toEqual([false, '{']);
  });

  test('a long answer goes on', async () => {
    const { text } = await call('disasm', { file: 'slow.wscap', offset: 1000 });
    expect(text).toBe(disassembleCodeObject(slow).slice(1000));
  });
});

describe('refused', () => {
  test.each([
    ['disasm', { file: '../secret.co' }, 'mcp/outside'],
    ['disasm', { file: 'link.co' }, 'mcp/outside'],
    ['disasm', { file: '/etc/passwd' }, 'mcp/outside'],
    ['run', { file: 'slow.co', grid: '1', block: '64', args: ['@../secret.co'] }, 'mcp/outside'],
    ['asm', { text: 's_endpgm', output: '../out.co' }, 'mcp/outside'],
    ['evaluate', { baseline: 'slow.wscap', text: 'x', ledger: '../l.db' }, 'mcp/outside'],
    ['disasm', { file: 'none.co' }, 'io/read'],
    ['disasm', { file: '--help' }, 'io/read'],
    ['evaluate', { baseline: 'slow.wscap' }, 'cli/usage'],
    ['evaluate', { baseline: 'slow.co', text: 's_endpgm' }, 'capture/not-a-capture'],
    ['asm', { text: 'no instruction', output: 'x.co' }, 'error'],
    ['check', { file: 7 }, 'Invalid'],
  ] as const)('%s %j', async (name, args, message) => {
    expect(await call(name, { ...args })).toEqual({ isError: true, text: expect.stringContaining(message) });
  });

  test('a folder that is none', async () => {
    expect(await wavesmith('mcp', '--root', join(folder, 'none'))).toMatchObject({
      code: 1,
      err: expect.stringContaining('io/read'),
    });
    expect((await wavesmith('mcp', '--timeout', '0', '--root', root)).code).toBe(2);
  });
});
