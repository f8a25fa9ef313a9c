// Logging reads changes nothing that is known of who touched which bytes when.
import { describe, expect, it } from 'vitest';
import fc from '../../../../../tests/support/fast-check.ts';
import { strictFindings } from '../../../../../tests/support/strict.ts';
import { gpuWindow } from '../../state/layout.ts';
import { DeviceMemory } from '../../state/memory.ts';
import { WasmModule } from '../../wasm/emit.ts';
import { Code } from '../../wasm/memory/code.ts';
import { LogWriter } from '../compiled/log.ts';
import { pageFunction } from '../compiled/pages.ts';
import { lanesFunction } from '../compiled/scattered.ts';
import { Span } from '../compiled/spans.ts';
import {
  SHADOW_ACTOR,
  SHADOW_EPOCH,
  SHADOW_PAGE_COUNT,
  SHADOW_PAGES,
  SHADOW_READER,
  SHADOW_STORES,
} from '../registers/shadow-layout.ts';
import { LOGGED, PAGE, PAGE_DETAILS } from './race-details.ts';
import { actorOf, groupOf, type Toucher } from './race-events.ts';
import { LOG_END, LOG_NEXT, type RacePage } from './race-page.ts';
import { RacePages } from './race-pages.ts';
import { LOG_ENTRY } from './read-log.ts';

const PAGE_BYTES = 4 * PAGE;
const PAGE_COUNT = 3;
const SIZES = [1, 2, 4, 8, 12, 16] as const;

type Kind = 'load' | 'store' | 'scalar';

interface Step extends Toucher {
  readonly kind: Kind;
  /** Bytes of each of four lanes, or 0: `run` bytes from the first one on. */
  readonly bytes: number;
  readonly lanes: readonly number[];
  readonly run: number;
}

/** Few wavefronts and workgroups, so that they meet; few stores, so that there is something in the log. */
const history = fc
  .array(
    fc.record({
      group: fc.nat(1),
      wave: fc.nat(1),
      barrier: fc.nat(5).map((n) => n === 0),
      kind: fc.constantFrom<Kind>('load', 'load', 'load', 'load', 'scalar', 'store'),
      bytes: fc.constantFrom(0, 4, 4, ...SIZES),
      page: fc.nat(PAGE_COUNT - 1),
      // Some elements go on in the next page.
      shift: fc.constantFrom(0, 0, 0, 0, 0, 0, PAGE_BYTES - 1200),
      lanes: fc.tuple(...Array.from({ length: 4 }, () => fc.nat(80))),
      // The lanes of some loads are of several pages.
      pages: fc.constantFrom([0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 1], [0, 1, 2, 0], [0, 2, 2, 2]),
      run: fc.constantFrom(4, 64, 256, 512, PAGE_BYTES),
    }),
    { minLength: 4, maxLength: 30 },
  )
  .map((steps) => {
    const epochs = [0, 0];
    return steps.map(({ group, wave, barrier, kind, bytes, page, shift, lanes, pages, run }, i): Step => {
      if (barrier) epochs[group] = (epochs[group] as number) + 1;
      const unit = kind === 'scalar' || bytes === 0 ? 4 : bytes;
      // Lanes of a store with bytes in common are not its business.
      const apart = lanes.map((n, lane) => (kind === 'store' ? (lanes[0] as number) + lane : n));
      return {
        actor: actorOf(group, wave),
        epoch: epochs[group] as number,
        store: i,
        pc: 4 * i,
        kind,
        bytes: kind === 'scalar' ? 0 : bytes,
        lanes: apart.map((n, lane) => {
          const of = kind === 'load' ? (page + (pages[lane] as number)) % PAGE_COUNT : page;
          return of * PAGE_BYTES + (of < PAGE_COUNT - 1 ? shift : 0) + unit * n;
        }),
        run: kind === 'scalar' ? Math.min(run, 64) : run,
      };
    });
  });

