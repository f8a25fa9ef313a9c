// Room `optimize/model`: a language model that proposes changes. It sees what an expert would look at and answers with tool calls; what a change
// is worth is found out by the ladder alone. Begin with this file (the work), then conversation.ts (the talk), provider.ts, wire.ts, recording.ts.
import { applyPatch } from 'diff';

/** A change that a model proposes. */
export type Proposal =
  | { readonly kind: 'edits'; readonly edits: readonly TextEdit[]; readonly reason: string }
  | { readonly kind: 'patch'; readonly patch: string; readonly reason: string }
  | { readonly kind: 'moves'; readonly moves: readonly number[]; readonly reason: string };

/** Text that stands once in what is edited, and what is put in its place. */
export interface TextEdit {
  readonly find: string;
  readonly replace: string;
}

/** What became of a proposal. */
export interface Judgement {
  readonly isKept: boolean;
  /** For the model: the rung that rejects with its evidence, or what is gained. */
  readonly words: string;
}

/** What a conversation works on. */
export interface Workshop {
  /** What is edited, in the tools' descriptions: `the assembly text of the kernel`. */
  readonly what: string;
  /** Rules of the work, for the model. */
  readonly rules: string;
  /** Whether there are typed moves to choose from. */
  readonly hasMoves: boolean;
  /** Everything that the model should know at the beginning. Depends on the work alone. */
  briefing(): Promise<string>;
  /** Tries a proposal on the best so far. Never throws for what the proposal is. */
  judge(proposal: Proposal): Promise<Judgement>;
}

/** Annotations that briefings put behind lines; a model may copy them into its edits. */
const ANNOTATION = /[ \t]*(?:;@|\/\/@).*$/gm;

/** A text without annotations. */
export const withoutAnnotations = (text: string): string => text.replace(ANNOTATION, '');

/** A text with edits; a string says why there is none. */
export function withEdits(
  text: string,
  edits: readonly TextEdit[],
): { readonly text: string } | { readonly problem: string } {
  let edited = text;
  for (const [n, edit] of edits.entries()) {
    const find = withoutAnnotations(edit.find);
    const at = edited.indexOf(find);
    const which = `Edit ${n + 1}: the text to find`;
    if (find === '') return { problem: `${which} is empty.` };
    if (at < 0) return { problem: `${which} is not there. It must be copied exactly, white space included.` };
    if (edited.indexOf(find, at + 1) >= 0) return { problem: `${which} is there more than once. Add lines around it.` };
    edited = edited.slice(0, at) + withoutAnnotations(edit.replace) + edited.slice(at + find.length);
  }
  return { text: edited };
}

/** A text with a patch. */
export function patched(text: string, patch: string): { readonly text: string } | { readonly problem: string } {
  if (!/^@@ /m.test(patch)) return { problem: 'The patch is no unified diff.' };
  try {
    const next = applyPatch(text, withoutAnnotations(patch), { fuzzFactor: 0 });
    return next === false ? { problem: 'The patch does not fit the text.' } : { text: next };
  } catch (error) {
    return { problem: `The patch cannot be read: ${(error as Error).message}.` };
  }
}
