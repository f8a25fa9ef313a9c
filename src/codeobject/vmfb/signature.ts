// What the functions of an IREE module take and give: from the declaration that the compiler keeps, and from the checks of the
// host program itself (`hal.buffer_view.assert` on arguments, `hal.buffer_view.create` of results), which torch and ONNX modules have too.
import { WavesmithError } from '../../base/index.ts';
import { listRegister } from './bytecode.ts';
import { type ViewSize, type ViewType, viewType, visitHostProgram } from './propagate.ts';
import type { Vmfb, VmfbFunction } from './vmfb.ts';

/** A type of an argument or a result. */
export interface VmfbType {
  /** As MLIR writes it (`tensor<4x?xf16>`, `i32`); undefined when the module does not tell. */
  readonly text: string | undefined;
  /** MLIR element type of a tensor or the type of a scalar; undefined when not known. */
  readonly elementType: string | undefined;
  /** Sizes of a tensor, undefined for a scalar or when the rank is not known. */
  readonly shape: readonly ViewSize[] | undefined;
}

/** A function that callers may call. */
export interface VmfbSignature {
  readonly name: string;
  readonly inputs: readonly VmfbType[];
  readonly outputs: readonly VmfbType[];
}

const DECLARATION = /^\s*(?:sync |async )?func @.*?\((.*)\) -> \((.*)\)\s*$/;

/**
 * The functions of a module in its order. An asynchronous function (`main$async`, with fences) that has a synchronous entry of the
 * same name is one function.
 */
export function readSignatures(vmfb: Vmfb): VmfbSignature[] {
  const all = vmfb.exportedFunctions.filter((f) => !f.name.startsWith('__'));
  const names = new Set(all.map((f) => f.name));
  const views = viewsOf(vmfb, all);
  const signatures: VmfbSignature[] = [];
  for (const one of all) {
    const base = one.name.replace(/\$async$/, '');
    if (base !== one.name && names.has(base)) continue;
    const body = all.find((f) => f.name === `${one.name}$async`) ?? one;
    const declared = DECLARATION.exec(
      one.attributes['iree.abi.declaration'] ?? body.attributes['iree.abi.declaration'] ?? '',
    );
    const [inputTypes, outputTypes] = conventionOf(one);
    const checked = views.get(body);
    const merge = (
      count: string,
      texts: string[] | undefined,
      seen: ReadonlyMap<number, ViewType> | undefined,
    ): VmfbType[] => [...count].map((code, i) => typeOf(code, texts?.[i], seen?.get(i)));
    const isCounted = declared !== null;
    signatures.push({
      name: one.name,
      inputs: merge(inputTypes, isCounted ? listTypes(declared[1]) : undefined, checked?.inputs),
      outputs: merge(outputTypes, isCounted ? listTypes(declared[2]) : undefined, checked?.outputs),
    });
  }
  return signatures;
}

const listTypes = (list: string): string[] =>
  [...list.matchAll(/%\w+: ([^\s,<>]+(?:<(?:[^<>]|<[^<>]*>)*>)?)/g)].map((m) => m[1]);

/** Argument and result codes of a function; the two fences of an asynchronous one that has no other entry are not its caller's. */
function conventionOf({ callingConvention, name, attributes }: VmfbFunction): [string, string] {
  const match = /^0([a-zA-Z]*)_([a-zA-Z]*)$/.exec(callingConvention ?? '');
  const clean = (codes: string | undefined): string => (codes ?? '').replace(/v/g, '');
  const isAsync = name.endsWith('$async') || attributes['iree.abi.model'] === 'coarse-fences';
  const inputs = clean(match?.[1]);
  return [isAsync ? inputs.replace(/rr$/, '') : inputs, clean(match?.[2])];
}

const SCALARS: Readonly<Record<string, string>> = { i: 'i32', I: 'i64', f: 'f32', F: 'f64' };

function typeOf(code: string, declared: string | undefined, view: ViewType | undefined): VmfbType {
  if (code !== 'r') {
    const text = declared ?? SCALARS[code];
    return { text, elementType: text, shape: undefined };
  }
  const tensor = declared === undefined ? undefined : parseTensorType(declared);
  if (tensor !== undefined) {
    const shape = tensor.shape.map((size, k): ViewSize => size ?? (view?.shape[k] as ViewSize | undefined) ?? null);
    return { text: declared, elementType: tensor.elementType, shape };
  }
  const elementType = view?.elementType == null ? undefined : elementTypeName(view.elementType);
  if (view === undefined || elementType === undefined) return { text: declared, elementType, shape: view?.shape };
  const sizes = view.shape.map((size) => (typeof size === 'number' ? `${size}x` : '?x')).join('');
  return { text: `tensor<${sizes}${elementType}>`, elementType, shape: view.shape };
}

/** `tensor<4x?xf16>` as shape and element type. */
export function parseTensorType(
  text: string,
): { readonly shape: readonly (number | null)[]; readonly elementType: string } | undefined {
  const match = /^tensor<((?:(?:\d+|\?)x)*)([a-zA-Z](?:[^<>]|<[^<>]*>)*?)(?:,.*)?>$/.exec(text);
  if (match === null) return undefined;
  const shape = match[1].split('x').filter(Boolean);
  return { shape: shape.map((n) => (n === '?' ? null : Number(n))), elementType: match[2] };
}

const FLOATS: Readonly<Record<number, string>> = {
  36: 'f8E5M2',
  37: 'f8E4M3FN',
  38: 'f8E5M2FNUZ',
  39: 'f8E4M3FNUZ',
  40: 'f8E8M0FNU',
};

/** MLIR's name of an IREE element type code (runtime/src/iree/hal/buffer_view.h: numerical type in the top byte, bits below). */
export function elementTypeName(code: number): string | undefined {
  const bits = code & 0xff;
  switch (code >>> 24) {
    case 0x10:
      return `i${bits}`;
    case 0x11:
      return `si${bits}`;
    case 0x12:
      return `ui${bits}`;
    case 0x13:
      return 'i1';
    case 0x21:
      return `f${bits}`;
    case 0x22:
      return `bf${bits}`;
    case 0x23:
      return `complex<f${bits / 2}>`;
    default:
      return FLOATS[code >>> 24];
  }
}

interface CheckedViews {
  readonly inputs: Map<number, ViewType>;
  readonly outputs: Map<number, ViewType>;
}

/** What the host program checks of its arguments and says of its results; nothing for bytecode that is not known. */
function viewsOf(vmfb: Vmfb, functions: readonly VmfbFunction[]): Map<VmfbFunction, CheckedViews> {
  const found = new Map<VmfbFunction, CheckedViews>();
  try {
    visitHostProgram(vmfb, {}, (ordinal) => {
      const one = functions.find((f) => f.ordinal === ordinal);
      if (one === undefined) return undefined;
      const views: CheckedViews = { inputs: new Map(), outputs: new Map() };
      found.set(one, views);
      return (i, state, program) => {
        if (i.mnemonic === 'return') {
          i.lists[0].forEach((raw, k) => {
            const value = state.get(listRegister(raw));
            if (value?.kind === 'view') views.outputs.set(k, value.type);
          });
        }
        if (!i.mnemonic.startsWith('call') || program.importName(i) !== 'hal.buffer_view.assert') return;
        const [view, , elementType, , ...sizes] = program.operands(i, state) ?? [];
        if (view?.kind === 'argument') views.inputs.set(view.index, viewType(elementType, sizes));
      };
    });
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    return new Map();
  }
  return found;
}
