// Whole dispatches: threads, workgroups that wait for each other, aborting, budgets, monitors.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kernelObject } from '../../../../tests/support/kernel-source.ts';
import { workerHost } from '../../../../tests/support/sim-worker.ts';
import { WavesmithError } from '../../../base/index.ts';
import { DispatchAborted, type SimDispatchRequest, type WorkerHost } from '../../index.ts';
import { SimDevice } from '../sim-device.ts';

/** s[2:3] is the buffer, s8 the workgroup, v1 four times the work-item. */
const PROLOGUE = `s_mov_b32 s8, s2
s_load_dwordx2 s[2:3], s[0:1], 0x0
v_lshlrev_b32_e32 v1, 2, v0
s_waitcnt lgkmcnt(0)`;

/** Busy for a while: `count` rounds of a loop. */
const busy = (count: number): string => `s_mov_b32 s9, ${count}
.Lbusy:
v_add_u32_e32 v3, 1, v3
s_sub_u32 s9, s9, 1
s_cmp_lg_u32 s9, 0
s_cbranch_scc1 .Lbusy`;

/** Stores workgroup × 1000 + work-item to dword workgroup × 64 + work-item. */
const STORE = `s_lshl_b32 s10, s8, 8
v_add_u32_e32 v1, s10, v1
s_mul_i32 s11, s8, 0x3e8
v_add_u32_e32 v2, s11, v0
global_store_dword v1, v2, s[2:3]`;

interface Setup {
  readonly device: SimDevice;
  readonly request: SimDispatchRequest;
  readonly words: () => Uint32Array;
}

function objectOf(code: string): Uint8Array {
  const { bytes } = kernelObject({
    code: `${PROLOGUE}\n${code}`,
    descriptor: { system_sgpr_workgroup_id_x: 1, next_free_sgpr: 32 },
  });
  return bytes;
}

function setUp(code: string, groups: number, host?: WorkerHost, bytes = groups * 256): Setup {
  const device = new SimDevice('gfx942', { workerHost: host });
  const buffer = device.alloc(bytes, 'out');
  const kernel = device.load(objectOf(code)).kernel('k');
  return {
    device,
    request: { kernel, grid: [groups, 1, 1], block: [64, 1, 1], args: [buffer], engine: 'interpreter' },
    words: () => new Uint32Array(device.read(buffer).buffer),
  };
}

let host: WorkerHost;
beforeAll(async () => {
  // Threads are worth starting at once, so that short tests use them.
  host = { ...(await workerHost()), startMs: 0 };
});
const open: SimDevice[] = [];
afterAll(() => {
  for (const device of open) device.close();
});

describe('a workgroup in the place of one that has ended', () => {
  it.each(['interpreter', 'compiled'] as const)('should begin as if none had run there (%s)', async (engine) => {
    const { device, request, words } = setUp(
      `s_getreg_b32 s12, hwreg(HW_REG_MODE)
s_xor_b32 s12, s12, s20
s_xor_b32 s12, s12, m0
s_xor_b32 s12, s12, vcc_lo
s_cselect_b32 s13, 1, 0
s_xor_b32 s12, s12, s13
v_accvgpr_read_b32 v6, a3
v_or_b32_e32 v6, v6, v5
v_xor_b32_e32 v6, s12, v6
s_lshl_b32 s10, s8, 8
v_add_u32_e32 v1, s10, v1
v_lshl_add_u32 v6, v0, 16, v6
global_store_dword v1, v6, s[2:3]
s_mov_b32 s20, 77
s_mov_b32 m0, 33
s_mov_b64 vcc, 21
v_mov_b32_e32 v0, 9
v_mov_b32_e32 v5, 5
v_accvgpr_write_b32 a3, v5
s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 15
s_mov_b64 exec, 1
s_cmp_eq_u32 s20, s20`,
      4,
    );
    open.push(device);
    await device.dispatch({ ...request, engine, block: [48, 1, 1], workers: undefined });
    const [first = -1] = words();
    for (let group = 0; group < 4; group++) {
      const own = [...words().subarray(group * 64, group * 64 + 64)];
      expect(own).toEqual(Array.from({ length: 64 }, (_, i) => (i < 48 ? first + i * 65536 : 0)));
    }
  });
});

