import { compileExample } from './tests/support/build.ts';
import { createDevice } from './src/device/index.ts';
import { reachable } from './src/device/sim/dispatch/reachable.ts';
import { polls } from './src/device/sim/strict/races/polls.ts';
import { shortLoop } from './src/device/sim/dispatch/spin.ts';
import { semanticsOf } from './src/isa/semantics/index.ts';
const [file, kernel] = process.argv.slice(2);
const device: any = await createDevice('sim', { target: 'gfx942' });
const object = compileExample(file, 'gfx942', 0);
const k: any = device.load(object).kernel(kernel);
const loaded = k.loaded ?? k.module?.loaded ?? k.code;
const entry = k.entry ?? k.entryAddress;
console.log(Object.keys(k), !!loaded, entry);
for (const { at, instruction } of reachable(loaded, entry)) {
  const op: any = semanticsOf(instruction.row.operation);
  if ((op?.kind === 'load' || op?.kind === 'atomic') && (op.space === 'flat' || op.space === 'lds') && polls(loaded, at)) {
    const loop = shortLoop(loaded, at);
    console.log('poll', (at - loaded.region.base).toString(16), instruction.row.operation, loop?.map(({ at: a, instruction: i }) => `${(a - loaded.region.base).toString(16)} ${i.row.operation} ${i.operands.map((o: any) => o.text ?? o.value ?? '').join(',')}`).join('\n   '));
  }
}
import { handsOver, learns } from './src/device/sim/strict/races/polls.ts';
console.log('handsOver', handsOver(loaded, { entry, wavesPerGroup: 4, target: 'gfx942' } as any), 'learns', learns(loaded, { entry, wavesPerGroup: 4, target: 'gfx942' } as any));
let n = 0;
for (const { at, instruction } of reachable(loaded, entry)) { n++; const op: any = semanticsOf(instruction.row.operation); if (op?.kind === 'atomic') console.log('atomic', (at - loaded.region.base).toString(16), instruction.row.operation); }
console.log(n, 'reached');
