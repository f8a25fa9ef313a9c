// Known answers for every matrix operation of the three targets, on both engines in both modes, and AMD's layout tables.
import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { compileMatrix, matrixOperation } from '../../../../../tests/support/compiled-matrix.ts';
import {
  F8F6F4,
  inputPlace,
  type KnownAnswer,
  knownAnswer,
  outputPlace,
  registerCounts,
  type Shape,
  shapeOf,
} from '../../../../../tests/support/matrix-reference.ts';
import { makeWave, parse } from '../../../../../tests/support/one-instruction.ts';
import { sharedPath } from '../../../../../tests/support/shared.ts';
import { randomNumbers } from '../../../../base/index.ts';
import { tableFor } from '../../../../isa/index.ts';
import { semanticsOf } from '../../../../isa/semantics/index.ts';
import type { TargetName } from '../../../../isa/types.ts';
import { enableRelaxedSimd } from '../../../node/v8-flags.ts';
import { bindMatrix } from '../../interpreter/matrix.ts';
import type { Wave } from '../../state/wave.ts';
import { matrixFeatures, PLAIN_SIMD } from '../features.ts';

enableRelaxedSimd();

const TARGETS = ['gfx90a', 'gfx942', 'gfx950'] as const;

/** Mnemonics of the matrix operations of a target. */
function mnemonics(target: TargetName): string[] {
  const rows = tableFor(target).rows.filter((r) => semanticsOf(r.operation)?.kind === 'matrix');
  return [...new Set(rows.map((r) => r.operation))];
}

const D = 0;
const A = 64;
const B = 80;
const C = 128;
const X = 100;
const Y = 101;
const range = (first: number, count: number): string =>
  count === 1 ? `v${first}` : `v[${first}:${first + count - 1}]`;

function textOf(mnemonic: string, s: Shape, formats: readonly [number, number]): string {
  const n = registerCounts(s);
  const operands = [range(D, n.d), range(A, n.a), range(B, n.b)];
  if (s.sparse) operands.push(`v${X}`);
  else operands.push(range(C, n.d));
  if (s.scaled) operands.push(`v${X}`, `v${Y}`);
  const modifiers = s.f8f6f4 ? ` cbsz:${formats[0]} blgp:${formats[1]}` : '';
  return `${mnemonic} ${operands.join(', ')}${modifiers}`;
}

function load(w: Wave, s: Shape, k: KnownAnswer): void {
  const put = (register: number, words: Uint32Array): void => w.vgprs.set(new Int32Array(words), register * 64);
  w.vgprs.fill(0x55555555);
  put(A, k.a);
  put(B, k.b);
  put(s.sparse ? D : C, k.c);
  put(X, k.x);
  put(Y, k.y);
}

/** Lanes of D that differ from the known answer. */
function wrong(w: Wave, k: KnownAnswer): number {
  return k.d.reduce((bad, word, i) => bad + ((w.vgprs[D * 64 + i] as number) >>> 0 === word ? 0 : 1), 0);
}

describe.each(TARGETS)('%s', (target) => {
  const cases = mnemonics(target).flatMap((mnemonic): [string, readonly [number, number]][] => {
    if (!mnemonic.includes('f8f6f4')) return [[mnemonic, [0, 0]]];
    return F8F6F4.flatMap((_a, a) => F8F6F4.map((_b, b): [string, readonly [number, number]] => [mnemonic, [a, b]]));
  });

  it('should have known answers on both engines in both modes', () => {
    const failures: string[] = [];
    let compiledForms = 0;
    for (const [n, [mnemonic, formats]] of cases.entries()) {
      const s = shapeOf(mnemonic, formats);
      const known = knownAnswer(s, target, randomNumbers(n + 1));
      const text = textOf(mnemonic, s, formats);
      const instruction = parse(target, text);
      const op = matrixOperation(instruction);
      const w = makeWave(target);
      for (const mode of ['exact', 'fast'] as const) {
        load(w, s, known);
        bindMatrix(instruction, op, target, mode)(w);
        if (wrong(w, known) > 0) failures.push(`interpreter ${mode}: ${text}`);
        for (const features of [matrixFeatures(), PLAIN_SIMD]) {
          const compiled = compileMatrix(w, target, instruction, mode, features);
          if (compiled === undefined) continue;
          load(w, s, known);
          const fallbacks = compiled.run(w);
          compiledForms++;
          if (wrong(w, known) > 0 || fallbacks > 0) failures.push(`compiled ${mode}: ${text} (${fallbacks} fallbacks)`);
        }
      }
    }
    expect(failures).toEqual([]);
    // Without a fused multiply-add only the f64 operations are left to the interpreter.
    expect(compiledForms).toBeGreaterThan(3 * cases.length);
  });
});

