// Numbers that our libraries and the device process take from AMD's headers are what the headers say: Debian's HIP 5.2 and HSA 5.2, the HIP 6.3
// of ../shared/hip, and headers of a later ROCm where WAVESMITH_ROCM_HEADERS names a folder with `hsa` and `hip`.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from './support/hip.ts';
import { llvmTool } from './support/llvm.ts';

const clang = llvmTool('clang++');
const later = process.env.WAVESMITH_ROCM_HEADERS;
const debian = '/usr/include';
const hip63 = join(root, '../shared/hip/hip-6.3/include');

const source = (path: string): string => readFileSync(join(root, path), 'utf8');
const folder = (path: string): string =>
  readdirSync(join(root, path), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(cc|h)$/.test(name))
    .map((name) => source(join(path, name)))
    .join('\n');

/** Values of constant expressions as C++ gives them with the headers of a folder; a name that the headers do not have is left out. */
function valuesOf(include: string, headers: readonly string[], names: readonly string[]): Map<string, bigint> {
  const begin = headers.map((h) => `#include <${h}>`).join('\n');
  const options = ['-std=c++20', '-D__HIP_PLATFORM_AMD__', '-isystem', include, '-x', 'c++'];
  const run = (text: string, ...more: string[]) =>
    spawnSync(clang ?? '', [...options, ...more, '-'], {
      input: `${begin}\n${text}`,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    });
  // Names that are not declared, or that are several functions, are named by the compiler.
  const asked = names.map((n) => `static const long long v_${n.replace(/\W/g, '_')} = (long long)(${n});`).join('\n');
  const first = run(asked, '-fsyntax-only', '-ferror-limit=0', '-w');
  const absent = new Set(
    [...first.stderr.matchAll(/(?:use of undeclared identifier|address of overloaded function) '(\w+)'/g)].map(
      (m) => m[1] as string,
    ),
  );
  const known = names.filter((n) => !absent.has(n));
  const lines = known.map((n) => `extern "C" const long long v_${n} = (long long)(${n});`).join('\n');
  const { stdout, stderr, status } = run(lines, '-S', '-emit-llvm', '-O1', '-w', '-o', '-');
  if (status !== 0) throw new Error(stderr.slice(0, 2000));
  return new Map(
    [...stdout.matchAll(/^@v_(\w+) = .*constant i64 (-?\d+)/gm)].map((m) => [m[1] as string, BigInt(m[2] as string)]),
  );
}

/** Our constants by AMD's names: a file, and what it calls them. */
const HSA = {
  kStatusNotSupported: 'HSA_STATUS_ERROR_NOT_SUPPORTED',
  kAccessNone: 'HSA_ACCESS_PERMISSION_NONE',
  kSystemInfoBuildVersion: 'HSA_AMD_SYSTEM_INFO_BUILD_VERSION',
  kSystemInfoSvmSupported: 'HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED',
  kSystemInfoSvmAccessibleByDefault: 'HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT',
  kSystemInfoMwaitx: 'HSA_AMD_SYSTEM_INFO_MWAITX_ENABLED',
  kSystemInfoDmabuf: 'HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED',
  kSystemInfoVirtualMemory: 'HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED',
  kSystemInfoXnack: 'HSA_AMD_SYSTEM_INFO_XNACK_ENABLED',
  kSystemInfoExtensionMajor: 'HSA_AMD_SYSTEM_INFO_EXT_VERSION_MAJOR',
  kSystemInfoExtensionMinor: 'HSA_AMD_SYSTEM_INFO_EXT_VERSION_MINOR',
  kAgentInfoMemoryAvailable: 'HSA_AMD_AGENT_INFO_MEMORY_AVAIL',
  kAgentInfoTimestampFrequency: 'HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY',
  kAgentInfoAsicFamily: 'HSA_AMD_AGENT_INFO_ASIC_FAMILY_ID',
  kAgentInfoUcodeVersion: 'HSA_AMD_AGENT_INFO_UCODE_VERSION',
  kAgentInfoSdmaUcodeVersion: 'HSA_AMD_AGENT_INFO_SDMA_UCODE_VERSION',
  kAgentInfoSdmaEngines: 'HSA_AMD_AGENT_INFO_NUM_SDMA_ENG',
  kAgentInfoXgmiSdmaEngines: 'HSA_AMD_AGENT_INFO_NUM_SDMA_XGMI_ENG',
  kAgentInfoIommu: 'HSA_AMD_AGENT_INFO_IOMMU_SUPPORT',
  kAgentInfoXcc: 'HSA_AMD_AGENT_INFO_NUM_XCC',
  kAgentInfoDriverUid: 'HSA_AMD_AGENT_INFO_DRIVER_UID',
  kAgentInfoNearestCpu: 'HSA_AMD_AGENT_INFO_NEAREST_CPU',
  kAgentInfoMemoryProperties: 'HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES',
  kAgentInfoScratchLimitMax: 'HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX',
  kAgentInfoScratchLimitCurrent: 'HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT',
  kAgentInfoClockCounters: 'HSA_AMD_AGENT_INFO_CLOCK_COUNTERS',
  kPoolInfoLocation: 'HSA_AMD_MEMORY_POOL_INFO_LOCATION',
  kPoolInfoRecommendedGranule: 'HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE',
} as const;