describe('worker threads', () => {
  it.each(['interpreter', 'compiled'] as const)('should not change results or counts (%s)', async (engine) => {
    const rounds = engine === 'compiled' ? 40_000 : 500;
    const results = [];
    for (const workers of [1, 2, 3, 2]) {
      const { device, request, words } = setUp(`${busy(rounds)}\n${STORE}`, 96, host);
      open.push(device);
      const result = await device.dispatch({ ...request, engine, workers });
      const started = (device as unknown as { crew: { size: number } }).crew.size;
      expect(started).toBe(workers - 1);
      results.push({ result, words: [...words()] });
    }
    const [one, ...others] = results;
    expect(one?.words[95 * 64 + 7]).toBe(95_007);
    expect(one?.result.workgroups).toBe(96);
    for (const other of others) expect(other).toEqual(one);
  });

  it('should add up integer atomics of all threads', async () => {
    const { device, request, words } = setUp(
      `${busy(500)}
v_mov_b32_e32 v2, 1
v_mov_b32_e32 v1, 0
global_atomic_add v1, v2, s[2:3]
v_mov_b32_e32 v4, 3
global_atomic_sub v1, v4, s[2:3] offset:8`,
      64,
      host,
    );
    open.push(device);
    await device.dispatch({ ...request, workers: 3 });
    expect((device as unknown as { crew: { size: number } }).crew.size).toBe(2);
    expect([words()[0], words()[2]]).toEqual([4096, 2 ** 32 - 3 * 4096]);
  });

  it('should run kernels that mix kinds of atomics in one thread', async () => {
    for (const other of ['global_atomic_umax v1, v2, s[2:3]', 'global_atomic_add_x2 v1, v[2:3], s[2:3]']) {
      const code = `${busy(500)}\nv_mov_b32_e32 v1, 0\nv_mov_b32_e32 v3, 0\nglobal_atomic_add v1, v2, s[2:3]\n${other}`;
      const { device, request } = setUp(code, 64, host);
      open.push(device);
      await device.dispatch({ ...request, workers: 3 });
      expect((device as unknown as { crew: { size: number } }).crew.size).toBe(0);
    }
  });

  it('should run kernels whose atomics show the order in one thread, in order', async () => {
    const { device, request, words } = setUp(
      `${busy(500)}
v_mov_b32_e32 v2, 1
v_mov_b32_e32 v3, 0
v_cmp_eq_u32_e32 vcc, 0, v0
s_and_b64 exec, exec, vcc
global_atomic_add v4, v3, v2, s[2:3] sc0
s_waitcnt vmcnt(0)
s_lshl_b32 s10, s8, 2
v_add_u32_e32 v1, s10, v1
global_store_dword v1, v4, s[2:3] offset:4`,
      96,
      host,
    );
    open.push(device);
    await device.dispatch({ ...request, workers: 2 });
    expect([...words().subarray(1, 97)]).toEqual(Array.from({ length: 96 }, (_, i) => i));
    expect((device as unknown as { crew: { size: number } }).crew.size).toBe(0);
  });

  it('should report the lowest workgroup that faults', async () => {
    // Workgroups from 40 on store beyond the buffer.
    const messages = [];
    for (const workers of [1, 3, 3]) {
      const { device, request } = setUp(`${busy(500)}\n${STORE}`, 96, host, 40 * 256);
      open.push(device);
      const error: unknown = await device.dispatch({ ...request, workers }).catch((e: unknown) => e);
      expect(error).toBeInstanceOf(WavesmithError);
      messages.push((error as WavesmithError).message.replaceAll(/0x[0-9a-f]+/g, ''));
    }
    expect(messages[0]).toContain('workgroup 40,0,0');
    expect(messages[1]).toBe(messages[0]);
    expect(messages[2]).toBe(messages[0]);
  });

  it('should count the budget over all threads', async () => {
    const { device, request } = setUp(`${busy(500)}\n${STORE}`, 96, host);
    open.push(device);
    const { instructions } = await device.dispatch({ ...request, workers: 2 });
    await device.dispatch({ ...request, workers: 2, maxInstructions: instructions });
    await expect(device.dispatch({ ...request, workers: 2, maxInstructions: instructions - 1 })).rejects.toMatchObject({
      code: 'sim/budget',
    });
  });

  it('should not wait for threads that have not begun, which then leave the dispatch alone', async () => {
    const late: (() => void)[] = [];
    let isHeldBack = true;
    const slow: WorkerHost = {
      ...host,
      start: () => {
        const thread = host.start();
        const post = thread.post.bind(thread);
        thread.post = (message) => {
          if (isHeldBack) late.push(() => post(message));
          else post(message);
        };
        return thread;
      },
    };
    const { device, request, words } = setUp(`${busy(2000)}\n${STORE}`, 96, slow);
    open.push(device);
    await device.dispatch({ ...request, workers: 2 });
    expect(words()[95 * 64 + 7]).toBe(95_007);
    const other = device.load(objectOf(`${busy(2000)}\n${STORE.replace('0x3e8', '0x7d0')}`)).kernel('k');
    // What the thread was asked comes after all, while another kernel runs: it must not run workgroups of that one as its own.
    setTimeout(() => {
      isHeldBack = false;
      for (const post of late.splice(0)) post();
    });
    const second = device.dispatch({ ...request, kernel: other, workers: 2 });
    expect((await second).workgroups).toBe(96);
    expect([...words()]).toEqual(Array.from({ length: 96 * 64 }, (_, i) => (i >> 6) * 2000 + (i & 63)));
  });

  it('should be as many as there is work for when a kernel turns out to be long', async () => {
    for (const [startMs, most] of [
      [5, 3],
      [10_000, 0],
    ] as const) {
      const { device, request, words } = setUp(`${busy(40_000)}\n${STORE}`, 300, { ...host, startMs });
      open.push(device);
      const { workgroups } = await device.dispatch({ ...request, engine: 'compiled', workers: 4 });
      expect((device as unknown as { crew: { size: number } }).crew.size).toBe(most);
      expect(workgroups).toBe(300);
      expect(words()[299 * 64 + 7]).toBe(299_007);
    }
  });

  it('should be started when many dispatches together are worth it', async () => {
    const { device, request } = setUp(`${busy(4000)}\n${STORE}`, 300, { ...host, startMs: 2000 });
    open.push(device);
    const { crew } = device as unknown as { crew: { size: number } };
    let dispatches = 0;
    while (crew.size === 0 && dispatches < 5000) {
      await device.dispatch({ ...request, engine: 'compiled', workers: 2 });
      dispatches++;
    }
    expect(crew.size).toBe(1);
    expect(dispatches).toBeGreaterThan(1);
  });

  it('should say when one ends', async () => {
    const ending: WorkerHost = {
      ...host,
      start: () => {
        const thread = host.start();
        setTimeout(() => thread.onFailure(new Error('it ran out of memory')));
        return thread;
      },
    };
    const { device, request } = setUp(`${busy(2000)}\n${STORE}`, 96, ending);
    open.push(device);
    await expect(device.dispatch({ ...request, workers: 2 })).rejects.toMatchObject({ code: 'sim/worker-lost' });
  });

  it('should say when there are none', async () => {
    const { device, request } = setUp(STORE, 2);
    await expect(device.dispatch({ ...request, workers: 2 })).rejects.toMatchObject({ code: 'device/no-workers' });
    await expect(device.dispatch({ ...request, workers: 0 })).rejects.toMatchObject({ code: 'device/bad-workers' });
  });
});

