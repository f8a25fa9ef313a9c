// What a wave knows at its start and probes ask for later: it is kept in the lanes of one vector register that the kernel does not use.
// Values that the kernel did not ask the hardware for are switched on in its descriptor, and the registers behind them are moved back to
// where the kernel expects them. Source: LLVM's AMDGPUUsage, "Initial Kernel Execution State".
import type { KernelDescriptor } from '../codeobject/index.ts';
import type { EntryValue } from './entry-value.ts';

/** User SGPRs that the hardware can set. */
const MAX_USER_SGPRS = 16;

/** Where each value is in the scalar registers of a starting wave. */
export function entryRegisters(d: KernelDescriptor): Map<string, { readonly first: number; readonly count: number }> {
  const { properties, rsrc2, preload } = d;
  const out = new Map<string, { first: number; count: number }>();
  let at = 0;
  const put = (name: string, isOn: number, count: number): void => {
    if (isOn === 0) return;
    out.set(name, { first: at, count });
    at += count;
  };
  put('buffer', properties.enableSgprPrivateSegmentBuffer, 4);
  put('dispatch', properties.enableSgprDispatchPtr, 2);
  put('queue', properties.enableSgprQueuePtr, 2);
  put('kernarg', properties.enableSgprKernargSegmentPtr, 2);
  put('dispatch-id', properties.enableSgprDispatchId, 2);
  put('flat-scratch', properties.enableSgprFlatScratchInit, 2);
  put('private-size', properties.enableSgprPrivateSegmentSize, 1);
  put('preload', preload.length, preload.length);
  at = rsrc2.userSgprCount;
  put('workgroup-x', rsrc2.enableSgprWorkgroupIdX, 1);
  put('workgroup-y', rsrc2.enableSgprWorkgroupIdY, 1);
  put('workgroup-z', rsrc2.enableSgprWorkgroupIdZ, 1);
  put('workgroup-info', rsrc2.enableSgprWorkgroupInfo, 1);
  put('scratch-offset', rsrc2.enablePrivateSegment, 1);
  return out;
}

/** How a kernel keeps its entry values. */
export interface EntryPlan {
  /** The lane of each value; 64-bit values take two. */
  readonly lanes: ReadonlyMap<EntryValue, number>;
  /** The last scalar register that holds something when a wave starts. */
  readonly lastSgpr: number;
  /** Switches on what is missing. */
  readonly change: (descriptor: KernelDescriptor) => void;
  /** Instructions at the kernel's start. */
  readonly lines: (register: number) => string[];
  /** Instructions that keep the values and move nothing: for the block before the start that firmware without preloading runs. */
  readonly early: (register: number) => string[];
  /** They stand at the entry; otherwise where hardware that preloads arguments begins. */
  readonly isAtEntry: boolean;
}

/**
 * Plans the values for a kernel; the reason as text when it cannot be done. Where preloaded arguments stand in the way, preloading is
 * switched off: then every wave runs the block that loads the arguments for firmware without it (`hasStub`).
 */