const HIP: readonly (readonly [file: string, ours: string, amd: string])[] = [
  ['virtual_memory.cc', 'kPinned', 'hipMemAllocationTypePinned'],
  ['virtual_memory.cc', 'kUncached', 'hipMemAllocationTypeUncached'],
  ['virtual_memory.cc', 'kFileDescriptor', 'hipMemHandleTypePosixFileDescriptor'],
  ['virtual_memory.cc', 'kDmaBuffer', 'hipMemRangeHandleTypeDmaBufFd'],
  ['pool.cc', 'kFileDescriptor', 'hipMemHandleTypePosixFileDescriptor'],
  ['event_api.cc', 'kDisableSystemFence', 'hipEventDisableSystemFence'],
  ['managed.cc', 'kDeviceLocation', 'hipMemLocationTypeDevice'],
  ['managed.cc', 'kLastHostLocation', 'hipMemLocationTypeHostNumaCurrent'],
  ['graph/graph.cc', 'kNoDestructorSync', 'hipUserObjectNoDestructorSync'],
  ['graph/graph.cc', 'kMove', 'hipGraphUserObjectMove'],
  ['graph/nodes.cc', 'kStreaming', 'hipAccessPropertyStreaming'],
  ['graph/nodes.cc', 'kPersisting', 'hipAccessPropertyPersisting'],
  ['memory.cc', 'kSignal', 'hipMallocSignalMemory'],
  ['pointer_api.cc', 'kSyncMemops', 'HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS'],
  ['launch.cc', 'kAttributeCooperative', 'hipLaunchAttributeCooperative'],
  ['stream_api.cc', 'kAccessWindow', 'hipStreamAttributeAccessPolicyWindow'],
  ['stream_api.cc', 'kSynchronisation', 'hipStreamAttributeSynchronizationPolicy'],
  ['stream_api.cc', 'kPriority', 'hipStreamAttributePriority'],
  ['runtime.h', 'hipErrorStreamCaptureUnsupported_', 'hipErrorStreamCaptureUnsupported'],
  ['runtime.h', 'hipErrorContextIsDestroyed_', 'hipErrorContextIsDestroyed'],
];

/**
 * What HIP 6 numbered otherwise than 5.2: kinds of memory, which the libraries treat by their version, and a flag that had bits of the schedule
 * in 5.2, of which hipSetDeviceFlags uses the one that both have.
 */
const BY_VERSION = /^hipMemoryType|^hipDeviceLmemResizeToMax$/;

const number = (text: string, name: string): bigint | undefined => {
  const found = new RegExp(`\\b${name} =\\s*(?:static_cast<\\w+>\\()?(-?(?:0x)?[0-9A-Fa-f]+)`).exec(text)?.[1];
  return found === undefined ? undefined : BigInt(found);
};

