// The part of the profile document that the page shows. The document's own types live in profile/, below which this layer is.

export interface PageMeasure {
  readonly value?: number;
  readonly unknown?: string;
}

export interface PageRoof {
  readonly id: string;
  readonly label: string;
  readonly peak: PageMeasure;
  readonly source: string;
}

export interface PagePoint {
  readonly level: string;
  readonly bytes: PageMeasure;
  readonly intensity: PageMeasure;
  readonly bandwidth: PageMeasure;
  readonly ofPeak: PageMeasure;
}

export interface PageKernel {
  readonly id: number;
  readonly name: string;
  readonly symbol: string | null;
  readonly agent: string;
  readonly arch: string | null;
  readonly calls: number;
  readonly timed: number;
  readonly totalNs: PageMeasure;
  readonly meanNs: PageMeasure;
  readonly minNs: PageMeasure;
  readonly maxNs: PageMeasure;
  /** By busy cycles: an estimate. */
  readonly cyclesNs: PageMeasure;
  readonly variation: PageMeasure;
  readonly share: PageMeasure;
  readonly launches: readonly {
    readonly workgroup: readonly number[];
    readonly grid: readonly number[];
    readonly lds: number;
    readonly scratch: number;
    readonly vgpr: number;
    readonly agpr: number;
    readonly sgpr: number;
    readonly calls: number;
  }[];
  readonly counters: Readonly<Record<string, { readonly sum: number; readonly dispatches: number }>>;
  readonly metrics: Readonly<
    Record<
      string,
      {
        readonly label: string;
        readonly unit: string;
        readonly value: PageMeasure;
        readonly formula: string;
        readonly source: string;
        readonly dispatches: number;
      }
    >
  >;
  readonly roofline: {
    readonly flops: PageMeasure;
    readonly gflops: PageMeasure;
    readonly computeOfPeak: PageMeasure;
    readonly points: readonly PagePoint[];
    readonly boundBy: string | null;
    readonly headroom: PageMeasure;
    readonly leastNs: PageMeasure;
    readonly leastBy: string | null;
  };
  readonly occupancy: {
    readonly wavesPerCu: PageMeasure;
    readonly maxWavesPerCu: PageMeasure;
    readonly share: PageMeasure;
    readonly workgroupsPerCu: PageMeasure;
    readonly resident: PageMeasure;
    readonly limiter: string | null;
    readonly limits: readonly { readonly resource: string; readonly wavesPerCu: number }[];
  };
  readonly critical: {
    readonly onPath: number;
    readonly criticalNs: PageMeasure;
    readonly minSlackNs: PageMeasure;
    readonly gainIfTwiceAsFastNs: PageMeasure;
  };
  readonly bottleneck: {
    readonly classes: readonly {
      readonly class: string;
      readonly confidence: number;
      readonly headroom: PageMeasure;
      readonly refutedBy: readonly {
        readonly metric: string;
        readonly value: number | null;
        readonly threshold: number;
        readonly comparison: string;
        readonly formula: string;
      }[];
      readonly evidence: readonly {
        readonly metric: string;
        readonly value: number;
        readonly threshold: number;
        readonly comparison: string;
        readonly formula: string;
        readonly source: string;
      }[];
    }[];
    readonly undecided: readonly { readonly class: string; readonly reason: string }[];
  };
  readonly reported: readonly {
    readonly table: string;
    readonly id: string;
    readonly metric: string;
    readonly unit: string;
    readonly statistic: string;
    readonly value: number;
  }[];
}

export interface PageTrace {
  readonly source: string;
  readonly kind: string;
  readonly hits: number;
  readonly stallShare: PageMeasure;
  readonly idleShare: PageMeasure;
  readonly issueUtilisation: PageMeasure;
  readonly loadToUse: PageMeasure;
  readonly classes: readonly {
    readonly class: string;
    readonly hits: number;
    readonly latency: number;
    readonly stall: number;
    readonly idle: number;
  }[];
  readonly lines: readonly {
    readonly text: string;
    readonly class: string;
    readonly address: number;
    readonly source: string;
    readonly kernel: string | null;
    readonly hits: number;
    readonly latency: number;
    readonly stall: number;
    readonly idle: number;
    readonly samples: number | null;
    readonly meanLanes?: number | null;
    readonly sourceText: string | null;
  }[];
  readonly residency: readonly (readonly [number, number])[];
  readonly waves: readonly {
    readonly shaderEngine: number;
    readonly cu: number;
    readonly simd: number;
    readonly slot: number;
    readonly begin: number;
    readonly end: number;
    readonly instructions: number;
    readonly timeline: readonly (readonly [string, number])[];
    readonly executed?: readonly (readonly [number, number, number, number])[];
  }[];
  readonly omittedWaves: number;
  readonly waveStates: readonly {
    readonly state: string;
    readonly points: readonly (readonly [number, number])[];
  }[];
  readonly otherSimd: readonly { readonly category: string; readonly instructions: number; readonly cycles: number }[];
}

