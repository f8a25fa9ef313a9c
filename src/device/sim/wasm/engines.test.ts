// Compiled code against the reference interpreter: every operation alone, then random sequences, whole state compared bit for bit.
import { setFlagsFromString } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { engineCase } from '../../../../tests/support/engine-compare.ts';
import { DEFAULT_MODE } from '../../../../tests/support/one-instruction.ts';

setFlagsFromString('--experimental-wasm-relaxed-simd');

/** Operations that stay with the interpreter: rare, or bound to state that code does not have. */
const INTERPRETED =
  /^(s_getreg|s_setreg_b32|v_trig_preop|v_div_fmas_f64|v_cvt_sr_|v_\w+_dpp$|v_permlane|v_readlane|v_writelane|v_swap)/;

describe.each(['gfx90a', 'gfx942', 'gfx950'] as const)('%s', (target) => {
  it('should agree on single instructions', () => {
    const problems: string[] = [];
    const left = new Map<string, [number, number]>();
    for (let seed = 1; seed <= 900; seed++) {
      const { text, differences, interpreted } = engineCase(target, seed, {
        length: 1,
        mode: DEFAULT_MODE,
        branches: false,
      });
      if (differences.length > 0) problems.push([...text, ...differences].join('\n'));
      const name = (text[0] as string).split(' ')[0] as string;
      const [all, some] = left.get(name) ?? [0, 0];
      left.set(name, [all + 1, some + (interpreted > 0 ? 1 : 0)]);
    }
    expect(problems).toEqual([]);
    const uncompiled = [...left].filter(([name, [all, some]]) => all > 2 && all === some && !INTERPRETED.test(name));
    expect(uncompiled).toEqual([]);
  });

  it('should agree on sequences in any MODE', () => {
    const problems: string[] = [];
    let instructions = 0;
    for (let seed = 100_001; seed <= 100_150; seed++) {
      const result = engineCase(target, seed);
      if (result.differences.length > 0) problems.push([...result.text, ...result.differences].join('\n'));
      instructions += result.instructions;
    }
    expect(problems).toEqual([]);
    expect(instructions).toBeGreaterThan(1000);
  });
});