function canRun(...paths: string[]): boolean {
  const missing = paths.filter((path) => !existsSync(path));
  if (clang === undefined) missing.push('clang++ 22');
  if (missing.length > 0) console.warn(`skipped: ${missing.join(', ')} absent.`);
  return missing.length === 0;
}

describe("AMD's numbers", () => {
  it.each([debian, ...(later === undefined ? [] : [later])])('of HSA are those of %s', (include) => {
    if (!canRun(join(include, 'hsa/hsa_ext_amd.h'))) return;
    const values = valuesOf(include, ['hsa/hsa.h', 'hsa/hsa_ext_amd.h'], Object.values(HSA));
    const text = source('native/hsa/abi.h');
    const ours = Object.entries(HSA).map(([name, amd]) => [amd, number(text, name)] as const);
    expect(ours.filter(([, value]) => value === undefined)).toEqual([]);
    const differing = ours.filter(([amd, value]) => values.has(amd) && values.get(amd) !== value);
    // Debian's header of 5.2 begins its permissions at 1; ours is that of later releases.
    expect(differing.map(([amd]) => amd).filter((n) => include !== debian || n !== HSA.kAccessNone)).toEqual([]);
    expect(values.size).toBeGreaterThan(include === debian ? 2 : 25);
    const all = [...text.matchAll(/constexpr \w+ (k\w+) =/g)].map((m) => m[1] as string);
    expect(all.filter((name) => !(name in HSA))).toEqual([]);
  });

  it('of HIP that HIP 5.2 does not name are those of 6.3', () => {
    if (!canRun(hip63)) return;
    const values = valuesOf(hip63, ['hip/hip_runtime_api.h'], [...new Set(HIP.map(([, , amd]) => amd))]);
    const rows = HIP.map(([file, ours, amd]) => [amd, number(source(join('native/hip', file)), ours)] as const);
    expect(rows.filter(([, value]) => value === undefined)).toEqual([]);
    expect(rows.filter(([amd, value]) => values.has(amd) && values.get(amd) !== value)).toEqual([]);
    expect(values.size).toBeGreaterThan(12);
  });

  it('that our HIP library takes from 5.2 are the same in 6.3', () => {
    if (!canRun(join(debian, 'hip/hip_runtime_api.h'), hip63)) return;
    const text = folder('native/hip').replace(/"[^"\n]*"|\/\/.*/g, '');
    const used = [...new Set([...text.matchAll(/\b(?:hip[A-Z]\w+|HIP_[A-Z]\w+)\b/g)].map((m) => m[0]))];
    // Types and functions are no numbers; what is left are enumerators and macros.
    const header =
      readFileSync(join(debian, 'hip/hip_runtime_api.h'), 'utf8') +
      readFileSync(join(debian, 'hip/driver_types.h'), 'utf8');
    const names = used.filter((name) =>
      new RegExp(`(?:^\\s+|#define )${name}\\b\\s*(?:=|,|[0-9(]|/|$)`, 'm').test(header),
    );
    const [before, after] = [debian, hip63].map((include) => valuesOf(include, ['hip/hip_runtime_api.h'], names));
    const differing = [...(before ?? [])].filter(
      ([name, value]) => after?.has(name) === true && after.get(name) !== value,
    );
    expect(differing.map(([name]) => name).filter((name) => !BY_VERSION.test(name))).toEqual([]);
    expect(before?.size).toBeGreaterThan(150);
  });

  it('of the error table are those of HIP 6.3, and all of them', () => {
    if (!canRun(hip63)) return;
    const rows = [...source('native/hip/errors.cc').matchAll(/\{(\d+), "(hip\w+)",/g)].map(
      (m) => [m[2] as string, BigInt(m[1] as string)] as const,
    );
    const header = readFileSync(join(hip63, 'hip/hip_runtime_api.h'), 'utf8');
    const names = [...header.matchAll(/^\s+(hip(?:Error\w+|Success))\s*(?:=|,)/gm)].map((m) => m[1] as string);
    const values = valuesOf(hip63, ['hip/hip_runtime_api.h'], names);
    expect(rows.filter(([name, value]) => values.has(name) && values.get(name) !== value)).toEqual([]);
    const named = new Set(rows.map(([, value]) => value));
    // Channel descriptors and textures are not in the table of AMD's runtime either.
    expect(names.filter((name) => !named.has(values.get(name) as bigint))).toEqual([
      'hipErrorInvalidChannelDescriptor',
      'hipErrorInvalidTexture',
    ]);
  });

  it('of packets and signals in the device process are those of HSA', () => {
    if (!canRun(join(debian, 'hsa/amd_hsa_signal.h'))) return;
    const queue = source('src/runtime/aql-queue.ts');
    const packets = {
      Vendor: 'HSA_PACKET_TYPE_VENDOR_SPECIFIC',
      Invalid: 'HSA_PACKET_TYPE_INVALID',
      KernelDispatch: 'HSA_PACKET_TYPE_KERNEL_DISPATCH',
      BarrierAnd: 'HSA_PACKET_TYPE_BARRIER_AND',
      AgentDispatch: 'HSA_PACKET_TYPE_AGENT_DISPATCH',
      BarrierOr: 'HSA_PACKET_TYPE_BARRIER_OR',
    };
    const amd = [
      ...Object.values(packets),
      'HSA_AMD_PACKET_TYPE_BARRIER_VALUE',
      'HSA_SIGNAL_CONDITION_EQ',
      'HSA_SIGNAL_CONDITION_NE',
      'HSA_SIGNAL_CONDITION_LT',
      'HSA_PACKET_HEADER_BARRIER',
    ];
    const values = valuesOf(debian, ['hsa/hsa.h', 'hsa/hsa_ext_amd.h'], amd);
    const types = /PacketType = \{([^}]*)\}/.exec(queue)?.[1] ?? '';
    for (const [ours, name] of Object.entries(packets))
      expect([name, number(types.replaceAll(':', ' ='), ours)]).toEqual([name, values.get(name)]);
    expect(number(queue, 'AMD_BARRIER_VALUE')).toBe(values.get('HSA_AMD_PACKET_TYPE_BARRIER_VALUE'));
    expect(number(queue, 'BARRIER_BIT')).toBe(1n << (values.get('HSA_PACKET_HEADER_BARRIER') ?? 0n));
    expect(['EQ', 'NE', 'LT'].map((c) => values.get(`HSA_SIGNAL_CONDITION_${c}`))).toEqual([0n, 1n, 2n]);
    const fields = { value: 'value', startTicks: 'start_ts', endTicks: 'end_ts' };
    const text = source('src/runtime/generated/messages.ts');
    const signal = /export const SIGNAL = \{([^}]*)\}/.exec(text)?.[1] ?? '';
    const offsets = offsetsOf('amd_signal_t', Object.values(fields));
    for (const [ours, name] of Object.entries(fields))
      expect([name, number(signal.replaceAll(':', ' ='), ours)]).toEqual([name, offsets.get(name)]);
  });
});

/** Offsets of a struct's fields in Debian's headers. */
function offsetsOf(struct: string, fields: readonly string[]): Map<string, bigint> {
  const lines = fields
    .map((f) => `extern "C" const long long o_${f} = __builtin_offsetof(${struct}, ${f});`)
    .join('\n');
  const { stdout } = spawnSync(clang ?? '', ['-x', 'c++', '-S', '-emit-llvm', '-O1', '-o', '-', '-'], {
    input: `#include <hsa/amd_hsa_signal.h>\n${lines}`,
    encoding: 'utf8',
  });
  return new Map(
    [...stdout.matchAll(/^@o_(\w+) = .*constant i64 (-?\d+)/gm)].map((m) => [m[1] as string, BigInt(m[2] as string)]),
  );
}