export function planEntry(
  descriptor: KernelDescriptor,
  wanted: readonly EntryValue[],
  hasStub: boolean,
): EntryPlan | string {
  const isPreloading = descriptor.preload.length > 0;
  const missing = wanted.some(
    (value) =>
      (value === 'kernarg' && descriptor.properties.enableSgprKernargSegmentPtr === 0) ||
      (value === 'dispatch' && descriptor.properties.enableSgprDispatchPtr === 0) ||
      (value === 'queue' && descriptor.properties.enableSgprQueuePtr === 0) ||
      (value === 'flat-scratch' && descriptor.properties.enableSgprFlatScratchInit === 0),
  );
  const switchesOff = isPreloading && missing;
  if (switchesOff && !hasStub)
    return 'its arguments are preloaded behind the place of what is missing, and nothing else loads them';
  const change = (d: KernelDescriptor): void => {
    if (switchesOff) {
      d.rsrc2.userSgprCount -= d.preload.length;
      d.preload.length = 0;
      d.preload.offset = 0;
    }
    for (const value of wanted) switchOn(d, value);
  };
  const next = structuredClone(descriptor);
  change(next);
  const { userSgprCount } = next.rsrc2;
  if (userSgprCount > MAX_USER_SGPRS) return 'all 16 registers that hold values at its start are taken';
  const [before, after] = [entryRegisters(descriptor), entryRegisters(next)];
  const lanes = new Map<EntryValue, number>();
  let lane = 0;
  for (const value of wanted) {
    if (value === 'flat-scratch') continue;
    lanes.set(value, lane);
    lane += value === 'kernarg' || value === 'dispatch' || value === 'queue' || value === 'start' ? 2 : 1;
  }
  const item = wanted.includes('work-item');
  const early = (register: number): string[] => {
    const out: string[] = [];
    for (const [value, at] of lanes) {
      if (value === 'start' || value === 'work-item') continue;
      const { first, count } = after.get(value) as { first: number; count: number };
      for (let i = 0; i < count; i++) out.push(`v_writelane_b32 v${register}, s${first + i}, ${at + i}`);
    }
    if (item)
      out.push(
        'v_readfirstlane_b32 vcc_lo, v0',
        's_nop 1',
        `v_writelane_b32 v${register}, vcc_lo, ${lanes.get('work-item')}`,
      );
    const start = lanes.get('start');
    // VCC holds nothing when a wave starts.
    if (start !== undefined) {
      out.push('s_memtime vcc', 's_waitcnt lgkmcnt(0)');
      out.push(`v_writelane_b32 v${register}, vcc_lo, ${start}`, `v_writelane_b32 v${register}, vcc_hi, ${start + 1}`);
    }
    if (wanted.includes('flat-scratch')) {
      const [init, offset] = [after.get('flat-scratch')?.first as number, after.get('scratch-offset')?.first];
      out.push(`s_add_u32 flat_scratch_lo, s${init}, s${offset}`, `s_addc_u32 flat_scratch_hi, s${init + 1}, 0`);
    }
    return out;
  };
  const lines = (register: number): string[] => {
    const out = early(register);
    // Both layouts have the same order. Values that stand too high go down, the lowest first; then those too low go up, the highest first.
    const moves = [...before].flatMap(([name, { first, count }]) => {
      const now = after.get(name);
      return now === undefined ? [] : Array.from({ length: count }, (_, i) => ({ to: first + i, from: now.first + i }));
    });
    const down = moves.filter(({ to, from }) => to < from);
    const up = moves.filter(({ to, from }) => to > from).reverse();
    for (const { to, from } of [...down, ...up]) out.push(`s_mov_b32 s${to}, s${from}`);
    // The axes that the kernel did not ask for are not there.
    const axes = descriptor.rsrc2.enableVgprWorkitemId;
    if (item && axes < 2) out.push(`v_and_b32_e32 v0, 0x${(2 ** (10 * (axes + 1)) - 1).toString(16)}, v0`);
    return out;
  };
  const lastSgpr = Math.max(-1, ...[...after.values()].map(({ first, count }) => first + count - 1));
  return { lanes, lastSgpr, change, lines, early, isAtEntry: !isPreloading || switchesOff };
}

function switchOn({ properties, rsrc2 }: KernelDescriptor, value: EntryValue): void {
  switch (value) {
    case 'kernarg':
      if (properties.enableSgprKernargSegmentPtr === 0) rsrc2.userSgprCount += 2;
      properties.enableSgprKernargSegmentPtr = 1;
      return;
    case 'dispatch':
      if (properties.enableSgprDispatchPtr === 0) rsrc2.userSgprCount += 2;
      properties.enableSgprDispatchPtr = 1;
      return;
    case 'queue':
      if (properties.enableSgprQueuePtr === 0) rsrc2.userSgprCount += 2;
      properties.enableSgprQueuePtr = 1;
      return;
    case 'flat-scratch':
      if (properties.enableSgprFlatScratchInit === 0) rsrc2.userSgprCount += 2;
      properties.enableSgprFlatScratchInit = 1;
      rsrc2.enablePrivateSegment = 1;
      return;
    case 'workgroup-x':
      rsrc2.enableSgprWorkgroupIdX = 1;
      return;
    case 'workgroup-y':
      rsrc2.enableSgprWorkgroupIdY = 1;
      return;
    case 'start':
      return;
    case 'work-item':
      rsrc2.enableVgprWorkitemId = 2;
      return;
    case 'workgroup-z':
      rsrc2.enableSgprWorkgroupIdZ = 1;
  }
}
