// The registry against the pages, and how edits are merged and put into words.
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { editsText, mergeEdits } from './edits.ts';
import { finding, fingerprint, newFindings } from './finding.ts';
import { type CheckRuleId, RULE_IDS, ruleInfo, rulePage } from './rules.ts';
import { CHECK_RULES } from './rules-check.ts';

test('every rule has a page and an address of its source', () => {
  for (const rule of RULE_IDS) {
    expect(existsSync(`docs/${rulePage(rule).split('#')[0]}`), rule).toBe(true);
    expect(ruleInfo(rule).source.url).toMatch(/^https:\/\//);
  }
});

test('the page of a rule says when the finding is one that ships', () => {
  for (const rule of Object.keys(CHECK_RULES) as CheckRuleId[]) {
    const isSaid = readFileSync(`docs/${rulePage(rule)}`, 'utf8').includes('--pedantic');
    expect(isSaid, rule).toBe(ruleInfo(rule).seen !== undefined);
  }
});

test('edits at one place become one: the strictest wait, the most states, the largest number', () => {
  const directive = (value: string) =>
    ({ kind: 'set-directive', kernel: 'k', directive: '.amdhsa_next_free_vgpr', value }) as const;
  expect(
    mergeEdits([
      { kind: 'insert-wait', pc: 4, counters: { vmcnt: 3 } },
      { kind: 'insert-states', pc: 4, states: 2 },
      { kind: 'insert-wait', pc: 4, counters: { vmcnt: 1, lgkmcnt: 0 } },
      { kind: 'insert-states', pc: 4, states: 1 },
      directive('9'),
      directive('12'),
      { kind: 'insert-wait', pc: 8, counters: { vmcnt: 0 } },
    ]),
  ).toEqual([
    { kind: 'insert-wait', pc: 4, counters: { vmcnt: 1, expcnt: undefined, lgkmcnt: 0 } },
    { kind: 'insert-states', pc: 4, states: 2 },
    directive('12'),
    { kind: 'insert-wait', pc: 8, counters: { vmcnt: 0 } },
  ]);
});

test('more than 16 wait states take more than one s_nop', () => {
  const place = { pc: 4, instruction: 'v_mov_b32_e32 v1, v0' };
  expect(editsText([{ kind: 'insert-states', pc: 4, states: 19 }], [place])).toBe(
    "Insert s_nop 15; s_nop 2 (or 19 independent instructions) before 'v_mov_b32_e32 v1, v0'.",
  );
});

test('a finding is the same when only addresses differ, and known ones count once each', () => {
  const at = (pc: number) =>
    finding({ rule: 'waits/read-before-return', message: 'm', place: { pc, instruction: 'v_mov_b32 v1, v2' } });
  expect(fingerprint(at(4))).toBe(fingerprint(at(8)));
  expect(newFindings([at(4), at(8)], [fingerprint(at(0))])).toHaveLength(1);
});
