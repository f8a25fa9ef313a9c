// Room `codeobject/kernel`: what a code object says about a kernel: the metadata note, the 64-byte descriptor, and the occupancy that
// follows from both.
// Begin with this file (arguments and resources), then descriptor.ts.
//
// The code object metadata (NT_AMDGPU_METADATA): a typed view over the MessagePack document, which stays intact.
// Source: LLVM's AMDGPUUsage, "Code Object V3/V4/V5 Metadata".
import { WavesmithError } from '../../base/index.ts';
import { decodeMsgPack, encodeMsgPack, type MsgPackMap, type MsgPackValue } from './msgpack.ts';

export interface KernelArgument {
  readonly name: string | undefined;
  readonly typeName: string | undefined;
  readonly offset: number;
  readonly size: number;
  /** `global_buffer`, `by_value`, `hidden_block_count_x`, … */
  readonly valueKind: string;
  readonly addressSpace: string | undefined;
  readonly access: string | undefined;
  readonly actualAccess: string | undefined;
  readonly pointeeAlign: number | undefined;
  readonly isConst: boolean;
  readonly isRestrict: boolean;
  readonly isVolatile: boolean;
  readonly raw: MsgPackMap;
}

export interface KernelMetadata {
  readonly name: string;
  /** The descriptor's symbol: `k.kd`. */
  readonly symbol: string;
  readonly args: readonly KernelArgument[];
  readonly kernargSegmentSize: number;
  readonly kernargSegmentAlign: number;
  readonly groupSegmentFixedSize: number;
  readonly privateSegmentFixedSize: number;
  readonly wavefrontSize: number;
  readonly sgprCount: number;
  /** VGPRs and AGPRs together on a target with a unified file. */
  readonly vgprCount: number;
  readonly agprCount: number | undefined;
  readonly sgprSpillCount: number | undefined;
  readonly vgprSpillCount: number | undefined;
  readonly maxFlatWorkgroupSize: number;
  readonly reqdWorkgroupSize: readonly [number, number, number] | undefined;
  readonly workgroupSizeHint: readonly [number, number, number] | undefined;
  readonly usesDynamicStack: boolean | undefined;
  readonly uniformWorkGroupSize: number | undefined;
  readonly language: string | undefined;
  readonly languageVersion: readonly number[] | undefined;
  readonly raw: MsgPackMap;
}

export interface CodeObjectMetadata {
  /** `[1, 2]` for code object v5. */
  readonly version: readonly number[];
  /** `amdhsa.target`, e.g. `amdgcn-amd-amdhsa--gfx942`; absent in v3. */
  readonly target: string | undefined;
  readonly kernels: readonly KernelMetadata[];
  readonly printf: readonly string[];
  /** The whole document, unknown keys included: what `encodeMetadata` writes. */
  readonly raw: MsgPackValue;
}

/** Decodes a metadata note's description. */
export function readMetadata(description: Uint8Array, baseOffset = 0): CodeObjectMetadata {
  return metadataFromDocument(decodeMsgPack(description, baseOffset));
}

/** The note description of a metadata document, byte for byte as LLVM writes it. */
export function encodeMetadata(metadata: CodeObjectMetadata | MsgPackValue): Uint8Array {
  const isModel = metadata !== null && typeof metadata === 'object' && 'raw' in metadata;
  return encodeMsgPack(isModel ? metadata.raw : metadata);
}

/** The typed view of a metadata document. */
export function metadataFromDocument(document: MsgPackValue): CodeObjectMetadata {
  if (!(document instanceof Map)) throw bad('the metadata', 'a map');
  const root = new Fields(document, 'the metadata');
  const kernels = root.list('amdhsa.kernels') ?? [];
  return {
    version: root.numbers('amdhsa.version') ?? [],
    target: root.text('amdhsa.target'),
    kernels: kernels.map((kernel, i) => readKernel(kernel, i)),
    printf: (root.list('amdhsa.printf') ?? []).map((entry) => {
      if (typeof entry !== 'string') throw bad('amdhsa.printf', 'a list of strings');
      return entry;
    }),
    raw: document,
  };
}

function bad(what: string, expected: string): WavesmithError {
  return new WavesmithError('metadata/bad-field', `In the AMDGPU metadata, ${what} is not ${expected}.`, {
    hint: 'The metadata note is damaged or for another format.',
  });
}

