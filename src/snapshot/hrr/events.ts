// Room `snapshot/hrr`: archives of AMD's HIP Record & Replay (ROCm/rocm-systems, projects/hrr), which log the HIP calls of a program. Begin with this
// file, which reads the log; archive.ts finds the files, play.ts does on the virtual GPU what the calls did and records a launch.
//
// events.bin: `HRRE`, u16 version, u16 flags; then records of a 32-byte header (u16 call, u64 sequence, u64 time, u64 thread, u32 length of the
// record, 2 bytes) and the call's result and arguments, packed. Sources: projects/hrr/DESIGN.md, include/hrr/hrr_api_args.h and
// playback/hrr_reader.cpp of versions 6 to 8.
import { ByteReader, WavesmithError } from '../../base/index.ts';

const MAGIC = 0x52524845;
const OLDEST = 6;
const NEWEST = 8;
const HEADER_BYTES = 32;
/** AMD's reader takes longer records for damage. */
const MAX_RECORD = 2 ** 26;
const END = 0xffff;
const END_BYTES = 44;

/** A blob by its FNV-1a-128, the lower half first. */
export type HrrBlob = string;

export interface HrrLaunch {
  readonly call: 'launch';
  readonly kernel: string;
  /** What the code object is known by; 0 when it is not. */
  readonly code: HrrBlob;
  /** In workgroups. */
  readonly grid: readonly [number, number, number];
  readonly block: readonly [number, number, number];
  readonly dynamicLds: number;
  /** Explicit arguments in order. */
  readonly args: readonly Uint8Array[];
  /** Host memory as it was when the kernel started. */
  readonly snapshots: readonly { readonly address: number; readonly bytes: number; readonly blob: HrrBlob }[];
}

/** What a call does to the memory of a GPU. */
export type HrrCall =
  | {
      readonly call: 'allocate';
      readonly kind: 'coarse' | 'host' | 'managed';
      readonly address: number;
      readonly bytes: number;
    }
  | { readonly call: 'free'; readonly address: number }
  | {
      readonly call: 'copy';
      readonly to: number;
      readonly from: number;
      readonly bytes: number;
      readonly blob: HrrBlob;
    }
  | { readonly call: 'fill'; readonly to: number; readonly value: Uint8Array; readonly count: number }
  | HrrLaunch
  /** It writes memory in a way that is not done here. */
  | { readonly call: 'unknown' };

export interface HrrEvent {
  readonly sequence: bigint;
  /** Name of the HIP function. */
  readonly name: string;
  readonly does: HrrCall;
}

export interface HrrLog {
  readonly version: number;
  /** In the order of the calls; without those that touch no memory. */
  readonly events: readonly HrrEvent[];
  /** The program came to its end: the log has its last record. */
  readonly isComplete: boolean;
  /** Records of the log, and how many its last record says that it has. */
  readonly records: { readonly read: number; readonly written: number | undefined };
}

const NO_BLOB: HrrBlob = '0'.repeat(32);

type Reader = (r: ByteReader) => HrrCall;

const number = (r: ByteReader, at: number): number => {
  const value = Number(r.u64(at));
  if (!Number.isSafeInteger(value)) throw damaged('has an address or a size beyond 2^53');
  return value;
};
const blobAt = (r: ByteReader, at: number): HrrBlob =>
  [r.u64(at), r.u64(at + 8)].map((half) => half.toString(16).padStart(16, '0')).join('');

/** Arguments begin behind the header and the result. */
const A = HEADER_BYTES + 4;
const allocate =
  (kind: 'coarse' | 'host' | 'managed'): Reader =>
  (r) => ({ call: 'allocate', kind, address: number(r, A), bytes: number(r, A + 8) });
const free: Reader = (r) => ({ call: 'free', address: number(r, A) });
const copy =
  (blob?: number): Reader =>
  (r) => ({
    call: 'copy',
    to: number(r, A),
    from: number(r, A + 8),
    bytes: number(r, A + 16),
    blob: blob === undefined ? NO_BLOB : blobAt(r, A + blob),
  });
const fill =
  (width: number, value = 4): Reader =>
  (r) => ({
    call: 'fill',
    to: number(r, A),
    value: r.slice(A + 8, width).slice(),
    count: number(r, A + 8 + value),
  });
const unknown: Reader = () => ({ call: 'unknown' });

