// Compiled code notes accesses of global memory in the records of dwords (race-details.ts), where those of lines do not say enough: several
// wavefronts use one line, or parts of dwords are used. It does as RaceDetails does, with the bytes of a dword that are used.
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code } from '../../wasm/memory/code.ts';
import { BYTES, HOLDS_READS, HOLDS_STORES } from '../races/race-details.ts';
import { PAGE_WRITTEN } from '../races/race-page.ts';
import { type CellLocals, CellWriter } from './cell-writer.ts';
import { eventFunction } from './events.ts';
import { knownQuadsFunction } from './known-before.ts';
import { type GlobalAccess, pushCell } from './records.ts';

const DWORD = 4;
const QUAD = 16;
/**
 * (shadow, offset in wasm memory, bytes, place in the image, the page's record) → 1 when all is right and noted, 0 when TypeScript has to look:
 * nothing wrong has been noted then. The bytes are of one page, which has records by dword.
 */
export function detailFunction(module: WasmModule, kind: GlobalAccess): WasmFunction {
  const name = `strict.details.${kind}`;
  const parameters = Array.from({ length: 5 }, () => 'i32' as const);
  return module.helper(name, parameters, ['i32'], (fn) => {
    const code = new Code(fn);
    const [shadow, at, bytes, pc, page] = [0, 1, 2, 3, 4] as const;
    const local = (): number => fn.local('i32');
    const [actor, epoch, events, frozen, known, mine] = [local(), local(), local(), local(), local(), local()] as const;
    const [cell, mask, written, size] = [local(), local(), local(), local()] as const;
    const knownReads = local();
    const locals = { shadow, at, pc, actor, epoch, events, frozen, knownReads, known, mine, page, cell, mask, written };
    const leave = (): WasmFunction => fn.if().i32(0).return().end();
    const one = new CellWriter(code, module, locals, leave, 1);
    const four = new CellWriter(code, module, locals, leave, 4);
    one.begin(kind === 'store', eventFunction(module));
    fn.get(page)
      .memory('i32.load', 4 * PAGE_WRITTEN)
      .set(written);
    const quads = kind === 'scalar' ? undefined : knownQuadsFunction(module, kind);
    code.loop((again) => {
      if (quads !== undefined) {
        const done = fn.local('i32');
        pushIsQuad(fn, { at, bytes, written });
        code.if(() => {
          fn.get(shadow);
          pushCell(fn, page, at).get(bytes).i32(4).op('i32.shr_u').get(mine);
          one.pushBitsPlace().i32(0).get(written).select();
          fn.call(quads).tee(done);
          code.if(() => {
            one.hold(kind === 'store' ? HOLDS_STORES : HOLDS_READS);
            fn.get(done).i32(4).op('i32.shl').tee(done).get(at).op('i32.add').set(at);
            fn.get(bytes).get(done).op('i32.sub').tee(bytes).op('i32.eqz').if().i32(1).return().end();
          });
        });
        fn.release('i32', done);
      }
      const part = (): void => {
        fn.i32(DWORD)
          .get(at)
          .i32(DWORD - 1)
          .op('i32.and')
          .op('i32.sub')
          .tee(size);
        fn.get(bytes).get(size).get(bytes).op('i32.lt_u').select().set(size);
        fn.i32(1).get(size).op('i32.shl').i32(1).op('i32.sub');
        fn.get(at)
          .i32(DWORD - 1)
          .op('i32.and')
          .op('i32.shl')
          .set(mask);
      };
      const mixed = kind === 'scalar' ? undefined : (): void => four.noteMixed(module, kind);
      noteNext(code, { ...locals, bytes, size }, [one, four], (writer) => writer.note(kind), { part, mixed });
      code.brIf(again);
    });
    fn.i32(1);
  });
}

/**
 * (shadow, place in the image, the page's record, where the record of a dword is, bytes of it) → 1 when a store of these bytes is noted, of which no other lane has one;
 * 0 when TypeScript has to look: nothing has been noted then. That they are written is not.
 */
export function cellStoreFunction(module: WasmModule): WasmFunction {
  const event = eventFunction(module);
  return module.helper('strict.cell.store', ['i32', 'i32', 'i32', 'i32', 'i32'], ['i32'], (fn) => {
    const [shadow, pc, page, cell, mask] = [0, 1, 2, 3, 4] as const;
    const local = (): number => fn.local('i32');
    const [actor, epoch, events, frozen, known, mine] = [local(), local(), local(), local(), local(), local()] as const;
    // No bits are to be set: `written` stays 0, and nothing asks for `at`.
    const [at, written, knownReads] = [local(), local(), local()];
    const locals = { shadow, at, pc, actor, epoch, events, frozen, knownReads, known, mine, page, cell, mask, written };
    const writer = new CellWriter(new Code(fn), module, locals, () => fn.if().i32(0).return().end(), 1);
    writer.begin(true, event);
    writer.noteWrite(false);
    fn.i32(1);
  });
}

/**
 * Notes the dword at `at`, or four from there on that have the same words, by `note`, and goes on behind them: leaves the bytes that are left. `part`
 * sets `size` and `mask` to what is used of a dword, where that is not all of it; `mixed` leaves 1 when it has noted four that have different words.
 */
export function noteNext(
  code: Code,
  { at, bytes, page, cell, mask, written, size }: CellLocals & { readonly bytes: number; readonly size: number },
  [one, four]: readonly [CellWriter, CellWriter],
  note: (writer: CellWriter) => void,
  { part, mixed }: { readonly part?: () => void; readonly mixed?: (() => void) | undefined } = {},
): void {
  const { fn } = code;
  const isFour = fn.local('i32');
  pushCell(fn, page, at).set(cell);
  pushIsQuad(fn, { at, bytes, written }).set(isFour);
  fn.i32(BYTES).set(mask);
  code.block((noted) => {
    fn.get(isFour);
    code.if(() => {
      fn.i32(QUAD).set(size);
      four.pushIsUniform();
      code.if(() => {
        note(four);
        code.br(noted);
      });
      if (mixed === undefined) return;
      mixed();
      code.brIf(noted);
    });
    fn.i32(DWORD).set(size);
    part?.();
    note(one);
  });
  fn.release('i32', isFour);
  fn.get(at).get(size).op('i32.add').set(at);
  fn.get(bytes).get(size).op('i32.sub').tee(bytes);
}

/** Leaves 1 where four whole dwords begin at `at` the bits of whose written bytes lie in bytes of their own. */
function pushIsQuad(
  fn: WasmFunction,
  { at, bytes, written }: Pick<CellLocals, 'at' | 'written'> & { readonly bytes: number },
): WasmFunction {
  fn.i32(QUAD - 1)
    .i32(DWORD - 1)
    .get(written)
    .select()
    .get(at)
    .op('i32.and')
    .op('i32.eqz');
  return fn.get(bytes).i32(QUAD).op('i32.ge_u').op('i32.and');
}
