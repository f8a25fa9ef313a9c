// Checks code object metadata as LLVM's assembler does before it writes the note.
// Source: llvm/lib/BinaryFormat/AMDGPUMetadataVerifier.cpp.
import type { MsgPackMap, MsgPackValue } from '../../../codeobject/kernel/msgpack.ts';

/** A check of one value; the returned value replaces it, undefined means wrong. */
type Check = (value: MsgPackValue) => MsgPackValue | undefined;

const string: Check = (value) => (typeof value === 'string' ? value : undefined);
const boolean: Check = (value) => {
  if (typeof value === 'boolean') return value;
  return value === 'true' ? true : value === 'false' ? false : undefined;
};
/** Integers, also as text (`!str 16`), as the lenient verifier takes them. */
const integer: Check = (value) => {
  if (typeof value === 'bigint') return value;
  return typeof value === 'string' && /^-?[0-9]+$/.test(value) ? BigInt(value) : undefined;
};

function oneOf(...names: string[]): Check {
  const allowed = new Set<MsgPackValue>(names);
  return (value) => (allowed.has(value) ? value : undefined);
}

function listOf(check: Check, size?: number): Check {
  return (value) => {
    if (!Array.isArray(value) || (size !== undefined && value.length !== size)) return undefined;
    for (let i = 0; i < value.length; i++) {
      const item = check(value[i]);
      if (item === undefined) return undefined;
      value[i] = item;
    }
    return value;
  };
}

interface Entry {
  readonly check: Check;
  readonly required?: boolean;
}
type Shape = ReadonlyMap<string, Entry>;

function shape(required: Readonly<Record<string, Check>>, optional: Readonly<Record<string, Check>>): Shape {
  const entries = new Map<string, Entry>();
  for (const [key, check] of Object.entries(required)) entries.set(key, { check, required: true });
  for (const [key, check] of Object.entries(optional)) entries.set(key, { check });
  return entries;
}

const VALUE_KINDS = [
  ...['by_value', 'global_buffer', 'dynamic_shared_pointer', 'sampler', 'image', 'pipe', 'queue'],
  ...['block_count_x', 'block_count_y', 'block_count_z', 'group_size_x', 'group_size_y', 'group_size_z'].map(hidden),
  ...['remainder_x', 'remainder_y', 'remainder_z', 'global_offset_x', 'global_offset_y'].map(hidden),
  ...['global_offset_z', 'grid_dims', 'none', 'printf_buffer', 'hostcall_buffer', 'heap_v1'].map(hidden),
  ...['default_queue', 'completion_action', 'multigrid_sync_arg', 'dynamic_lds_size'].map(hidden),
  ...['private_base', 'shared_base', 'queue_ptr'].map(hidden),
];

function hidden(name: string): string {
  return `hidden_${name}`;
}

const ACCESS = oneOf('read_only', 'write_only', 'read_write');

const ARGUMENT = shape(
  { '.size': integer, '.offset': integer, '.value_kind': oneOf(...VALUE_KINDS) },
  {
    '.name': string,
    '.type_name': string,
    '.pointee_align': integer,
    '.address_space': oneOf('private', 'global', 'constant', 'local', 'generic', 'region'),
    '.access': ACCESS,
    '.actual_access': ACCESS,
    '.is_const': boolean,
    '.is_restrict': boolean,
    '.is_volatile': boolean,
    '.is_pipe': boolean,
  },
);

const KERNEL = shape(
  {
    '.name': string,
    '.symbol': string,
    '.kernarg_segment_size': integer,
    '.group_segment_fixed_size': integer,
    '.private_segment_fixed_size': integer,
    '.kernarg_segment_align': integer,
    '.wavefront_size': integer,
    '.sgpr_count': integer,
    '.vgpr_count': integer,
    '.max_flat_workgroup_size': integer,
  },
  {
    '.language': oneOf('OpenCL C', 'OpenCL C++', 'HCC', 'HIP', 'OpenMP', 'Assembler'),
    '.language_version': listOf(integer, 2),
    '.reqd_workgroup_size': listOf(integer, 3),
    '.workgroup_size_hint': listOf(integer, 3),
    '.vec_type_hint': string,
    '.device_enqueue_symbol': string,
    '.uses_dynamic_stack': boolean,
    '.workgroup_processor_mode': integer,
    '.sgpr_spill_count': integer,
    '.vgpr_spill_count': integer,
    '.uniform_work_group_size': integer,
    '.cluster_dims': listOf(integer, 3),
  },
);

const GLOBAL = shape({ '.name': string, '.size': integer }, {});

/** The first thing wrong with `map`, or undefined. */
function problemOf(map: MsgPackMap, entries: Shape, where: string): string | undefined {
  for (const [key, { check, required }] of entries) {
    const value = map.get(key);
    if (value === undefined) {
      if (required === true) return `${where} has no ${key}`;
      continue;
    }
    const checked = check(value);
    if (checked === undefined) return `${key} of ${where} has a wrong value`;
    map.set(key, checked);
  }
  return undefined;
}

function problemOfList(list: MsgPackValue | undefined, entries: Shape, where: string): string | undefined {
  if (list === undefined) return undefined;
  if (!Array.isArray(list)) return `${where} is not a list`;
  for (const [i, item] of list.entries()) {
    const name = item instanceof Map ? item.get('.name') : undefined;
    const place = typeof name === 'string' ? `'${name}'` : `entry ${i} of ${where}`;
    if (!(item instanceof Map)) return `${place} is not a map`;
    const problem = problemOf(item, entries, place);
    if (problem !== undefined) return problem;
    if (entries !== KERNEL) continue;
    const inner = problemOfList(item.get('.args'), ARGUMENT, `the arguments of ${place}`);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

/** What LLVM's verifier rejects in metadata, or undefined. Integers and booleans given as text are converted in place. */
export function metadataProblem(document: MsgPackValue): string | undefined {
  if (!(document instanceof Map)) return 'it is not a map';
  const root = shape({ 'amdhsa.version': listOf(integer, 2) }, { 'amdhsa.printf': listOf(string) });
  const problem = problemOf(document, root, 'the metadata');
  if (problem !== undefined) return problem;
  if (!document.has('amdhsa.kernels')) return 'the metadata has no amdhsa.kernels';
  return (
    problemOfList(document.get('amdhsa.globals'), GLOBAL, 'amdhsa.globals') ??
    problemOfList(document.get('amdhsa.kernels'), KERNEL, 'amdhsa.kernels')
  );
}