describe('workgroups that wait for each other', () => {
  /** Workgroup 0 waits until the last one has stored its flag. */
  const waiting = (last: number, poll: string): string => `v_mov_b32_e32 v2, 1
v_mov_b32_e32 v1, 0
s_cmp_eq_u32 s8, 0
s_cbranch_scc1 .Lwait
s_cmp_lg_u32 s8, ${last}
s_cbranch_scc1 .Lskip
global_store_dword v1, v2, s[2:3] sc0 sc1
s_endpgm
.Lwait:
${poll}
s_cbranch_vccz .Lwait
v_mov_b32_e32 v2, 7
global_store_dword v1, v2, s[2:3] offset:4
.Lskip:`;
  const POLLS = {
    'a load past the caches': `global_load_dword v3, v1, s[2:3] sc0 sc1
s_waitcnt vmcnt(0)
v_cmp_eq_u32_e32 vcc, 1, v3`,
    'a load and a sleep': `s_sleep 1
global_load_dword v3, v1, s[2:3]
s_waitcnt vmcnt(0)
v_cmp_eq_u32_e32 vcc, 1, v3`,
    'an atomic': `v_mov_b32_e32 v4, 0
global_atomic_or v3, v1, v4, s[2:3] sc0
s_waitcnt vmcnt(0)
v_cmp_eq_u32_e32 vcc, 1, v3`,
  };

  it.each(Object.entries(POLLS))('should let the others run: %s', async (_name, poll) => {
    for (const engine of ['interpreter', 'compiled'] as const) {
      for (const groups of [2, 40]) {
        const { device, request, words } = setUp(waiting(groups - 1, poll), groups);
        await device.dispatch({ ...request, engine, maxInstructions: 5_000_000 });
        expect([...words().subarray(0, 2)]).toEqual([1, 7]);
      }
    }
  });

  it('should let the others run: a loop that stores what it has got so far', async () => {
    // Workgroup n takes what n + 1 has stored, and one more; the last begins.
    const groups = 8;
    const code = `s_lshl_b32 s10, s8, 2
v_mov_b32_e32 v1, s10
v_mov_b32_e32 v2, 1
s_cmp_eq_u32 s8, ${groups - 1}
s_cbranch_scc1 .Lstore
.Lloop:
global_load_dword v3, v1, s[2:3] offset:4 sc0 sc1
s_waitcnt vmcnt(0)
v_mov_b32_e32 v4, s8
global_store_dword v1, v4, s[2:3] offset:1024
v_cmp_eq_u32_e32 vcc, 0, v3
s_cbranch_vccnz .Lloop
v_add_u32_e32 v2, 1, v3
.Lstore:
global_store_dword v1, v2, s[2:3] sc0 sc1`;
    for (const engine of ['interpreter', 'compiled'] as const) {
      const { device, request, words } = setUp(code, groups, host);
      open.push(device);
      await device.dispatch({ ...request, engine, workers: 2, maxInstructions: 5_000_000 });
      expect([...words().subarray(0, groups)]).toEqual(Array.from({ length: groups }, (_, i) => groups - i));
      expect((device as unknown as { crew: { size: number } }).crew.size).toBe(0);
    }
  });

  it.each(['interpreter', 'compiled'] as const)(
    'should stop where the budget says, and only there (%s)',
    async (engine) => {
      // 4 instructions of the prologue, 1 + 4 × 6 of the loop, 5 of the store, s_endpgm; the second wave has as many.
      const all = 2 * (4 + 25 + 5 + 1);
      for (const budget of [0, 1, 3, 4, 5, 9, 17, 29, 34, 35, 36, 50, all - 1, all]) {
        const { device, request } = setUp(`${busy(6)}\n${STORE}`, 2);
        open.push(device);
        const counted: number[] = [];
        const run = device.dispatch({ ...request, engine, maxInstructions: budget }).then(
          ({ instructions }) => counted.push(instructions),
          (error) => {
            expect(error.code).toBe('sim/budget');
            counted.push(Number(/after (\d+) instructions/.exec(error.message)?.[1]));
          },
        );
        await run;
        // Compiled code may count to the end of a block first.
        const [stopped] = counted;
        if (engine === 'interpreter') expect(stopped).toBe(budget);
        else expect(stopped).toBeLessThanOrEqual(Math.min(all, budget + 6));
      }
    },
  );

  it('should end a wait that nobody ends with the budget', async () => {
    const { device, request } = setUp(waiting(99, POLLS['an atomic']), 2);
    await expect(device.dispatch({ ...request, maxInstructions: 300_000 })).rejects.toMatchObject({
      code: 'sim/budget',
    });
  });
});