/** Calls that act on the memory of a GPU, by number: their order in HIP's dispatch table. Numbers of later functions differ between versions. */
const CALLS = new Map<number, readonly [string, Reader]>([
  [215, ['hipMalloc', allocate('coarse')]],
  [219, ['hipMallocAsync', allocate('coarse')]],
  [220, ['hipMallocFromPoolAsync', allocate('coarse')]],
  [86, ['hipExtMallocWithFlags', allocate('coarse')]],
  [222, ['hipMallocManaged', allocate('managed')]],
  [193, ['hipHostAlloc', allocate('host')]],
  [197, ['hipHostMalloc', allocate('host')]],
  [221, ['hipMallocHost', allocate('host')]],
  [228, ['hipMemAllocHost', allocate('host')]],
  [90, ['hipFree', free]],
  [92, ['hipFreeAsync', free]],
  [93, ['hipFreeHost', free]],
  [194, ['hipHostFree', free]],
  [259, ['hipMemcpy', copy(28)]],
  [268, ['hipMemcpyAsync', copy(36)]],
  [287, ['hipMemcpyWithStream', copy(36)]],
  [278, ['hipMemcpyHtoD', copy(24)]],
  [279, ['hipMemcpyHtoDAsync', copy(32)]],
  [270, ['hipMemcpyDtoD', copy(24)]],
  [271, ['hipMemcpyDtoDAsync', copy(32)]],
  [272, ['hipMemcpyDtoH', copy(24)]],
  [273, ['hipMemcpyDtoHAsync', copy(32)]],
  [390, ['hipMemcpy_spt', copy()]],
  [402, ['hipMemcpyAsync_spt', copy()]],
  [288, ['hipMemset', fill(1)]],
  [293, ['hipMemsetAsync', fill(1)]],
  [396, ['hipMemset_spt', fill(1)]],
  [397, ['hipMemsetAsync_spt', fill(1)]],
  [298, ['hipMemsetD8', fill(1, 8)]],
  [299, ['hipMemsetD8Async', fill(1, 8)]],
  [294, ['hipMemsetD16', fill(2, 8)]],
  [295, ['hipMemsetD16Async', fill(2, 8)]],
  [296, ['hipMemsetD32', fill(4)]],
  [297, ['hipMemsetD32Async', fill(4)]],
  [308, ['hipModuleLaunchKernel', launch]],
  [388, ['hipExtModuleLaunchKernel', launch]],
  [214, ['hipLaunchKernel', launch]],
  [210, ['hipLaunchByPtr', launch]],
  [306, ['hipModuleLaunchCooperativeKernel', launch]],
]);

/** Calls that write memory, or make some, in a way that is not done here. */
const UNKNOWN: readonly (readonly [number, string])[] = [
  [72, 'hipDrvMemcpy2DUnaligned'],
  [73, 'hipDrvMemcpy3D'],
  [74, 'hipDrvMemcpy3DAsync'],
  [84, 'hipExtLaunchKernel'],
  [85, 'hipExtLaunchMultiKernelMultiDevice'],
  [89, 'hipExternalMemoryGetMappedBuffer'],
  [166, 'hipGraphLaunch'],
  [198, 'hipHostRegister'],
  [207, 'hipIpcOpenMemHandle'],
  [211, 'hipLaunchCooperativeKernel'],
  [212, 'hipLaunchCooperativeKernelMultiDevice'],
  [216, 'hipMalloc3D'],
  [224, 'hipMallocPitch'],
  [229, 'hipMemAllocPitch'],
  [238, 'hipMemMap'],
  [260, 'hipMemcpy2D'],
  [261, 'hipMemcpy2DAsync'],
  [262, 'hipMemcpy2DFromArray'],
  [263, 'hipMemcpy2DFromArrayAsync'],
  [266, 'hipMemcpy3D'],
  [267, 'hipMemcpy3DAsync'],
  [274, 'hipMemcpyFromArray'],
  [275, 'hipMemcpyFromSymbol'],
  [276, 'hipMemcpyFromSymbolAsync'],
  [280, 'hipMemcpyParam2D'],
  [281, 'hipMemcpyParam2DAsync'],
  [282, 'hipMemcpyPeer'],
  [283, 'hipMemcpyPeerAsync'],
  [285, 'hipMemcpyToSymbol'],
  [286, 'hipMemcpyToSymbolAsync'],
  [289, 'hipMemset2D'],
  [290, 'hipMemset2DAsync'],
  [291, 'hipMemset3D'],
  [292, 'hipMemset3DAsync'],
  [307, 'hipModuleLaunchCooperativeKernelMultiDevice'],
  [351, 'hipStreamWriteValue32'],
  [352, 'hipStreamWriteValue64'],
  [389, 'hipHccModuleLaunchKernel'],
  [391, 'hipMemcpyToSymbol_spt'],
  [393, 'hipMemcpy2D_spt'],
  [395, 'hipMemcpy3D_spt'],
  [398, 'hipMemset2D_spt'],
  [399, 'hipMemset2DAsync_spt'],
  [400, 'hipMemset3DAsync_spt'],
  [401, 'hipMemset3D_spt'],
  [403, 'hipMemcpy3DAsync_spt'],
  [404, 'hipMemcpy2DAsync_spt'],
  [406, 'hipMemcpyToSymbolAsync_spt'],
  [418, 'hipLaunchCooperativeKernel_spt'],
  [419, 'hipLaunchKernel_spt'],
  [420, 'hipGraphLaunch_spt'],
  [474, 'hipLaunchKernelExC'],
  [475, 'hipDrvLaunchKernelEx'],
  [487, 'hipMemcpyBatchAsync'],
  [488, 'hipMemcpy3DBatchAsync'],
];
for (const [id, name] of UNKNOWN) CALLS.set(id, [name, unknown]);

