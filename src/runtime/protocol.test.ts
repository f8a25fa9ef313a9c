// The protocol: messages survive any cut of their bytes; the numbers here are those of native/common/protocol.h.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as protocol from './protocol.ts';

const header = readFileSync(new URL('../../native/common/protocol.h', import.meta.url), 'utf8');

/** Members of an enum class of the header, without their k. */
function enumOf(name: string): Record<string, number> {
  const body = new RegExp(`enum class ${name} : uint32_t \\{([^}]*)\\}`).exec(header)?.[1] ?? '';
  return Object.fromEntries([...body.matchAll(/\bk(\w+) = (\d+)/g)].map((m) => [m[1], Number(m[2])]));
}

/** Byte offsets of a struct's fields, by the rules of the ABI for plain integers. */
function offsetsOf(name: string): Record<string, number> {
  const body = new RegExp(`struct (?:alignas\\(64\\) )?${name} \\{([^}]*)\\}`).exec(header)?.[1] ?? '';
  const sizes: Record<string, number> = { uint32_t: 4, uint64_t: 8, int64_t: 8 };
  const offsets: Record<string, number> = {};
  let at = 0;
  for (const [, type, field] of body.matchAll(/^\s*(u?int\d+_t) (\w+);/gm)) {
    const size = sizes[type] as number;
    at = Math.ceil(at / size) * size;
    offsets[field] = at;
    at += size;
  }
  return { ...offsets, size: Math.ceil(at / 8) * 8 };
}

describe('protocol.ts and protocol.h', () => {
  it.each([
    ['MessageType', protocol.MessageType],
    ['ErrorCode', protocol.ErrorCode],
    ['FaultKind', protocol.FaultKind],
  ])('agree on %s', (name, values) => {
    expect(values).toEqual(enumOf(name));
    expect(Object.keys(enumOf(name)).length).toBeGreaterThan(3);
  });

  it('agree on versions, limits and the variable', () => {
    expect(header).toContain(`kProtocolVersion = ${protocol.PROTOCOL_VERSION};`);
    expect(header).toContain(`kMaxPayload = 1u << ${Math.log2(protocol.MAX_PAYLOAD)};`);
    expect(header).toContain(`kSocketVariable = "${protocol.SOCKET_VARIABLE}";`);
  });

  it('agree on the layout of a signal', () => {
    const { value, device_waits, start_ts, end_ts, sleepers, futex, size } = offsetsOf('Signal');
    expect(protocol.SIGNAL).toEqual({
      value,
      deviceWaits: device_waits,
      startTicks: start_ts,
      endTicks: end_ts,
      sleepers,
      futex,
      size: Math.ceil((size as number) / 64) * 64,
    });
  });

  it('agree on the greeting', () => {
    const bytes = protocol.encodeHello({
      devicePid: 11,
      memoryDescriptor: 12,
      computeUnits: 13,
      windowAddress: 14,
      windowSize: 15,
      wavefrontSize: 16,
      maxWorkgroupSize: 17,
      ldsBytes: 18,
      clockKhz: 19,
      target: 'gfx942',
      name: 'GPU',
    });
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const o = offsetsOf('HelloReply') as Record<string, number>;
    const u32 = ['version', 'device_pid', 'memory_fd', 'compute_units', 'wavefront_size', 'max_workgroup_size'];
    expect(u32.map((f) => view.getUint32(o[f] as number, true))).toEqual([1, 11, 12, 13, 16, 17]);
    expect(view.getUint32(o.lds_bytes, true)).toBe(18);
    expect(view.getUint32(o.clock_khz, true)).toBe(19);
    expect(view.getBigUint64(o.window_address, true)).toBe(14n);
    expect(view.getBigUint64(o.window_size, true)).toBe(15n);
    expect(bytes.length).toBe(o.size + 4 + 6 + 4 + 3);
  });

  it('agree on the symbols of a loaded code object', () => {
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
    const bytes = protocol.encodeLoad(3n, 4, 5, [symbol, { ...symbol, kind: 'variable' }]);
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const reply = offsetsOf('LoadReply') as Record<string, number>;
    const record = offsetsOf('SymbolRecord') as Record<string, number>;
    expect(view.getBigUint64(reply.load_size, true)).toBe(5n);
    expect(view.getUint32(reply.count, true)).toBe(2);
    const at = (n: number): number => reply.size + n * (record.size + 4 + 4);
    const fields = ['kind', 'kernarg_size', 'kernarg_alignment', 'group_segment', 'private_segment', 'dynamic_stack'];
    expect(fields.map((f) => view.getUint32(at(0) + (record[f] as number), true))).toEqual([1, 23, 24, 25, 26, 1]);
    expect(view.getUint32(at(1) + record.kind, true)).toBe(0);
    expect(view.getBigUint64(at(1) + record.address, true)).toBe(21n);
    expect(view.getBigUint64(at(1) + record.address + 8, true)).toBe(22n);
    expect(bytes.length).toBe(at(2));
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
    header.setUint32(0, protocol.MAX_PAYLOAD + 1, true);
    expect(() => stream.push(new Uint8Array(header.buffer))).toThrow(/announced/);
  });
});
