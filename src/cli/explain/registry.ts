// Room `cli/explain`: every error code with its cause and what to do next. `wavesmith explain` prints it, tools/gen-errors makes the
// pages of docs/errors/ from it, and tests/error-codes.test.ts holds that every code of the sources is here.
// Begin with types.ts and this file; the codes are in files.ts, text.ts, run.ts, iree.ts and profile.ts, by area.
import { FILES_ERRORS } from './files.ts';
import { IREE_ERRORS } from './iree.ts';
import { PROFILE_ERRORS } from './profile.ts';
import { RUN_ERRORS } from './run.ts';
import { TEXT_ERRORS } from './text.ts';
import type { ErrorPage, ErrorPages } from './types.ts';

/** All codes. */
export const ERRORS: ErrorPages = {
  ...FILES_ERRORS,
  ...TEXT_ERRORS,
  ...RUN_ERRORS,
  ...IREE_ERRORS,
  ...PROFILE_ERRORS,
};

/** The page of a code as Markdown, without the last line break. */
export function errorPage(code: string, [cause, next]: ErrorPage): string {
  return `# ${code}\n\n## Cause\n\n${cause}\n\n## What to do next\n\n${next}`;
}

/** The codes closest to a word: those of its area, or those that contain it. */
export function codesLike(text: string): string[] {
  const [area = '', name = ''] = text.toLowerCase().split('/');
  const codes = Object.keys(ERRORS);
  const sameName = name === '' ? [] : codes.filter((code) => code.endsWith(`/${name}`));
  const sameArea = codes.filter((code) => code.startsWith(`${area}/`));
  const containing = codes.filter((code) => code.includes(name === '' ? area : name));
  return [...new Set([...sameName, ...containing, ...sameArea])];
}