describe('the grid barrier', () => {
  const BARRIER =
    's_waitcnt vmcnt(0)\ns_mov_b32 m0, 0\nv_mov_b32_e32 v4, 0\nds_gws_barrier v4 gds\ns_waitcnt lgkmcnt(0)';
  /** Every workgroup stores, waits for all, and adds what the last one stored to its own. */
  const gathering = (groups: number): string => `${STORE}
${BARRIER}
v_mov_b32_e32 v5, ${(groups - 1) * 256}
global_load_dword v6, v5, s[2:3]
v_add_u32_e32 v7, ${groups * 256}, v1
s_waitcnt vmcnt(0)
v_add_u32_e32 v6, v6, v2
global_store_dword v7, v6, s[2:3]
${BARRIER}`;

  it.each(['interpreter', 'compiled'] as const)('waits for every workgroup of the grid (%s)', async (engine) => {
    const groups = 300;
    const { device, request, words } = setUp(gathering(groups), groups, host, groups * 512);
    open.push(device);
    await device.dispatch({ ...request, engine, workers: 2 });
    const sums = [...words().subarray(groups * 64)];
    expect(sums).toEqual(sums.map((_, n) => (groups - 1) * 1000 + Math.floor(n / 64) * 1000 + (n % 64)));
    // It is as it was before.
    await device.dispatch({ ...request, engine, workers: 1 });
  });

  it('is an error when a workgroup ends without it', async () => {
    const { device, request } = setUp(`s_cmp_eq_u32 s8, 2\ns_cbranch_scc1 .Lpast\n${BARRIER}\n.Lpast:\ns_nop 0`, 4);
    await expect(device.dispatch(request)).rejects.toMatchObject({
      code: 'sim/grid-barrier',
      message: expect.stringContaining("3 of 4 workgroups have come to the grid's barrier, and the others have ended."),
    });
  });

  it('is an error when the workgroups do not fit on the device at once', async () => {
    const { device, request } = setUp(BARRIER, 20_000);
    await expect(device.dispatch(request)).rejects.toMatchObject({
      code: 'sim/grid-barrier',
      message: expect.stringMatching(/of 20000 workgroups have come .* the others find no room beside them\./),
    });
  });
});

