// The CLI in this process: its exit code and what it prints.
import { vi } from 'vitest';
import { main } from '../../src/cli/main.ts';

/** Runs a command as typed behind `wavesmith`. */
export async function wavesmith(...argv: string[]): Promise<{ status: number; out: string; err: string }> {
  const text = { out: '', err: '' };
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text.out += String(chunk);
    return true;
  });
  vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
    text.err += String(chunk);
    return true;
  });
  try {
    const status = await main(argv);
    return { status, ...text };
  } finally {
    vi.restoreAllMocks();
  }
}
