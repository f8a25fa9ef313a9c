// Profiles with more kernels and more calls than are described one by one: nothing is lost from the sums.
import { describe, expect, test } from 'vitest';
import { analyse, analyseAll, isKnown, Recording, Timing } from '../src/profile/index.ts';
import { addCall } from '../src/profile/readers/api-calls.ts';

/** A recording of `n` kernels, of which kernel i runs once for i + 1 ns. */
function manyKernels(n: number, isTimed = true): Recording {
  const r = new Recording();
  const agent = r.agentKeys.id('Agent 2');
  for (let i = 0; i < n; i++) {
    const kernel = r.kernelId(`kernel_${i}`);
    const size = { workgroup: [64, 1, 1], grid: [64, 1, 1] } as const;
    const config = r.configId({ ...size, lds: 0, scratch: 0, vgpr: 8, agpr: 0, sgpr: 8 });
    const launch = { process: 0, kernel, agent, queue: r.queues.id('q'), stream: -1, config };
    const state = isTimed ? Timing.KNOWN : Timing.ABSENT;
    r.dispatches.add(launch, {
      start: 2 * n * i,
      end: 2 * n * i + i + 1,
      state,
      domain: 0,
      dispatchId: i,
      correlation: i,
    });
  }
  return r;
}

describe('more kernels than are described', () => {
  const n = 1200;
  const document = analyse(manyKernels(n));

  test('those of most time are described, the others are summed, and a finding says so', () => {
    expect(document.kernels.length).toBe(1000);
    expect(document.kernels[0].name).toBe(`kernel_${n - 1}`);
    expect(document.kernels.at(-1)?.name).toBe('kernel_200');
    expect(document.omitted).toMatchObject({ kernels: 200, dispatches: 200, kernelNs: (200 * 201) / 2 });
    expect(document.findings.map(({ code }) => code)).toContain('profile/many-kernels');
  });

  test('shares are of the time of all kernels', () => {
    const shares = document.kernels.map(({ share }) => (isKnown(share) ? share.value : 0));
    const sum = shares.reduce((a, b) => a + b, 0);
    expect(sum).toBeCloseTo(1 - (200 * 201) / (n * (n + 1)), 10);
  });

  test('a dispatch of a kernel that is not described refers to none', () => {
    const kernels = document.dispatches.shown.map(({ kernel }) => kernel);
    expect(kernels.filter((kernel) => kernel === -1).length).toBe(200);
    expect(Math.max(...kernels)).toBe(999);
  });

  test('without times the kernels are those of most calls, the first of equal ones', () => {
    const untimed = analyse(manyKernels(n, false));
    expect(untimed.kernels.length).toBe(1000);
    expect(untimed.kernels.every(({ totalNs }) => !isKnown(totalNs))).toBe(true);
    expect(untimed.omitted).toMatchObject({ kernels: 200, dispatches: 200, kernelNs: 0 });
  });
});

const KNOWN = { state: Timing.KNOWN, clock: 0, process: 0, thread: -1, correlation: -1 };

test('markers are on the timeline, however many API calls are recorded before them', () => {
  const r = new Recording();
  const time = { ...KNOWN, start: 10, end: 15 };
  for (let i = 0; i < 200_500; i++) addCall(r, 'HIP_RUNTIME_API', 'hipLaunchKernel', time);
  for (let i = 0; i < 3; i++) addCall(r, 'MARKER_CORE_API', `step ${i}`, time);
  expect(r.callSpans.length).toBe(200_003);
  expect(r.callSpans.omitted).toBe(500);
  expect(r.callNames.get(r.callSpans.name.get(200_002))).toBe('step 2');
});

test('more functions than are listed: those of most time are, the others are summed', () => {
  const r = manyKernels(1);
  for (let i = 0; i < 2500; i++) addCall(r, 'MARKER_CORE_API', `step ${i}`, { ...KNOWN, start: 0, end: i + 1 });
  addCall(r, 'MARKER_CORE_API', 'step 0', { ...KNOWN, start: 0, end: 0, state: Timing.ABSENT });
  const { calls, omitted } = analyse(r);
  expect(calls.length).toBe(2000);
  expect(calls[0]).toMatchObject({ name: 'step 2499', calls: 1, totalNs: 2500, minNs: 2500, maxNs: 2500 });
  expect(omitted).toMatchObject({ functions: 500, calls: 501, callNs: (500 * 501) / 2 });
});

test('the lane of calls that are only in the sums says where what is drawn ends', () => {
  const r = manyKernels(1);
  for (let i = 0; i < 200_500; i++)
    addCall(r, 'HIP_RUNTIME_API', 'hipLaunchKernel', { ...KNOWN, start: i, end: i + 1 });
  addCall(r, 'MARKER_CORE_API', 'step', { ...KNOWN, start: 7, end: 8 });
  const lanes = analyseAll(r).work?.lanes.filter(({ kind }) => kind === 'call');
  expect(lanes).toEqual([
    { name: 'HIP_RUNTIME_API', kind: 'call', until: 200_000 },
    { name: 'MARKER_CORE_API', kind: 'call' },
  ]);
});