describe('a dispatch under way', () => {
  it.each([1, 2])('should end with what was done when it is aborted (%i workers)', async (workers) => {
    const { device, request } = setUp(`${busy(2_000)}\n${STORE}`, 400, host);
    open.push(device);
    const controller = new AbortController();
    const seen: [number, number][] = [];
    const error: unknown = await device
      .dispatch({
        ...request,
        workers,
        signal: controller.signal,
        onProgress: (done, total) => {
          seen.push([done, total]);
          if (done > 3) controller.abort();
        },
      })
      .catch((e: unknown) => e);
    expect(error).toBeInstanceOf(DispatchAborted);
    const { partial, code } = error as DispatchAborted;
    expect(code).toBe('sim/aborted');
    expect(partial.workgroups).toBeGreaterThan(3);
    expect(partial.workgroups).toBeLessThan(400);
    expect(partial.instructions).toBeGreaterThan(3 * 8_000);
    const byEncoding = Object.values(partial.instructionsByEncoding ?? {}).reduce((a, b) => a + b, 0);
    expect(byEncoding).toBe(partial.instructions);
    expect(seen[0]).toEqual([0, 400]);
    // The device goes on working.
    await device.dispatch({ ...request, grid: [2, 1, 1] });
  });

  it('should abort within one long workgroup, and let timers run', async () => {
    for (const engine of ['interpreter', 'compiled'] as const) {
      const { device, request } = setUp('.Lforever:\ns_branch .Lforever', 1);
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 50);
      await expect(device.dispatch({ ...request, engine, signal: controller.signal })).rejects.toMatchObject({
        code: 'sim/aborted',
      });
    }
  });

  it('should wait for its monitors and tell them everything', async () => {
    const { device, request } = setUp('v_mov_b32_e32 v2, 1\ns_barrier', 2);
    const events: string[] = [];
    await device.dispatch({
      ...request,
      block: [128, 1, 1],
      monitors: [
        {
          startDispatch: ({ launch }) => events.push(`start ${launch.kernelName}`),
          startWorkgroup: (group, waves) => events.push(`group ${group.id[0]} of ${waves.length}`),
          before: async (w, _pc, { instruction }) => {
            await Promise.resolve();
            if (instruction.row.operation === 's_barrier') events.push(`before ${w.index}`);
          },
          after: (w, pc, bound) => {
            if (bound.instruction.row.operation === 's_barrier') events.push(`after ${w.index} ${w.pc - pc}`);
          },
          barrier: () => events.push('barrier'),
          endWave: (w) => events.push(`end wave ${w.index}`),
          endWorkgroup: (group) => events.push(`end group ${group.id[0]}`),
          endDispatch: () => events.push('end'),
        },
      ],
    });
    const one = ['before 0', 'after 0 4', 'before 1', 'after 1 4', 'barrier', 'end wave 0', 'end wave 1'];
    expect(events).toEqual([
      'start k',
      'group 0 of 2',
      ...one,
      'end group 0',
      'group 1 of 2',
      ...one,
      'end group 1',
      'end',
    ]);
  });

  it('should run dispatches of a device one after the other', async () => {
    const { device, request, words } = setUp(`${busy(100)}\n${STORE}`, 4);
    const results = await Promise.all([device.dispatch(request), device.dispatch(request), device.dispatch(request)]);
    expect(new Set(results.map((r) => r.instructions)).size).toBe(1);
    expect(words()[3 * 64]).toBe(3000);
  });

  it('should not run kernels that end at once, and count as if they ran', async () => {
    const device = new SimDevice('gfx942');
    open.push(device);
    const kernel = device.load(kernelObject({ code: 's_mov_b32 s33, 0', args: [] }).bytes).kernel('k');
    const sizes = [
      { items: [70, 9, 3], block: [32, 4, 2] },
      { items: [1, 1, 1], block: [1, 1, 1] },
      { items: [1000, 1, 1], block: [256, 1, 1] },
    ] as const;
    for (const { items, block } of sizes) {
      const grid = items.map((n, d) => Math.ceil(n / (block[d] as number))) as [number, number, number];
      const request = { kernel, grid, block, workItems: items, args: [] };
      expect(await device.dispatch(request)).toEqual(await device.dispatch({ ...request, monitors: [{}] }));
    }
    const most = await device.dispatch({ kernel, grid: [2 ** 31 - 1, 1, 1], block: [1, 1, 1], args: [] });
    expect(most.workgroups).toBe(2 ** 31 - 1);
  });
});
