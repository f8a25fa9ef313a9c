// Compiled code has TypeScript make the records of pages, and goes on: no access is looked at there, and what is found is as on the interpreter.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { strictFindings } from '../../../../../tests/support/strict.ts';
import { AccessChecks } from '../access-checks.ts';
import { PAGE } from '../races/race-details.ts';

const PAGES = 70;
const DWORDS = PAGE * PAGES;

/** Each lane of 4 workgroups changes an element in place: an `own` one, or that of the same lane of the other workgroups. */
const inPlace = (bytes: 1 | 4, own: boolean): string => `v_mov_b32_e32 v3, v0
${own ? 's_lshl_b32 s8, s2, 8\nv_add_u32_e32 v3, s8, v3' : 's_nop 0'}
v_mul_u32_u24_e32 v4, 67, v3
v_lshlrev_b32_e32 v5, 2, v4
global_load_${bytes === 4 ? 'dword' : 'ubyte'} v6, v5, s[4:5]
s_waitcnt vmcnt(0)
v_add_u32_e32 v6, 1, v6
global_store_${bytes === 4 ? 'dword' : 'byte'} v5, v6, s[4:5]`;

describe.each([1, 4] as const)('elements of %s bytes that are changed in place', (bytes) => {
  afterEach(() => vi.restoreAllMocks());
  const run = (own: boolean, engine: 'compiled' | 'interpreter') =>
    strictFindings(inPlace(bytes, own), { engine, grid: [4, 1, 1], block: [256, 1, 1], bufferBytes: 4 * DWORDS });

  it('are looked at by compiled code alone, from the first one on', async () => {
    const check = vi.spyOn(AccessChecks.prototype, 'check');
    const [open, unlog] = [vi.spyOn(AccessChecks.prototype, 'openPage'), vi.spyOn(AccessChecks.prototype, 'unlogPage')];
    expect(await run(true, 'compiled')).toEqual([]);
    const asked = check.mock.calls.map(([, , , plan]) => plan.instruction.row.operation);
    expect(asked.filter((operation) => operation.startsWith('global'))).toEqual([]);
    expect(open.mock.results.filter(({ value }) => value !== 0).length).toBeGreaterThan(1);
    expect(unlog.mock.results.filter(({ value }) => value === true).length).toBeGreaterThan(1);
    expect(await run(true, 'interpreter')).toEqual([]);
  });

  it('race as on the interpreter', async () => {
    const found = async (engine: 'compiled' | 'interpreter') =>
      (await run(false, engine)).map(({ rule, place }) => [rule, place.instruction]);
    const compiled = await found('compiled');
    expect(compiled.length).toBeGreaterThan(0);
    expect(compiled).toEqual(await found('interpreter'));
  });
});
