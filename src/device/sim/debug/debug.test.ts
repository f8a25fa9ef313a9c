// The debugger on a kernel of four waves: stops, conditions, watchpoints, and that the past is the same whenever it is gone to.

import { describe, expect, test } from 'vitest';
import { debuggedCode, runDebugged } from '../../../../tests/support/debugged.ts';
import fc from '../../../../tests/support/fast-check.ts';
import { WavesmithError } from '../../../base/index.ts';
import { gpuWindow } from '../state/layout.ts';
import { completions } from './commands.ts';
import type { Debugger } from './debugger.ts';
import { parseExpression, type Scope } from './expression.ts';

const plain = await runDebugged(['delete', 'detach']);

/** All that a stop shows of the dispatch: registers of all waves, LDS, memory. */
function stateOf(d: Debugger): string {
  const parts = d.allWaves.map((w) => [
    w.workgroup.id.join(),
    w.index,
    w.state,
    d.pcOf(w),
    w.executed,
    w.mode,
    w.scc,
    Buffer.from(new Uint8Array(w.sgprs.buffer, w.sgprs.byteOffset, w.sgprs.byteLength)).toString('hex'),
    Buffer.from(new Uint8Array(w.vgprs.buffer, w.vgprs.byteOffset, 8 * 256)).toString('hex'),
    Buffer.from(w.workgroup.lds).toString('hex'),
    w.workgroup.clock,
  ]);
  const address = d.options.arguments()[0]?.address as number;
  const region = d.memory?.find(address, 4);
  return JSON.stringify([d.time, parts, Buffer.from(region?.bytes ?? []).toString('hex')]);
}

