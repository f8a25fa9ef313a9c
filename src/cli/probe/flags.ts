// The flags of `wavesmith probe`.
import type { SamplingFlags } from './sampling.ts';

/** Flags that are about programs and run lines. */
export interface ProgramFlags extends SamplingFlags {
  readonly device: string;
  readonly dispatch?: string;
  readonly json?: boolean;
  readonly listing?: boolean;
  readonly requireAll?: boolean;
  readonly growth: boolean;
  readonly cache: boolean;
  readonly export?: string;
  readonly selfCheck?: boolean;
  readonly html?: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** All flags. */
export interface ProbeFlags extends ProgramFlags {
  readonly tool?: string;
  readonly kernel?: string;
  readonly output?: string;
  readonly object?: string;
  readonly list?: boolean;
  readonly new?: string;
  readonly selfCheck?: boolean;
}
