// Where a finding is: an instruction, a directive, a key of the metadata, and the source line that it was made from.

/** A line of a source file; lines and columns from 1, columns in UTF-16 units, `endColumn` behind the last one. */
export interface SourcePlace {
  readonly file: string;
  readonly line: number;
  readonly column?: number | undefined;
  readonly endLine?: number | undefined;
  readonly endColumn?: number | undefined;
}

/** What a finding is about. All absent: the kernel, or the whole file. */
export interface Place {
  /** Address of the instruction in the code object. */
  readonly pc?: number | undefined;
  /** Its text. */
  readonly instruction?: string | undefined;
  /** A directive of the kernel's `.amdhsa_kernel` block, or of the file: `.amdhsa_next_free_vgpr`. */
  readonly directive?: string | undefined;
  /** A key of the kernel's metadata: `.vgpr_count`. */
  readonly metadata?: string | undefined;
  /** The file, of findings about what was read. */
  readonly file?: string | undefined;
  /** The line that it was made from, where a line table or the assembler knows. */
  readonly source?: SourcePlace | undefined;
  /** Where that line's function was inlined, the innermost call first. */
  readonly inlinedAt?: readonly SourcePlace[] | undefined;
}

/** Another place that a finding cannot be understood without. */
export interface RelatedPlace {
  /** What it has to do with the finding: `writes the register`, `in the baseline`. */
  readonly role: string;
  readonly place: Place;
  /** Who executed it, in findings of a run. */
  readonly workgroup?: readonly [number, number, number] | undefined;
  readonly wavefront?: number | undefined;
}