describe('going back', () => {
  test('every moment is the same whenever it is gone to, and the end too', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 330 }), { minLength: 2, maxLength: 12 }), async (times) => {
        const seen = new Map<number, string>();
        const commands = times.flatMap((time) => [
          `time ${time}`,
          (led: Debugger) => {
            const state = stateOf(led);
            expect(seen.get(led.time) ?? state).toBe(state);
            seen.set(led.time, state);
            return 'waves';
          },
        ]);
        const { words, instructions } = await runDebugged(['delete', ...commands, ...commands, 'detach']);
        expect(instructions).toBe(plain.instructions);
        expect([...words]).toEqual([...plain.words]);
        expect(seen.size).toBe(new Set(times.map((t) => Math.min(t, plain.instructions as number))).size);
      }),
      { numRuns: 25 },
    );
  });

  test('instructions of one wave, over calls, to the call, to the start', async () => {
    const { answers } = await runDebugged([
      'delete',
      'break helper',
      'continue',
      'backtrace',
      'reverse-finish',
      'reverse-nexti 2',
      'stepi 2',
      'reverse-stepi',
      'disable',
      'nexti 2',
      'reverse-nexti',
      'enable',
      'reverse-continue',
      'reverse-continue',
      'reverse-stepi',
    ]);
    expect(answers[3]).toContain('breakpoint 2: workgroup 0,0,0 wave 0');
    expect(answers[4]).toMatch(/^#0 {2}0x\w+ <helper>\n#1 {2}0x\w+ <again\+0x\w+>$/);
    const call = /0x\w+ <again\+0x\w+>/.exec(answers[4] as string)?.[0] as string;
    expect(answers[5]).toContain(call);
    expect(answers[7]).toContain(call);
    expect(answers[10]).toContain('<back>');
    expect(answers[11]).toContain(call);
    expect(answers[13]).toContain('start of history: workgroup 0,0,0 wave 0');
    expect(answers[14]).toContain('start of history');
    expect(answers[15]).toContain('start of history');
  });

  test('who wrote a register, LDS, memory, and the wave that did', async () => {
    const { answers } = await runDebugged([
      'delete',
      'catch end',
      'continue',
      'who *u32(arg0)',
      'info history',
      'who v2[3]',
      'print v2[3]',
      'who v2[3]',
      'print v2[3]',
      'who lds.u32(4)',
    ]);
    expect(answers[3]).toBe(`the kernel has ended, ${plain.instructions} instructions`);
    expect(answers[4]).toMatch(
      /^\*u32\(arg0\) is about to be written: 192 \(0xc0\) → 256 \(0x100\)\nwritten: workgroup 1,0,0 wave 1/,
    );
    expect(answers[6]).toMatch(/→ .*\nwritten: workgroup 1,0,0 wave 1, 0x\w+ <helper>/);
    expect(answers[7]).toBe(`v2[3] = ${(64 + 3) * 10} (0x29e)`);
    expect(answers[8]).toMatch(/\nwritten: workgroup 1,0,0 wave 1, 0x\w+ <again>/);
    expect(answers[9]).toBe(`v2[3] = ${(64 + 3) * 9} (0x25b)`);
    // The other wave of the workgroup has.
    expect(answers[10]).toMatch(/0 → \d+ .*\nwritten: workgroup 1,0,0 wave 0, 0x\w+ <back>$/);
  });

  test('x shows LDS and scratch by offset', async () => {
    const { answers } = await runDebugged([
      'delete',
      'catch end',
      'continue',
      'reverse-stepi',
      'x/2dw lds',
      'x/dw lds + 2 * 2',
      'print lds.u32(4)',
      'x/dw lds + 99999999',
    ]);
    const [first, second] = /^0x0 {2}(\d+) {2}(\d+)$/.exec(answers[5]?.trim() ?? '')?.slice(1) ?? [];
    expect(first).toBeDefined();
    expect(answers[6]?.trim()).toBe(`0x4  ${second}`);
    expect(answers[7]).toContain(`= ${second} `);
    expect(answers[8]).toContain("the workgroup's LDS");
  });

  test('what was changed is changed again; what was changed in the past makes another future', async () => {
    const { answers, words } = await runDebugged([
      'delete',
      'break back',
      'continue',
      'set v2[1] 1000',
      'stepi 3',
      'time 2',
      'break helper',
      'delete 3',
      'continue',
      'print v2[1]',
      'stepi',
      'print v2[1]',
      'time 5',
      'set s6 1',
      'continue',
      'print v2[1]',
      'detach',
    ]);
    // Going back and on: the change has not happened yet before its instruction, and has after it.
    expect(answers[12]).toBe('v2[1] = 1000 (0x3e8)');
    // With one round, and no change of v2 afterwards.
    expect(answers[16]).toBe('v2[1] = 8');
    expect(words[16 + 0]).toBe(8);
  });

  test('a fault is held, looked at, and gone back from', async () => {
    const code = debuggedCode(3).replace(
      's_barrier',
      's_mov_b32 s5, 0x123\nv_mov_b32_e32 v7, 0\nglobal_load_dword v7, v7, s[4:5]\ns_barrier',
    );
    const { answers, error } = await runDebugged(
      ['delete', 'continue', 'print/x s5', 'who s5', 'print/x s5', 'stepi', 'print/x s5', 'continue', 'quit'],
      { code },
    );
    expect(answers[2]).toMatch(/load of 4 bytes at 0x123\w+ by lane 0 .*\nfault: workgroup 0,0,0 wave 0, 0x\w+ <back/s);
    expect(answers[3]).toBe('s5 = 0x123');
    expect(answers[4]).toMatch(/s5 is about to be written: .* → 291 \(0x123\)\nwritten: /);
    expect(answers[5]).toBe(`s5 = 0x${gpuWindow.high.toString(16)}`);
    expect(answers[7]).toBe('s5 = 0x123');
    expect(answers[8]).toContain('fault: ');
    expect(error).toBeUndefined();
    const { error: fault } = await runDebugged(['delete', 'continue', 'continue'], { code });
    expect(fault?.code).toBe('sim/memory-fault');
  });
});

