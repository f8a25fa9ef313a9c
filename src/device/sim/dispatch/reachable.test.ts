// What a kernel reaches through calls, long jumps and jumps that only registers know.
import { expect, it } from 'vitest';
import { kernelObject } from '../../../../tests/support/kernel-source.ts';
import { createDevice } from '../../../device/index.ts';
import { reachable } from './reachable.ts';

const CALL = (pair: string, low: string, high: string, name: string): string => `s_getpc_b64 ${pair}
s_add_u32 ${low}, ${low}, ${name}-.
s_addc_u32 ${high}, ${high}, 0`;
/** A kernel, a function that it may call, and one that nobody calls. */
const code = (body: string): string => `${body}
s_endpgm
.Lcalled:
v_mov_b32_e32 v2, 1
s_setpc_b64 s[30:31]
.Lother:
v_mov_b32_e32 v3, 1
s_setpc_b64 s[30:31]`;

it.each([
  ['a call', `${CALL('s[4:5]', 's4', 's5', '.Lcalled')}\ns_swappc_b64 s[30:31], s[4:5]`, true, false],
  ['a long jump', `${CALL('s[4:5]', 's4', 's5', '.Lother')}\ns_setpc_b64 s[4:5]`, true, true],
  [
    'an address that has changed',
    `${CALL('s[4:5]', 's4', 's5', '.Lcalled')}\ns_add_u32 s4, s4, s6\ns_swappc_b64 s[30:31], s[4:5]`,
    true,
    true,
  ],
  [
    'an address that is half made',
    `s_getpc_b64 s[4:5]\ns_add_u32 s4, s4, .Lcalled-.\ns_swappc_b64 s[30:31], s[4:5]`,
    true,
    true,
  ],
  [
    'an address that lanes of a vector register keep',
    `${CALL('s[4:5]', 's4', 's5', '.Lcalled')}
v_writelane_b32 v4, s4, 7
v_writelane_b32 v4, s5, 8
s_swappc_b64 s[30:31], s[4:5]
v_readlane_b32 s6, v4, 7
v_readlane_b32 s7, v4, 8
s_swappc_b64 s[30:31], s[6:7]`,
    true,
    false,
  ],
  [
    'an address from a lane that has changed',
    `${CALL('s[4:5]', 's4', 's5', '.Lcalled')}
v_writelane_b32 v4, s4, 7
v_writelane_b32 v4, s5, 8
v_writelane_b32 v4, s8, 8
v_readlane_b32 s6, v4, 7
v_readlane_b32 s7, v4, 8
s_swappc_b64 s[30:31], s[6:7]`,
    true,
    true,
  ],
  [
    'an address that a function leaves as it is',
    `${CALL('s[4:5]', 's4', 's5', '.Lcalled')}\ns_swappc_b64 s[30:31], s[4:5]\ns_swappc_b64 s[30:31], s[4:5]`,
    true,
    false,
  ],
  [
    'an address that a function changes',
    `${CALL('s[4:5]', 's4', 's5', '.Lchanges')}\ns_swappc_b64 s[30:31], s[4:5]\ns_swappc_b64 s[30:31], s[4:5]
s_endpgm
.Lchanges:
s_mov_b64 s[4:5], s[8:9]
s_setpc_b64 s[30:31]`,
    true,
    true,
  ],
  [
    'an address that a function may change in code behind its first return',
    `${CALL('s[4:5]', 's4', 's5', '.Lchanges')}\ns_swappc_b64 s[30:31], s[4:5]\ns_swappc_b64 s[30:31], s[4:5]
s_endpgm
.Lchanges:
s_cbranch_scc1 .Lfar
s_setpc_b64 s[30:31]
.Lfar:
s_mov_b64 s[4:5], s[8:9]
s_setpc_b64 s[30:31]`,
    true,
    true,
  ],
  [
    'a call to which one comes with several addresses',
    `s_cbranch_scc1 .Lelse
${CALL('s[4:5]', 's4', 's5', '.Lcalled')}
.Ljoin:
s_swappc_b64 s[30:31], s[4:5]
s_endpgm
.Lelse:
${CALL('s[4:5]', 's4', 's5', '.Lother')}
s_branch .Ljoin`,
    true,
    true,
  ],
  [
    'lanes to which one comes with several addresses',
    `s_cbranch_scc1 .Lelse
${CALL('s[4:5]', 's4', 's5', '.Lcalled')}
v_writelane_b32 v4, s4, 7
v_writelane_b32 v4, s5, 8
.Ljoin:
v_readlane_b32 s6, v4, 7
v_readlane_b32 s7, v4, 8
s_swappc_b64 s[30:31], s[6:7]
s_endpgm
.Lelse:
${CALL('s[4:5]', 's4', 's5', '.Lother')}
v_writelane_b32 v4, s4, 7
v_writelane_b32 v4, s5, 8
s_branch .Ljoin`,
    true,
    true,
  ],
  ['a call that comes from elsewhere', 's_swappc_b64 s[30:31], s[4:5]', true, true],
  ['nothing', 's_nop 0', false, false],
] as const)('%s', async (_name, body, called, other) => {
  const device = await createDevice('sim', { target: 'gfx942' });
  try {
    const { bytes } = kernelObject({
      target: 'gfx942',
      code: code(body),
      descriptor: { next_free_vgpr: 8, accum_offset: 8, next_free_sgpr: 40 },
    });
    const module = device.load(bytes);
    const { entry } = module.kernel('k');
    const { loaded } = module as unknown as { readonly loaded: Parameters<typeof reachable>[0] };
    const texts = [...reachable(loaded, entry)].map(({ at }) => loaded.textAt(at));
    expect([texts.includes('v_mov_b32_e32 v2, 1'), texts.includes('v_mov_b32_e32 v3, 1')]).toEqual([called, other]);
  } finally {
    device.close();
  }
});
