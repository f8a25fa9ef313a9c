// The protocol: its two generated files are those of its source, C++ agrees with the offsets, messages survive any cut of their bytes.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import fc from '../../tests/support/fast-check.ts';
import { cppText } from '../../tools/gen-protocol/cpp.ts';
import { layoutOf } from '../../tools/gen-protocol/layout.ts';
import { EXEC_PROTOCOL } from '../../tools/gen-protocol/messages.ts';
import { TOOL_PROTOCOL } from '../../tools/gen-protocol/tool-messages.ts';
import { ByteReader, ByteWriter } from '../base/index.ts';
import * as messages from './generated/messages.ts';
import * as protocol from './protocol.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('the generated messages', () => {
  it('are those of their source', () => {
    const args = ['scripts/run-ts.mjs', 'tools/gen-protocol/main.ts', '--check'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: 'gen-protocol: checked 4 files\n', stderr: '' });
  });

  it('have the offsets that a C++ compiler gives them', () => {
    const folder = mkdtempSync(join(tmpdir(), 'wavesmith-protocol-'));
    try {
      const protocols = [EXEC_PROTOCOL, TOOL_PROTOCOL];
      const asserts = protocols.flatMap(({ structs, namespace }) =>
        structs.flatMap((s) => {
          const { fixed, size } = layoutOf(s);
          return [
            `static_assert(sizeof(${namespace}::${s.name}) == ${size});`,
            ...fixed.map((f) => `static_assert(offsetof(${namespace}::${s.name}, ${f.name}) == ${f.offset});`),
          ];
        }),
      );
      expect(asserts.length).toBeGreaterThan(60);
      const source = join(folder, 'layout.cc');
      writeFileSync(
        source,
        `#include <cstddef>\n${protocols.map((p) => cppText(p).replace('#pragma once', '')).join('')}${asserts.join('\n')}\n`,
      );
      const { status, stderr } = spawnSync('c++', ['-std=c++20', '-fsyntax-only', source], { encoding: 'utf8' });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('are read where they were written', () => {
    const request = new ByteWriter().u64(11).u64(12).u64(13).u64(14).u32(15).u32(0).finish();
    expect(messages.readQueueRequest(new ByteReader(request, 'message'))).toEqual({
      ring: 11,
      writeIndex: 12,
      readIndex: 13,
      watched: 14,
      packets: 15,
    });
    const short = new ByteReader(request.subarray(0, 34), 'message', 'runtime/bad-message');
    expect(() => messages.readQueueRequest(short)).toThrow(expect.objectContaining({ code: 'runtime/bad-message' }));
  });

  it('carry the symbols of a loaded code object', () => {
    const symbol = {
      name: 'k.kd',
      kind: 'kernel' as const,
      address: 21,
      size: 22,
      kernargSize: 23,
      kernargAlignment: 24,
      groupSegment: 25,
      privateSegment: 26,
      dynamicStack: true,
    };
    const bytes = protocol.encodeLoad(3n, 4, 5, [symbol, { ...symbol, kind: 'variable', name: 'é' }]);
    const r = new ByteReader(bytes, 'reply');
    expect([r.u64(0), r.u64(8), r.u64(16), r.u32(24)]).toEqual([3n, 4n, 5n, 2]);
    expect([0, 4, 8, 12, 16, 20].map((o) => r.u32(32 + o))).toEqual([1, 23, 24, 25, 26, 1]);
    expect([r.u64(56), r.u64(64), r.u32(72), r.text(76, 4)]).toEqual([21n, 22n, 4, 'k.kd']);
    expect([r.u32(80), r.u32(120), r.text(124, 2)]).toEqual([0, 2, 'é']);
    expect(bytes.length).toBe(126);
  });
});

const arbitraryMessage = fc.record({
  type: fc.nat(200),
  id: fc.bigInt(0n, 2n ** 64n - 1n),
  payload: fc.uint8Array({ maxLength: 200 }),
});

describe('MessageStream', () => {
  it('gives the messages that were sent, however their bytes arrive', () => {
    fc.assert(
      fc.property(
        fc.array(arbitraryMessage, { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 90 })),
        (all, cuts) => {
          const bytes = Buffer.concat(all.map((m) => protocol.encodeMessage(m.type, m.id, m.payload)));
          const stream = new protocol.MessageStream();
          const received: protocol.Message[] = [];
          let at = 0;
          for (const cut of [...cuts, bytes.length]) {
            received.push(...stream.push(new Uint8Array(bytes.subarray(at, at + cut))));
            at += cut;
          }
          expect(received.map((m) => ({ type: m.type, id: m.id, payload: [...m.payload.bytes] }))).toEqual(
            all.map((m) => ({ ...m, payload: [...m.payload] })),
          );
        },
      ),
      { numRuns: 300 },
    );
  });

  it('refuses a message longer than the limit before it arrives', () => {
    const stream = new protocol.MessageStream();
    const header = new DataView(new ArrayBuffer(16));
    header.setUint32(0, messages.MAX_PAYLOAD + 1, true);
    expect(() => stream.push(new Uint8Array(header.buffer))).toThrow(/announced/);
  });
});
