import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sampleCodeObject, sampleSqtt } from '../../../tests/profile-fixtures.ts';
import { sharedPath } from '../../../tests/support/shared.ts';
import type { ByteSource } from '../source.ts';
import { LoadedCode, lineCategory } from './code.ts';
import { contradictions } from './contradictions.ts';
import { Token } from './layout.ts';
import { decodeTokens, readSqttHeader } from './tokens.ts';
import { readSqtt } from './trace.ts';
import { WaveBuilder } from './waves.ts';

const source = (bytes: Uint8Array, path = 'trace.att'): ByteSource => ({
  path,
  size: bytes.length,
  read: (offset, length) => bytes.subarray(offset, offset + length),
});

const BASE = 0x7f00_0000_0000;

describe('synthetic traces', () => {
  const code = new LoadedCode(sampleCodeObject(), 'sample.o');

  test('every instruction of every wave is matched, through a barrier and a taken branch', () => {
    const result = readSqtt(source(sampleSqtt(BASE, 3)), { codes: [code] });
    expect(result.base).toBe(BASE);
    expect(result.header).toEqual({ version: 5, simdMask: 15, targetCu: 3, shaderEngine: 1 });
    expect(result.tokens.trailingBytes).toBe(0);
    expect(result.tokens.backwards).toBe(0);
    expect(result.counts.starts).toBe(6);
    expect(result.counts.ends).toBe(6);
    expect(result.stitched).toEqual({ waves: 3, matched: 3 * 11, total: 3 * 11, ended: 3 });
    expect(result.trace.lines.map((line) => [line.text, line.hits])).toEqual([
      ['s_load_dword s0, s[4:5], 0x0', 3],
      ['s_waitcnt lgkmcnt(0)', 3],
      ['v_add_f32_e32 v1, s0, v2', 6],
      ['s_barrier', 6],
      ['s_cbranch_scc0 65533', 6],
      ['s_endpgm', 3],
    ]);
    expect(result.trace.lines.every((line) => line.kernel === 'loop_kernel')).toBe(true);
  });

  test('latency contains the stall, idle is the gap before', () => {
    const { trace } = readSqtt(source(sampleSqtt(BASE, 1)), { codes: [code] });
    const [wave] = trace.waves;
    const add = trace.lines.find((line) => line.text.startsWith('v_add'));
    // Stalled 8 cycles before each issue, then 4 to 8 cycles of issue.
    expect(add).toMatchObject({ hits: 2, stall: 16 });
    expect(add?.latency).toBeGreaterThanOrEqual(24);
    for (const line of trace.lines) expect(line.stall).toBeLessThanOrEqual(line.latency);
    const total = trace.lines.reduce((sum, line) => sum + line.latency + line.idle, 0);
    expect(total).toBeLessThanOrEqual(wave.end - wave.begin);
    expect(wave.timeline.reduce((sum, [, cycles]) => sum + cycles, 0)).toBe(wave.end - wave.begin);
  });

  test('a header that names the wrong CU is corrected from the tokens', () => {
    const result = readSqtt(source(sampleSqtt(BASE, 2, 5)), { codes: [code] });
    expect(result.header.targetCu).toBe(5);
    expect(result.targetCu).toBe(3);
    expect(result.stitched.matched).toBe(22);
  });

  test('kernels of several code objects in one trace find theirs, whatever the order', () => {
    const other = new LoadedCode(sampleCodeObject('adds'), 'other.o');
    for (const [codes, index] of [
      [[other, code], 1],
      [[code, other], 0],
    ] as const) {
      const result = readSqtt(source(sampleSqtt(BASE, 2)), { codes });
      expect(result.stitched).toMatchObject({ matched: 22, total: 22, ended: 2 });
      expect(result.trace.lines.every((line) => line.codeObject === index)).toBe(true);
    }
    expect(readSqtt(source(sampleSqtt(BASE, 2)), { codes: [] }).stitched.waves).toBe(0);
  });

  test('decoding in small windows gives the same as at once', () => {
    const bytes = sampleSqtt(BASE, 4);
    const collect = (piece: number) => {
      const tokens: string[] = [];
      const chunked: ByteSource = {
        ...source(bytes),
        read: (offset, length) => bytes.subarray(offset, offset + Math.min(length, piece)),
      };
      const summary = decodeTokens(chunked, { token: (...token) => tokens.push(token.join()) });
      return { tokens, trailing: summary.trailingBytes };
    };
    const whole = collect(1 << 20);
    expect(whole.tokens.length).toBeGreaterThan(100);
    for (const piece of [8, 11, 13, 64]) expect(collect(piece)).toEqual(whole);
  });

  test('a time stamp after a reset sets the time of the tokens between', () => {
    const bytes = sampleSqtt(BASE, 1);
    const times: number[] = [];
    decodeTokens(source(bytes), { token: (_type, time) => times.push(time) });
    expect(times).toEqual([...times].sort((a, b) => a - b));
  });

  test('a truncated trace keeps what is whole', () => {
    const bytes = sampleSqtt(BASE, 1);
    const result = readSqtt(source(bytes.subarray(0, bytes.length - 3)), { codes: [code] });
    expect(result.tokens.trailingBytes).toBe(1);
    expect(result.trace.waves).toHaveLength(1);
    expect(result.stitched.ended).toBe(1);
    expect(result.counts.starts).toBe(2);
  });

  test('code that does not fit is not matched and the reason is told', () => {
    const wrong = sampleSqtt(BASE, 1);
    // The first INST token becomes an LDS instruction, which the code does not have there.
    const at = wrong.findIndex((byte, i) => i > 30 && (byte & 15) === Token.INST);
    wrong[at + 1] = (wrong[at + 1] & 7) | (6 << 3);
    const result = readSqtt(source(wrong), { codes: [code] });
    expect(result.stitched.matched).toBeLessThan(result.stitched.total);
    expect([...result.problems.keys()].join()).toContain('does not fit');
  });

  test('not a trace', () => {
    expect(() => readSqtt(source(Uint8Array.of(1, 2, 3)))).toThrow(/does not start with the header/);
  });
});