function compiled(memory: DeviceMemory): WebAssembly.Exports {
  const module = new WasmModule({ module: 'env', name: 'memory', initial: 1, maximum: 65536, shared: memory.isShared });
  for (const kind of ['load', 'store', 'scalar'] as const) module.export(kind, pageFunction(module, kind));
  for (const kind of ['load', 'store'] as const) {
    for (const bytes of SIZES) module.export(`${kind}${bytes}`, lanesFunction(module, kind, bytes, 4));
  }
  // As the lanes of a load are logged where they are looked at: the first time, it looks for a span.
  for (const bytes of SIZES) {
    const name = `quad${bytes}`;
    const fn = module.helper(name, ['i32', 'i32', 'i32', 'i32', 'i32', 'i32'], ['i32'], (quad) => {
      const code = new Code(quad);
      const all = code.local('v128');
      const [span, log] = [new Span(code, module, 0, 5, bytes, false), new LogWriter(code, 0, 5, bytes)];
      quad.get(1).op('i32x4.splat');
      for (const lane of [1, 2, 3]) quad.get(1 + lane).lane('i32x4.replace_lane', lane);
      quad.set(all);
      code.block((done) => {
        code.block((otherwise) => {
          const inSpan = {
            frozen: () => code.br(done),
            logged: () => {
              log.write(() => quad.get(all), otherwise);
              code.br(done);
            },
            details: () => code.br(otherwise),
          };
          for (let n = 0; n < 2; n++) span.note(all, inSpan, () => log.begin());
        });
        quad.i32(0).return();
      });
      quad.i32(1);
    });
    module.export(name, fn);
  }
  return new WebAssembly.Instance(new WebAssembly.Module(module.finish()), { env: { memory: memory.wasm } }).exports;
}

/** The first read of a page in the log is another workgroup's than the one that stores. */
const FIRST_READ: readonly Step[] = [
  { actor: 1, epoch: 1, store: 0, pc: 0, kind: 'load', bytes: 4, lanes: [0, 0, 0, 0], run: 4 },
  { actor: 17, epoch: 1, store: 1, pc: 4, kind: 'load', bytes: 0, lanes: [0, 0, 0, 0], run: 512 },
  { actor: 1, epoch: 4, store: 4, pc: 16, kind: 'load', bytes: 0, lanes: [4, 0, 0, 0], run: 4 },
  { actor: 17, epoch: 2, store: 5, pc: 20, kind: 'store', bytes: 0, lanes: [0, 4, 8, 12], run: 4 },
];

