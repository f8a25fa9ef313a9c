// The launch of a kernel as a profiler recorded it.

export interface LaunchEntry {
  /** -1 marks what was not recorded. */
  readonly workgroup: readonly number[];
  readonly grid: readonly number[];
  readonly lds: number;
  readonly scratch: number;
  readonly vgpr: number;
  readonly agpr: number;
  readonly sgpr: number;
  readonly calls: number;
}
