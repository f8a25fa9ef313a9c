// A slice of `npm run models`: two models through the whole hijack loop.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findIreeTool } from '../src/iree/tools.ts';
import { root, temporaryFolder } from './hijack-support.ts';
import { MODELS } from './models/models.ts';
import { tableOf } from './models/table.ts';
import { STEPS, spoilStores, tryModel } from './models/try-model.ts';
import { hasNativeBuild } from './support/native.ts';

const hasIree = findIreeTool('iree-compile') !== undefined;
const hasOnnx = existsSync(join(root, '.wavesmith', 'venv', 'bin', 'iree-import-onnx'));
if (!hasIree || !hasOnnx) console.warn("skipped: IREE is not installed ('npm run setup' installs it)");

test.skipIf(!hasIree || !hasOnnx || !hasNativeBuild()).each([
  ['matmul-bf16-dynamic', 'gfx950', 0],
  ['parameters-outside', 'gfx942', 2],
])('%s on %s goes through every step', async (name, target, compilerTexts) => {
  const model = MODELS.find((m) => m.name === name);
  if (model === undefined) throw new Error(`there is no model ${name}`);
  const row = await tryModel(model, target, temporaryFolder());
  expect(row).toMatchObject({ failure: null, held: STEPS, compilerTexts });
  const table = tableOf([row]);
  expect(table).toContain(`| ${name} | ${target} |`);
  expect(tableOf([{ ...row, seconds: 1.25 }], table).match(/ \d+\.\d s \|$/gm)).toHaveLength(1);
});

test('a spoiled text stores other bits', () => {
  expect(spoilStores('\tglobal_store_dwordx2 v4, v[2:3], s[0:1]\n')).toContain(
    '\tv_add_u32_e32 v2, 0x3c7f1b55, v2\n\ts_nop 4\n\tglobal_store',
  );
  expect(spoilStores('\tbuffer_store_dword v7, v1, s[0:3], 0 offen\n')).toContain(
    '\tv_add_u32_e32 v7, 0x3c7f1b55, v7\n',
  );
  expect(spoilStores('\tglobal_store_dword v4, a2, s[0:1]\n')).toBe(
    '\ts_endpgm\n\tglobal_store_dword v4, a2, s[0:1]\n',
  );
});