describe('the log of reads', () => {
  const memory = new DeviceMemory();
  const region = memory.alloc(PAGE_COUNT * PAGE_BYTES, 'buffer');
  const first = region.base - gpuWindow.base;
  const shadow = memory.reserve(65_536, 'shadow');
  const exports = compiled(memory);
  const words = (): Uint32Array => new Uint32Array(memory.wasm.buffer);
  /** Bytes of the elements that four lanes have logged. */
  const quads = new Set<number>();

  /**
   * For each step up to the first that asks TypeScript for a closer look: whether it does not. `room`: entries of the log, or 0: all pages have
   * records by dword from the start. `longLog`: bytes of it from which on compiled code puts it into the records. `mostTaken`: pages
   * that are taken out of it alone. `ends`: what stores to pages whose
   * reads are logged say.
   */
  function answers(
    steps: readonly Step[],
    stays: boolean,
    room: number,
    longLog = 0,
    mostTaken = 0,
  ): { said: boolean[]; ends: boolean[] } {
    const pages = new RacePages(memory, stays, longLog, mostTaken);
    const table = pages.table.byteOffset;
    const at = shadow.byteOffset;
    words().fill(0, at / 4, at / 4 + shadow.length / 4);
    words().set([pages.table.byteOffset, pages.table.length], (at + SHADOW_PAGES) / 4);
    expect(SHADOW_PAGE_COUNT).toBe(SHADOW_PAGES + 4);
    const next = words()[(table + LOG_NEXT) / 4] as number;
    words()[(table + LOG_END) / 4] = room === 0 ? 0 : next + LOG_ENTRY * room;
    const opened = Array.from({ length: PAGE_COUNT }, (_, n) => pages.open(region, n, undefined) as RacePage);
    const look = (touched: ReadonlySet<number>): void => {
      for (const [n, page] of opened.entries()) if (touched.has(n)) void page.detailed;
    };
    if (room === 0) look(new Set(opened.keys()));
    const details = (page: number): number =>
      words()[((pages.table[first / PAGE_BYTES + page] as number) + 4 * PAGE_DETAILS) / 4] as number;
    const ends: boolean[] = [];
    const said: boolean[] = [];
    let [last, lastEpoch] = [0, 0];
    try {
      steps.every(({ actor, epoch, store, pc, kind, bytes, lanes, run }) => {
        // Each wavefront has a shadow of its own.
        if (words()[(at + SHADOW_ACTOR) / 4] !== actor) words()[(at + SHADOW_READER) / 4] = 0;
        words().set([actor, epoch], (at + SHADOW_ACTOR) / 4);
        if (epoch !== lastEpoch) pages.events.passBarrier(groupOf(actor));
        if (actor !== last) pages.events.run(actor);
        [last, lastEpoch] = [actor, epoch];
        expect(SHADOW_EPOCH).toBe(SHADOW_ACTOR + 4);
        words()[(at + SHADOW_STORES) / 4] = store;
        const places = lanes.map((lane) => first + lane);
        const isLogged = details(Math.floor((lanes[0] as number) / PAGE_BYTES)) === LOGGED;
        const call = (name: string, ...parameters: number[]): boolean =>
          (exports[name] as (...all: number[]) => number)(at, ...parameters, pc) === 1;
        // A store of which part is noted already when TypeScript is asked is TypeScript's alone.
        const pageEnd = (Math.floor((lanes[0] as number) / PAGE_BYTES) + 1) * PAGE_BYTES;
        const end = Math.min((lanes[0] as number) + run, kind === 'store' ? pageEnd : PAGE_COUNT * PAGE_BYTES);
        const note = (): boolean => {
          if (bytes === 0) return call(kind, places[0] as number, end - (lanes[0] as number));
          if (kind === 'load' && call(`quad${bytes}`, ...places)) {
            quads.add(bytes);
            return true;
          }
          return call(`${kind}${bytes}`, ...places);
        };
        let answer = note();
        if (!answer) {
          const last = bytes === 0 ? [end - 1] : lanes.map((lane) => lane + bytes - 1);
          look(new Set([...lanes, ...last].map((byte) => Math.floor(byte / PAGE_BYTES))));
          answer = note();
        }
        said.push(answer);
        if (isLogged && kind === 'store') ends.push(answer);
        return answer;
      });
      return { said, ends };
    } finally {
      pages.release();
    }
  }

  it('says what records by dword say, however long it is', () => {
    const ends: boolean[] = [];
    quads.clear();
    fc.assert(
      fc.property(
        history,
        fc.boolean(),
        fc.constantFrom(2, 9, 1000),
        fc.constantFrom(0, 4096),
        fc.constantFrom(0, 1, 2, 8),
        (steps, stays, room, longLog, mostTaken) => {
          const logged = answers(steps, stays, room, longLog, mostTaken);
          ends.push(...logged.ends);
          expect(logged.said).toEqual(answers(steps, stays, 0).said);
        },
      ),
      { numRuns: 1500, examples: [[FIRST_READ, false, 1000, 0, 0]] },
    );
    for (const answer of [false, true]) expect(ends.filter((end) => end === answer).length).toBeGreaterThan(30);
    expect(quads).toEqual(new Set(SIZES));
  });
});

/** The dword of each lane of a workgroup: which ones depends on all of them. */
interface Lanes {
  readonly factor: number;
  readonly group: number;
  readonly more: number;
}

