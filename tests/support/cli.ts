// A command line in this process: what it prints and its exit code.
import { vi } from 'vitest';
import { main } from '../../src/cli/main.ts';

/** Runs a command line; returns the exit code and what it printed. */
export async function wavesmith(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const text = { out: '', err: '' };
  const capture = (key: 'out' | 'err') => (chunk: string | Uint8Array) => {
    text[key] += chunk.toString();
    return true;
  };
  const out = vi.spyOn(process.stdout, 'write').mockImplementation(capture('out'));
  const err = vi.spyOn(process.stderr, 'write').mockImplementation(capture('err'));
  try {
    return { code: await main(argv), ...text };
  } finally {
    out.mockRestore();
    err.mockRestore();
  }
}