const root = sharedPath('profiles', 'sqtt');
describe.skipIf(root === undefined)('gfx950 traces from hardware', () => {
  const runs = root === undefined ? [] : readdirSync(root);
  const blobs = runs.flatMap((run) =>
    readdirSync(join(root ?? '', run))
      .filter((file) => file.startsWith('ProfileSQTTEvent'))
      .map((file) => join(root ?? '', run, file)),
  );

  test('every blob decodes to the last byte, in monotone time, with as many wave starts as ends', () => {
    expect(blobs.length).toBe(64);
    let waves = 0;
    for (const blob of blobs) {
      const bytes = readFileSync(blob);
      const builder = new WaveBuilder(readSqttHeader(bytes, blob), 0, { wave: () => {} });
      const summary = decodeTokens(source(bytes, blob), builder);
      expect([blob, summary.trailingBytes, summary.backwards]).toEqual([blob, 0, 0]);
      expect(builder.counts.starts).toBe(builder.counts.ends);
      expect(builder.counts.strayTokens).toBe(0);
      waves += builder.counts.starts;
    }
    expect(waves).toBe(1025);
  });

  test('no clean trace contradicts itself, and most flipped bits that change what is read make one do so', () => {
    for (const blob of blobs) {
      const code = new LoadedCode(readFileSync(join(blob, '..', 'ProfileProgramEvent_1_lib.bin')), 'code');
      const codes = contradictions(readSqtt(source(readFileSync(blob), blob), { codes: [code] })).map((c) => c.code);
      expect([blob, codes.filter((c) => c !== 'sqtt/no-wave')]).toEqual([blob, []]);
    }
    const run = join(root ?? '', 'profile_gemm_run_0');
    const codes = [new LoadedCode(readFileSync(join(run, 'ProfileProgramEvent_1_lib.bin')), 'gemm')];
    const good = readFileSync(join(run, 'ProfileSQTTEvent_3_blob.bin'));
    const expected = JSON.stringify(readSqtt(source(good), { codes }).trace);
    let changed = 0;
    let told = 0;
    for (let bit = 64; bit < 8 * good.length; bit += 37) {
      const bad = Uint8Array.from(good);
      bad[bit >> 3] ^= 1 << (bit & 7);
      const result = readSqtt(source(bad), { codes });
      if (JSON.stringify(result.trace) === expected) continue;
      changed++;
      if (contradictions(result).length > 0) told++;
    }
    expect(changed).toBeGreaterThan(300);
    expect(told / changed).toBeGreaterThan(0.88);
  });

  test('the GEMM: all 4 traced waves match token by token and end at s_endpgm', () => {
    const run = join(root ?? '', 'profile_gemm_run_0');
    const code = new LoadedCode(readFileSync(join(run, 'ProfileProgramEvent_1_lib.bin')), 'gemm');
    const result = readSqtt(source(readFileSync(join(run, 'ProfileSQTTEvent_3_blob.bin'))), { codes: [code] });
    expect(result.base).toBe(35184405667840);
    expect(result.stitched).toEqual({ waves: 4, matched: 232, total: 232, ended: 4 });
    expect(result.problems.size).toBe(0);
    const [wave] = result.trace.waves;
    const counts: Record<string, number> = {};
    for (const { category } of wave.instructions) counts[category] = (counts[category] ?? 0) + 1;
    expect(counts).toEqual({ SMEM: 2, SALU: 7, VALU: 30, FLAT: 4, LDS: 5, NEXT: 1, IMMED: 8, MSG: 1 });
    expect(result.trace.lines[wave.instructions[57].line].text).toBe('s_endpgm');
    for (const line of result.trace.lines) expect(line.stall).toBeLessThanOrEqual(line.latency);
    for (const w of result.trace.waves) {
      expect(w.timeline.reduce((sum, [, cycles]) => sum + cycles, 0)).toBe(w.end - w.begin);
    }
    // The wait for the loads is where the time goes.
    const hottest = [...result.trace.lines].sort((a, b) => b.latency - a.latency)[0];
    expect(hottest).toMatchObject({ text: 's_waitcnt vmcnt(0)', latency: 7056, stall: 7056 });
  });
});

test('token categories follow the encoding and the flags of the row', () => {
  const code = new LoadedCode(sampleCodeObject(), 'sample.o');
  const categories = [0x100, 0x108, 0x10c, 0x110, 0x114, 0x118].map((at) => {
    const line = code.line(at);
    return line === undefined ? undefined : lineCategory(line.row);
  });
  expect(categories).toEqual(['SMEM', 'immediate', 'VALU', 'barrier', 'branch', 'end']);
});