/** Typed access to one map of the document. */
class Fields {
  readonly map: MsgPackMap;
  readonly where: string;

  constructor(map: MsgPackMap, where: string) {
    this.map = map;
    this.where = where;
  }

  text(key: string): string | undefined {
    const value = this.map.get(key);
    if (value === undefined || typeof value === 'string') return value;
    throw bad(`${key} of ${this.where}`, 'a string');
  }
  number(key: string): number | undefined {
    const value = this.map.get(key);
    if (value === undefined) return undefined;
    if (typeof value === 'bigint' && value >= 0n && value <= 0xffffffffn) return Number(value);
    throw bad(`${key} of ${this.where}`, 'a 32-bit unsigned integer');
  }
  flag(key: string): boolean | undefined {
    const value = this.map.get(key);
    if (value === undefined || typeof value === 'boolean') return value;
    throw bad(`${key} of ${this.where}`, 'a boolean');
  }
  list(key: string): MsgPackValue[] | undefined {
    const value = this.map.get(key);
    if (value === undefined || Array.isArray(value)) return value;
    throw bad(`${key} of ${this.where}`, 'a list');
  }
  numbers(key: string): number[] | undefined {
    return this.list(key)?.map((value) => {
      if (typeof value === 'bigint' && value >= 0n && value <= 0xffffffffn) return Number(value);
      throw bad(`${key} of ${this.where}`, 'a list of unsigned integers');
    });
  }
  three(key: string): [number, number, number] | undefined {
    const values = this.numbers(key);
    if (values === undefined) return undefined;
    if (values.length !== 3) throw bad(`${key} of ${this.where}`, 'a list of three integers');
    return [values[0], values[1], values[2]];
  }
}

function readKernel(value: MsgPackValue, index: number): KernelMetadata {
  if (!(value instanceof Map)) throw bad(`kernel ${index}`, 'a map');
  const named = value.get('.name');
  const f = new Fields(value, typeof named === 'string' ? `kernel '${named}'` : `kernel ${index}`);
  const name = f.text('.name');
  const symbol = f.text('.symbol');
  if (name === undefined || symbol === undefined) {
    throw bad(f.where, 'complete: it needs .name and .symbol');
  }
  return {
    name,
    symbol,
    args: (f.list('.args') ?? []).map((arg, i) => readArgument(arg, `argument ${i} of ${f.where}`)),
    kernargSegmentSize: f.number('.kernarg_segment_size') ?? 0,
    kernargSegmentAlign: f.number('.kernarg_segment_align') ?? 0,
    groupSegmentFixedSize: f.number('.group_segment_fixed_size') ?? 0,
    privateSegmentFixedSize: f.number('.private_segment_fixed_size') ?? 0,
    wavefrontSize: f.number('.wavefront_size') ?? 64,
    sgprCount: f.number('.sgpr_count') ?? 0,
    vgprCount: f.number('.vgpr_count') ?? 0,
    agprCount: f.number('.agpr_count'),
    sgprSpillCount: f.number('.sgpr_spill_count'),
    vgprSpillCount: f.number('.vgpr_spill_count'),
    maxFlatWorkgroupSize: f.number('.max_flat_workgroup_size') ?? 0,
    reqdWorkgroupSize: f.three('.reqd_workgroup_size'),
    workgroupSizeHint: f.three('.workgroup_size_hint'),
    usesDynamicStack: f.flag('.uses_dynamic_stack'),
    uniformWorkGroupSize: f.number('.uniform_work_group_size'),
    language: f.text('.language'),
    languageVersion: f.numbers('.language_version'),
    raw: value,
  };
}

function readArgument(value: MsgPackValue, where: string): KernelArgument {
  if (!(value instanceof Map)) throw bad(where, 'a map');
  const f = new Fields(value, where);
  return {
    name: f.text('.name'),
    typeName: f.text('.type_name'),
    offset: f.number('.offset') ?? 0,
    size: f.number('.size') ?? 0,
    valueKind: f.text('.value_kind') ?? '',
    addressSpace: f.text('.address_space'),
    access: f.text('.access'),
    actualAccess: f.text('.actual_access'),
    pointeeAlign: f.number('.pointee_align'),
    isConst: f.flag('.is_const') ?? false,
    isRestrict: f.flag('.is_restrict') ?? false,
    isVolatile: f.flag('.is_volatile') ?? false,
    raw: value,
  };
}