test('the lane whose access faults is selected', async () => {
  const code = debuggedCode(3).replace(
    's_barrier',
    'v_mul_u32_u24_e32 v7, 0x80000, v0\nds_write_b32 v7, v0\ns_barrier',
  );
  const { answers } = await runDebugged(['delete', 'continue', 'print lane', 'print v0', 'quit'], { code });
  expect(answers[2]).toMatch(/by lane 1 .*\nfault: workgroup 0,0,0 wave 0, lane 1, 0x\w+ <back/s);
  expect(answers.slice(3, 5)).toEqual(['lane = 1', 'v0 = 1']);
});

describe('breakpoints', () => {
  test('conditions by lane, counts, single waves, once, printing', async () => {
    const { answers, out } = await runDebugged([
      'delete',
      'break again if v2 == 21 && lane == 7',
      'continue',
      'print lane',
      'print v2',
      'info breakpoints',
      'delete',
      'tbreak back',
      'continue',
      'info breakpoints',
      'break again',
      'ignore 4 5',
      'continue',
      'info breakpoints',
      'disable',
      'watch s6',
      'continue',
      'delete',
      'detach',
    ]);
    expect(answers[3]).toContain('breakpoint 2: workgroup 0,0,0 wave 0, lane 7, 0x');
    expect(answers[4]).toBe('lane = 7');
    expect(answers[5]).toBe('v2 = 21 (0x15)');
    expect(answers[6]).toMatch(/^2 {2}0x\w+ <again> if v2 == 21 && lane == 7, hit 1 times$/);
    expect(answers[10]).toBe('no breakpoints');
    expect(answers[13]).toContain('breakpoint 4: workgroup 0,0,0 wave 1');
    expect(answers[14]).toMatch(/hit 6 times$/);
    expect(answers[17]).toMatch(/^s6 changed: 5 → 4\nwatchpoint: workgroup 0,0,0 wave 1, 0x\w+ <again\+0x8>$/);
    expect(out).not.toContain('error[');
  });
});

