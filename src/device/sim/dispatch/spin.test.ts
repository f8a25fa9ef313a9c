// Which loops wait for others: those that change no memory, also not where their bodies lie elsewhere.
import { expect, it } from 'vitest';
import { kernelObject } from '../../../../tests/support/kernel-source.ts';
import { createDevice } from '../../../device/index.ts';
import { LoadedCode } from '../interpreter/loaded-code.ts';
import { isPolledLoop, isSpinLoop, mayWait, takeOverWaitFacts, waitFacts } from './spin.ts';

const LOOP = (exit: string): string => `.Lloop:
global_load_dword v2, v1, s[4:5] sc1
s_waitcnt vmcnt(0)
v_cmp_eq_u32_e32 vcc, 0, v2
${exit}
.Lback:
s_cbranch_vccnz .Lloop
s_endpgm`;

/** A loop that is entered at its load, 16 bytes behind the entry of the kernel, or before that; it is within another one that stores. */
const ENTERED = (jump: string, around = 's_nop 0'): string => `.Louter:
${jump}
.Lback:
s_cbranch_vccz .Lout
${around}
.Lentry:
s_nop 0
.Lload:
global_load_dword v2, v1, s[4:5] sc1
s_waitcnt vmcnt(0)
v_cmp_eq_u32_e32 vcc, 0, v2
s_branch .Lback
.Lout:
global_store_dword v1, v2, s[4:5]
s_branch .Louter`;

it.each([
  ['a loop that reads past the caches', LOOP('s_nop 0'), true],
  ['one that stores', LOOP('global_store_dword v1, v2, s[4:5]'), false],
  [
    'one that stores in a body behind it',
    `${LOOP('s_cbranch_vccnz .Lbody')}\n.Lbody:\nglobal_store_dword v1, v2, s[4:5]\ns_branch .Lback`,
    false,
  ],
  [
    'one with a body behind it that stores nothing',
    `${LOOP('s_cbranch_vccnz .Lbody')}\n.Lbody:\ns_branch .Lback`,
    true,
  ],
  [
    'one within another that stores',
    `.Louter:\n${LOOP('s_cbranch_vccnz .Lbody')}\n.Lbody:\nglobal_store_dword v1, v2, s[4:5]\ns_branch .Louter`,
    true,
  ],
  [
    'one behind whose end there is another',
    `${LOOP('s_nop 0')}\nglobal_store_dword v1, v2, s[4:5]\ns_branch .Lback`,
    true,
  ],
  ['one that is entered behind its first instruction', ENTERED('s_branch .Lentry'), true, 16],
  ['one that is entered so, or begins with the first one', ENTERED('s_cbranch_scc1 .Lentry'), false, 16],
  [
    'one that does not come back to where it is entered',
    ENTERED('s_branch .Lentry', 's_cbranch_scc1 .Lload'),
    false,
    16,
  ],
] as const)('%s', async (_name, code, waits, offset: number = 0) => {
  const device = await createDevice('sim', { target: 'gfx942' });
  try {
    const { bytes } = kernelObject({
      target: 'gfx942',
      code,
      descriptor: { next_free_vgpr: 8, accum_offset: 8, next_free_sgpr: 40 },
    });
    const module = device.load(bytes);
    const { loaded } = module as unknown as { readonly loaded: LoadedCode };
    const { entry } = module.kernel('k');
    const at = entry + offset;
    expect(isSpinLoop(loaded, at)).toBe(waits);
    const answers = (one: LoadedCode) => [isSpinLoop(one, at), isPolledLoop(one, entry, at), mayWait(one, entry)];
    const found = answers(loaded);
    // As another thread has the code: it can answer without looking, for there is nothing to look at.
    const elsewhere = new LoadedCode('gfx942', { ...loaded.region, bytes: new Uint8Array(0), size: 0 } as never);
    takeOverWaitFacts(elsewhere, structuredClone(waitFacts(loaded)));
    expect(answers(elsewhere)).toEqual(found);
    expect(found).toEqual([waits, true, true]);
  } finally {
    device.close();
  }
});