const lanes = fc.record({
  factor: fc.constantFrom(2, 3, 5, 37, 129),
  group: fc.constantFrom(0, 1, 64, 512),
  more: fc.nat(1023),
});

/** v5: their offsets in so much of a page. */
const offsets = ({ factor, group, more }: Lanes, last: number): string => `v_mul_u32_u24_e32 v5, ${factor}, v0
v_add_u32_e32 v5, ${more}, v5
s_mul_i32 s8, s2, ${group}
v_add_u32_e32 v5, s8, v5
v_and_b32_e32 v5, ${last}, v5
v_lshlrev_b32_e32 v5, 2, v5`;

describe('reads in the log', () => {
  it('race with later stores as on the interpreter', async () => {
    let [races, right] = [0, 0];
    await fc.assert(
      fc.asyncProperty(
        fc.array(lanes, { minLength: 1, maxLength: 5 }),
        lanes,
        fc.constantFrom('apart', 'in place', 'anywhere'),
        fc.boolean(),
        fc.constantFrom(1, 2),
        async (loads, store, where, waits, rounds) => {
          const own = { factor: 2, group: 256, more: 512 };
          const reads = where === 'in place' ? [own, { ...own, more: 513 }] : loads;
          const read = (one: Lanes): string =>
            `${offsets(one, where === 'apart' ? 511 : 1023)}\nglobal_load_dword v6, v5, s[4:5]\ns_waitcnt vmcnt(0)`;
          const last = offsets(where === 'anywhere' ? store : own, 1023);
          const round = [
            ...reads.map(read),
            ...(waits ? ['s_barrier'] : []),
            `${last}\nglobal_store_dword v5, v6, s[4:5]\ns_waitcnt vmcnt(0)`,
            ...(waits ? ['s_barrier'] : []),
          ].join('\n');
          const code = Array.from({ length: rounds }, () => round).join('\n');
          const found = async (engine: 'compiled' | 'interpreter') => {
            const options = { engine, bufferBytes: PAGE_BYTES, grid: [2, 1, 1], block: [128, 1, 1] } as const;
            return (await strictFindings(code, options)).map(({ rule, place }) => [rule, place]);
          };
          const compiledFindings = await found('compiled');
          expect(compiledFindings).toEqual(await found('interpreter'));
          if (compiledFindings.length > 0) races++;
          else right++;
        },
      ),
      { numRuns: 60 },
    );
    expect(races).toBeGreaterThan(5);
    expect(right).toBeGreaterThan(5);
  });

  // All workgroups read dwords of one page again and again; then each stores to some of it.
  const many = (rounds: number): string => `v_mov_b32_e32 v2, v0
s_mov_b32 s9, ${rounds}
.Lloop:
v_mul_u32_u24_e32 v2, 5, v2
v_add_u32_e32 v2, s2, v2
v_and_b32_e32 v3, 0x3ff, v2
v_lshlrev_b32_e32 v3, 2, v3
global_load_dword v4, v3, s[4:5]
s_sub_u32 s9, s9, 1
s_waitcnt vmcnt(0)
s_cmp_lg_u32 s9, 0
s_cbranch_scc1 .Lloop
v_lshlrev_b32_e32 v5, 2, v0
global_store_dword v5, v4, s[4:5]`;
  const rulesOf = async (code: string, bytesBefore = 0): Promise<string[]> => {
    const findings = await strictFindings(code, { bufferBytes: PAGE_BYTES, bytesBefore, grid: [2, 1, 1] });
    return findings.map(({ rule }) => rule);
  };

  it('race with later stores where memory is above 2 GiB', async () => {
    expect(await rulesOf(many(200), 2 ** 31 + 2 ** 28)).toContain('races/global');
  });

  it('race with later stores when there were more instructions than the first table of events has room for', async () => {
    expect(await rulesOf(many(20_000))).toContain('races/global');
  });
});