/** All work in few bytes: see `PackedWork` of the profile layer. */
export interface PageWork {
  readonly count: number;
  readonly origin: number;
  readonly lanes: readonly { readonly name: string; readonly kind: string; readonly until?: number }[];
  readonly symbols: readonly string[];
  readonly omittedCalls: number;
  readonly data: string;
}

export interface PageData {
  readonly work?: Omit<PageWork, 'data'>;
  readonly schema: string;
  readonly version: string;
  readonly simulated: boolean;
  readonly modelledChip: string | null;
  readonly answer: {
    readonly command: string | null;
    readonly host: string | null;
    readonly machines: readonly string[];
    readonly date: string | null;
    readonly spanNs: PageMeasure;
    readonly idleNs: PageMeasure;
    readonly copyNs: PageMeasure;
    readonly kernels: readonly {
      readonly id: number;
      readonly name: string;
      readonly agent: string;
      readonly share: PageMeasure;
      readonly totalNs: PageMeasure;
    }[];
    readonly changes: readonly {
      readonly title: string;
      readonly kernel: number | null;
      readonly worthNs: PageMeasure;
      readonly worthShare: PageMeasure;
      readonly confidence: number;
      readonly evidence: readonly string[];
    }[];
    readonly whyNoChange: string | null;
  };
  readonly sources: readonly { readonly path: string; readonly format: string }[];
  readonly findings: readonly {
    readonly code: string;
    readonly severity: string;
    readonly message: string;
    readonly file: string;
    readonly count: number;
  }[];
  readonly agents: readonly { readonly key: string; readonly name: string | null; readonly arch: string | null }[];
  readonly kernels: readonly PageKernel[];
  readonly dispatches: {
    readonly total: number;
    readonly timed: number;
    readonly shown: readonly {
      readonly id: number;
      readonly kernel: number;
      readonly queue: string;
      readonly startNs: PageMeasure;
      readonly durationNs: PageMeasure;
      readonly points: readonly {
        readonly level: string;
        readonly intensity: PageMeasure;
        readonly gflops: PageMeasure;
      }[];
      readonly simulated: {
        readonly instructions: number;
        readonly wavefronts: number;
        readonly hostMs: number;
      } | null;
    }[];
    readonly tracks: readonly {
      readonly name: string;
      readonly unit: string;
      readonly points: readonly (readonly [number, number, number])[];
    }[];
  };
  readonly roofline: {
    readonly ceilings: readonly {
      readonly agent: string;
      readonly kind: string;
      readonly bandwidths: readonly PageRoof[];
      readonly rates: readonly PageRoof[];
    }[];
  };
  readonly criticalPath: {
    readonly spanNs: PageMeasure;
    readonly lengthNs: PageMeasure;
    readonly busyNs: PageMeasure;
    readonly gapNs: PageMeasure;
    readonly overlapNs: PageMeasure;
    readonly nodes: number;
    readonly pathNodes: number;
    readonly edges: { readonly queueOrder: number; readonly recorded: number; readonly inferred: number };
    readonly density: readonly { readonly lane: string; readonly busy: readonly number[] }[];
    readonly timeline: readonly {
      readonly symbol: string;
      readonly kind: string;
      readonly lane: string;
      readonly start: number;
      readonly duration: number;
      readonly critical: boolean;
      readonly slack: number;
      readonly node: number;
      readonly after: number;
      readonly inferredAfter: number;
    }[];
  };
  readonly dependencyPath: {
    readonly length: number;
    readonly work: number;
    readonly nodes: number;
    readonly edges: { readonly queueOrder: number; readonly recorded: number };
    readonly timeline: readonly {
      readonly symbol: string;
      readonly lane: string;
      readonly start: number;
      readonly length: number;
      readonly critical: boolean;
      readonly slack: number;
    }[];
  } | null;
  readonly traces: readonly PageTrace[];
  readonly samples: readonly {
    readonly kernel: string | null;
    readonly instruction: string;
    readonly source: string;
    readonly samples: number;
    readonly issued: number;
    readonly meanLanes: number | null;
    readonly stallReasons: Readonly<Record<string, number>>;
  }[];
  readonly calls: readonly {
    readonly domain: string;
    readonly name: string;
    readonly calls: number;
    readonly totalNs: number;
    readonly maxNs: number;
  }[];
  readonly omitted: {
    readonly kernels: number;
    readonly dispatches: number;
    readonly kernelNs: number;
    readonly functions: number;
    readonly calls: number;
    readonly callNs: number;
  };
}