/** Evaluates one of the calculator's formulas: `16 * floor(k / 4) + i`. */
function formula(text: string, variables: Record<string, number>): number {
  if (!/^[\d\s+*/%()a-z]+$/.test(text)) throw new Error(`not a formula: ${text}`);
  const names = Object.keys(variables);
  const body = `return ${text.replaceAll('floor', 'Math.floor')};`;
  return Number(new Function(...names, body)(...names.map((n) => variables[n])));
}

/** Layout formulas of each instruction of a calculator listing. */
function listing(path: string): Map<string, Record<string, string>> {
  const found = new Map<string, Record<string, string>>();
  let current: Record<string, string> = {};
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const instruction = /^Instruction: (\w+)/.exec(line);
    if (instruction !== null) {
      current = {};
      found.set((instruction[1] as string).toLowerCase(), current);
    }
    const entry = /^\s+([ABCD][\w ]*\[i?k?j?\]?.*?(?:GPR|Lane)): (.*)$/.exec(line);
    if (entry !== null) current[entry[1] as string] = entry[2] as string;
  }
  return found;
}

describe("the layouts are those of AMD's matrix instruction calculator", () => {
  for (const name of ['mfma-cdna2.txt', 'mfma-cdna3.txt']) {
    const path = sharedPath('isa', name);
    test.skipIf(path === undefined)(name, () => {
      const failures: string[] = [];
      let compared = 0;
      for (const [mnemonic, formulas] of listing(path as string)) {
        const s = shapeOf(mnemonic);
        for (const [side, rows, letter] of [
          ['A[i][k].block', s.m, 'i'],
          ['B[k][j].block', s.n, 'j'],
        ] as const) {
          if (side.startsWith('A') && s.sparse) continue;
          const gpr = formulas[`${side} GPR`] as string;
          const lane = formulas[`${side} Lane`] as string;
          // `register.[high : low]`, or `[1:0]` for a pair.
          const parts = /^(?:(.*)\.)?\[(.*):(.*)\]$/.exec(gpr);
          for (let block = 0; block < s.blocks; block++) {
            for (let row = 0; row < rows; row++) {
              for (let k = 0; k < s.k; k++) {
                const variables = { [letter]: row, k, block };
                const element = side.startsWith('A') ? s.a : s.b;
                const mine = inputPlace(s, element, block, row, k);
                const theirs = formula(lane, variables);
                const low = parts === null || s.d === 'f64' ? 0 : formula(parts[3] as string, variables);
                const register = s.d === 'f64' ? 0 : formula(parts === null ? gpr : (parts[1] as string), variables);
                compared++;
                // Registers of 16-bit sparse B are given by the inverse table only (2·GPR + half is k mod 8): lanes are compared.
                const bitKnown = !(s.sparse && s.b.endsWith('f16'));
                if (theirs !== mine.lane || (bitKnown && 32 * register + low !== mine.bit)) {
                  failures.push(`${mnemonic} ${side} block ${block} ${row} k ${k}`);
                }
              }
            }
          }
        }
        const side = s.sparse ? 'D[i][j].block' : 'C or D[i][j].block';
        const gpr = formulas[`${side} GPR`] as string;
        for (let block = 0; block < s.blocks; block++) {
          for (let i = 0; i < s.m; i++) {
            for (let j = 0; j < s.n; j++) {
              const mine = outputPlace(s, block, i, j);
              const pair = /:(.*)\]$/.exec(gpr);
              const register = formula(pair === null ? gpr : (pair[1] as string), { i, j, block });
              const lane = formula(formulas[`${side} Lane`] as string, { i, j, block });
              compared++;
              if (mine.register !== register || mine.lane !== lane) failures.push(`${mnemonic} D ${block} ${i} ${j}`);
            }
          }
        }
      }
      expect(failures.slice(0, 10)).toEqual([]);
      expect(compared).toBeGreaterThan(20000);
    });
  }
});
