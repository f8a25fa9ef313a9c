// The reader of TableGen behind the table of the migraphx dialect, and that the checked-in table is what the lowering knows.
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { MIGRAPHX_OPERATIONS, operationStatus } from '../src/rocmlir/dialect.ts';
import { DEFINED_OPERATIONS } from '../src/rocmlir/generated/migraphx.ts';
import { readOperations } from '../tools/gen-migraphx/tablegen.ts';

const TD = `// class Commented<string a> : X_Op<a>;
#ifndef X
include "mlir/IR/OpBase.td"
class X_Op<string mnemonic, list<Trait> traits = []> : Op<X_Dialect, mnemonic, traits> {
  let description = [{ def X_Not : X_Op<"not">; }];
}
defvar Narrow = [F8E5M2, I8];
class X_Pair<string name, list<Type> types = [F32]> :
    X_Op<name, !listconcat([Pure], [SameShape<["a", "b"]>])>,
    Arguments<(ins ShapedOf<types>:$a,
                   Optional<ShapedOf<Narrow>>:$b)>,
    Results<(outs Any:$out)>;
def X_First : X_Pair<"first">;
def X_Second : X_Pair<"second", [F16, I<4>]> { let summary = "of " # "x;{"; }
class X_ConvBase<string mnemonic, list<Type> in = []> : X_Op<mnemonic> {
  let arguments = (ins ShapedOf<in>:$input, I64ArrayAttr:$padding,
                       OptionalAttr<StrAttr>:$config, DefaultValuedAttr<I64Attr, "1">:$group, Variadic<AnyType>:$rest);
  let results = (outs Any:$out);
}
def X_Conv : X_ConvBase<"conv", Narrow>;
def X_Enum : I64EnumAttr<"mode", "", []>;
#endif
`;

describe('gen-migraphx', () => {
  test('reads mnemonics, operands and attributes through classes, defaults and variables', () => {
    const b = { name: 'b', count: 'optional', type: 'ShapedOf<[F8E5M2, I8]>' };
    expect(readOperations(TD)).toEqual([
      { name: 'first', operands: [{ name: 'a', count: 'one', type: 'ShapedOf<[F32]>' }, b], attributes: [] },
      { name: 'second', operands: [{ name: 'a', count: 'one', type: 'ShapedOf<[F16, I<4>]>' }, b], attributes: [] },
      {
        name: 'conv',
        operands: [
          { name: 'input', count: 'one', type: 'ShapedOf<[F8E5M2, I8]>' },
          { name: 'rest', count: 'variadic', type: 'AnyType' },
        ],
        attributes: [
          { name: 'padding', type: 'I64ArrayAttr', optional: false },
          { name: 'config', type: 'StrAttr', optional: true },
          { name: 'group', type: 'I64Attr', optional: true },
        ],
      },
    ]);
    expect(() => readOperations('def A : X_Op<"a", [b>;')).toThrow('is never closed');
  });

  test('every defined operation and attribute is in the table, and none without a decision', () => {
    for (const { name, attributes } of DEFINED_OPERATIONS) {
      const row = MIGRAPHX_OPERATIONS.find((operation) => operation.name === name);
      expect([name, row?.from, operationStatus(name) !== undefined]).toEqual([name, 'definition', true]);
      for (const attribute of attributes) expect(row?.attributes.map((a) => a.name)).toContain(attribute.name);
    }
  });

  /** The files of the generator's last run, when someone has them beside the checkout. */
  const file = process.env.WAVESMITH_MIGRAPHX_TD;
  test.skipIf(file === undefined || !existsSync(file))(
    'a given MIGraphX.td has no operation that the table lacks',
    () => {
      const names = readOperations(readFileSync(file ?? '', 'utf8')).map(({ name }) => name);
      expect(names.filter((name) => operationStatus(name) === undefined)).toEqual([]);
    },
  );
});
