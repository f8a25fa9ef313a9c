// The ten minutes of docs/adding-a-probe.md, as a newcomer follows them: its files and its commands, in an empty folder.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { wavesmith } from './support/cli.ts';

const PAGE = readFileSync(join(import.meta.dirname, '..', 'docs', 'adding-a-probe.md'), 'utf8');
const part = PAGE.slice(PAGE.indexOf('## Ten minutes'), PAGE.indexOf('## The file'));
const blocks = (kind: string): string[] =>
  [...part.matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)].filter((m) => m[1] === kind).map((m) => m[2] as string);

test('the files and commands of the page work as they stand there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-page-'));
  try {
    const names = [...part.matchAll(/`(\w+\.(?:s|ts))`/g)].map((m) => m[1] as string);
    const [kernel, probe] = [blocks('asm'), blocks('ts')];
    expect([names[0], names[1], kernel.length, probe.length]).toEqual(['double.s', 'largest.ts', 1, 1]);
    writeFileSync(join(folder, 'double.s'), kernel[0] as string);
    writeFileSync(join(folder, 'largest.ts'), probe[0] as string);
    const outputs: string[] = [];
    for (const line of blocks('sh').join('').trim().split('\n')) {
      const [command, ...args] = line.split(' ').map((word) => (/\.(s|co|ts)$/.test(word) ? join(folder, word) : word));
      expect(command).toBe('wavesmith');
      const { code, out, err } = await wavesmith(...args);
      expect([line, code, err]).toEqual([line, 0, expect.not.stringContaining('error')]);
      outputs.push(out);
    }
    for (const shown of (blocks('')[0] as string).trim().split('\n')) expect(outputs[2]).toContain(shown);
    const counts = [...(outputs[3] as string).matchAll(/^ {2}(\d+)$/gm)].map((m) => Number(m[1]));
    expect(counts.reduce((a, b) => a + b, 0)).toBe(31);
    expect(counts.filter((n) => n > 0).length).toBeGreaterThan(1);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
