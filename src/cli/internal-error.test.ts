// A defect is one report: what to send, where in the sources, exit code 70; never a raw stack and never a bad-input message.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterEach, expect, it, vi } from 'vitest';
import { withTemporaryFolder } from '../iree/files.ts';
import { COMMANDS } from './commands.ts';
import { internalError, internalErrorText } from './internal-error.ts';
import { main } from './main.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

it('should name the line of the source, not of the bundle', async () => {
  const thrown = await withTemporaryFolder(async (folder) => {
    mkdirSync(join(folder, 'src'));
    mkdirSync(join(folder, 'dist'));
    const source = join(folder, 'src', 'broken.ts');
    writeFileSync(
      source,
      'interface Unused { a: number }\n\nexport function broken(x?: { y: string }): string {\n  return x!.y;\n}\n',
    );
    const outfile = join(folder, 'dist', 'broken.js');
    await build({ entryPoints: [source], outfile, bundle: true, format: 'esm', sourcemap: true, minify: true });
    const { broken } = (await import(/* @vite-ignore */ pathToFileURL(outfile).href)) as { broken: () => string };
    try {
      broken();
    } catch (error) {
      return internalError(error);
    }
    throw new Error('nothing was thrown');
  });
  expect(thrown.message).toMatch(/^TypeError: Cannot read properties of undefined/);
  expect(thrown.stack[0]).toMatch(/src\/broken\.ts:4:\d+/);
});

it.each([
  ['an error', new RangeError('Offset is outside the bounds of the DataView'), 'RangeError: Offset is outside'],
  ['what is no error', 'text', 'Error: text'],
])('should end a command that throws %s with exit code 70 and one report', async (_what, thrown, message) => {
  const command = COMMANDS.inspect;
  if (command === undefined) throw new Error('there is no inspect');
  vi.spyOn(command, 'load').mockResolvedValue({
    run: () => {
      throw thrown;
    },
  });
  const written: string[] = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0);
  const listeners = process.listenerCount('uncaughtException');
  expect(await main(['inspect', 'x'])).toBe(70);
  expect(process.listenerCount('uncaughtException')).toBe(listeners);
  expect(written.join('')).toContain(`internal error: ${message}`);
  expect(written.join('')).toMatch(
    /a defect of Wavesmith.*report it[\s\S]*https:\S+issues\n {2}wavesmith \d+\.\d+\.\d+, node v/,
  );
});

it('should print JSON where JSON was asked for', async () => {
  const text = internalErrorText(internalError(new Error('x')));
  expect(text.split('\n')[0]).toBe('internal error: Error: x');
  expect(JSON.parse(JSON.stringify(internalError(new Error('x'))))).toMatchObject({
    error: 'internal',
    message: 'Error: x',
  });
});