describe('expressions', () => {
  const scope: Scope = {
    lane: 3,
    register: (text, lane) => (text === 's[2:3]' ? 0x1_0000_0002n : text.startsWith('v') ? BigInt(lane) : 0x3f800000n),
    variable: () => undefined,
    named: (name) => (name === 'x' ? 64n : undefined),
    typeNamed: () => undefined,
    codeNamed: () => undefined,
    remembered: (name) => (name === '$1' ? 5n : undefined),
    codeBase: 0,
    load: (_space, address, bytes) => new Uint8Array(bytes).fill(Number(address)),
  };
  test.each([
    ['1 + 2 * 3 == 7 && !0', 1n],
    ['(1 + 2) * 3', 9n],
    ['0x10 | 1 << 1', 18n],
    ['-5 / 2', -2n],
    ['~0 & 0xff', 255n],
    ['s[2:3]', 0x1_0000_0002n],
    ['f32(s4) + 0.5', 1.5],
    ['i8(255)', -1n],
    ['u32(-1)', 0xffffffffn],
    ['v3 == 3 || lane == 9', 1n],
    ['v3[17]', 17n],
    ['*u16(x + 1)', 0x4141n],
    ['lds.u8(5)', 5n],
    ['bf16(0x3f80)', 1],
    ['$s4 == 1.0', 0n],
    ['f64(0x3ff0000000000000) >= 1', 1n],
    ["'a' + 0b11 + 010", 108n],
    ['1.5f + 2.0', 3.5],
    ['0xffffffffu >> 4', 0xfffffffn],
    ['(unsigned)0 - 1', 0xffffffffn],
    ['(char)200 < 0', 1n],
    ['(unsigned)1 > -1', 0n],
    ['(float)0.1 == 0.1', 0n],
    ['*(u8 *)(x + 1)', 65n],
    ['((short *)x)[1]', 0x4242n],
    ['(short *)x + 3 - (short *)x', 3n],
    ['(long)((short *)x + 3)', 70n],
    ['&((int *)x)[2] == (int *)(x + 8)', 1n],
    ['sizeof(long) * 2', 16n],
    ['x == 64 ? 2 : 3', 2n],
  ])('%s', (text, value) => {
    expect(parseExpression(text).evaluate(scope)).toBe(value);
  });
  test.each([
    '',
    '1 +',
    'y',
    '*x',
    'v3[64]',
    '1 / 0',
    '~1.5',
    '(((',
    '1 2',
    "'ab'",
    `${'('.repeat(500)}1`,
    's[1:9]',
    '1 << 1000',
  ])('%s is refused', (text) => {
    expect(() => parseExpression(text).evaluate(scope)).toThrow(WavesmithError);
  });
  test('no text does more than that', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom(
            'v3',
            '[',
            ']',
            '(',
            ')',
            '*',
            'f32',
            'lds.u8',
            '+',
            '<<',
            '1',
            'x',
            '0x',
            '.5',
            ' ',
            '~',
            '&&',
          ),
        ),
        (parts) => {
          try {
            parseExpression(parts.join('')).evaluate(scope);
          } catch (error) {
            expect(error).toBeInstanceOf(WavesmithError);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});

test('no command line breaks it', async () => {
  const words = [
    'step',
    'next',
    'stepi',
    'nexti',
    'finish',
    'until',
    'reverse-step',
    'reverse-nexti',
    'reverse-finish',
    'reverse-continue',
    'who',
    'time',
    'break',
    'tbreak',
    'watch',
    'condition',
    'ignore',
    'catch',
    'delete',
    'disable',
    'enable',
    'info',
    'print',
    'memory',
    'x',
    'registers',
    'lds',
    'list',
    'backtrace',
    'waves',
    'wave',
    'lane',
    'display',
    'undisplay',
    'set',
    'jump',
    'help',
  ];
  const values = [
    'v0',
    's[0:1]',
    's4',
    'v3[5]',
    'exec',
    'pc',
    '0x0',
    '+0',
    '+4',
    '-1',
    '1',
    '2',
    '1e9',
    '99999999999999999999',
    '__proto__',
    'arg0',
    'k',
    'back',
    'helper',
    '*u32(arg0)',
    '*f32(0)',
    'lds.u8(3)',
    'if',
    'v0 == 3',
    'end',
    '0,0,0/1',
    'a.c:3',
    '',
    'ü',
  ];
  const text = fc.oneof(fc.string({ maxLength: 12 }), fc.constantFrom(...values), fc.constantFrom(...values));
  const line = fc
    .tuple(
      fc.oneof(fc.constantFrom(...words), fc.constantFrom(...words), fc.string({ maxLength: 6 })),
      fc.array(text, { maxLength: 3 }),
    )
    .map(([name, rest]) => [name, ...rest].join(' '));
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 20 }), async (lines) => {
      const { out } = await runDebugged([...lines, 'delete', 'detach'], { rounds: 3 });
      expect(out.length).toBeLessThan(2_000_000);
    }),
    { numRuns: 150 },
  );
});

test('completion knows commands, topics, places, registers and arguments', async () => {
  const words = new Map<string, readonly string[]>();
  await runDebugged([
    (led) => {
      const session = { debugger: led, print: () => undefined, displays: [], stopsAtEnd: false };
      const lines = ['rev', 'info w', 'break aga', 'b again if v', 'print ar', 'p/x ex', 'nothing x', 'break '];
      for (const line of [...lines, 'info registers ex', 'i line aga', 'set print ']) {
        words.set(line, completions(session, line)[0]);
      }
      return 'detach';
    },
  ]);
  expect(words.get('rev')).toContain('reverse-continue');
  expect(words.get('info w')).toEqual(['watchpoints', 'wavefronts', 'waves']);
  expect(words.get('break aga')).toEqual(['again']);
  expect(words.get('b again if v')).toEqual(['vcc']);
  expect(words.get('print ar')).toContain('arg0');
  expect(words.get('p/x ex')).toEqual(['exec']);
  expect(words.get('nothing x')).toEqual([]);
  expect(words.get('info registers ex')).toEqual(['exec']);
  expect(words.get('i line aga')).toEqual(['again']);
  expect(words.get('set print ')).toEqual(['elements', 'pretty']);
  expect(words.get('break ')).toEqual(expect.arrayContaining(['k', 'helper', 'back']));
});