function damaged(what: string): WavesmithError {
  return new WavesmithError('capture/bad-import', `events.bin ${what}.`, { hint: 'The archive is damaged.' });
}

/** A launch: its stream, name, code object, sizes, arguments and snapshots, without the result that other calls begin with. */
function launch(r: ByteReader): HrrCall {
  let at = HEADER_BYTES + 8;
  const take = (bytes: number): number => {
    at += bytes;
    return at - bytes;
  };
  const word = (): number => r.u32(take(4));
  const half = (): number => r.u16(take(2));
  const name = half();
  const kernel = r.text(take(name), name).replace(/\.kd$/, '');
  const code = blobAt(r, take(16));
  const grid = [word(), word(), word()] as const;
  const block = [word(), word(), word()] as const;
  const dynamicLds = word();
  const counts = [half(), half()] as const;
  const args = Array.from({ length: counts[0] }, () => {
    const kind = r.u8(take(1));
    const size = half();
    const bytes = r.slice(take(size), size).slice();
    // A structure with pointers says where they are.
    if (kind === STRUCTURE) take(2 * half());
    return bytes;
  });
  const snapshots = Array.from({ length: counts[1] }, () => {
    const start = take(SNAPSHOT_BYTES);
    const address = number(r, start) + number(r, start + 8);
    return { address, bytes: number(r, start + 16), blob: blobAt(r, start + 24) };
  });
  return { call: 'launch', kernel, code, grid, block, dynamicLds, args, snapshots };
}
const STRUCTURE = 3;
const SNAPSHOT_BYTES = 41;

/** Reads a log. A record that was not written to its end is the last one; what is no log is `capture/bad-import`. */
export function readHrrLog(bytes: Uint8Array): HrrLog {
  const r = new ByteReader(bytes, 'events.bin', 'capture/bad-import');
  if (r.length < 8 || r.u32(0) !== MAGIC) throw damaged("does not begin with 'HRRE'");
  const version = r.u16(4);
  if (version < OLDEST || version > NEWEST) {
    throw new WavesmithError(
      'capture/bad-import',
      `The archive has version ${version} of AMD's format; versions ${OLDEST} to ${NEWEST} are read.`,
    );
  }
  const events: HrrEvent[] = [];
  let written: number | undefined;
  let count = 0;
  for (let at = 8; at + HEADER_BYTES <= r.length && written === undefined; ) {
    const length = r.u32(at + 26);
    if (length < HEADER_BYTES || length > MAX_RECORD || at + length > r.length) break;
    const id = r.u16(at);
    const record = new ByteReader(r.slice(at, length), 'A record of events.bin', 'capture/bad-import');
    if (id === END && length === END_BYTES) written = number(record, HEADER_BYTES);
    else count++;
    const [name, read] = CALLS.get(id) ?? [];
    if (name !== undefined && read !== undefined) events.push({ sequence: r.u64(at + 2), name, does: read(record) });
    at += length;
  }
  events.sort((a, b) => (a.sequence < b.sequence ? -1 : a.sequence > b.sequence ? 1 : 0));
  return { version, events, isComplete: written !== undefined, records: { read: count, written } };
}
