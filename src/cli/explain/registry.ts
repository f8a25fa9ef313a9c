// Room `cli/explain`: every error code with its cause and what to do next. `wavesmith explain` prints it, tools/gen-errors makes the
// pages of docs/errors/ from it, and tests/error-codes.test.ts holds that every code of the sources is here.
// Begin with types.ts and this file; the codes are in the other files, by area.
import { closeMatches } from '../../isa/table/suggest.ts';
import { CAPTURE_ERRORS } from './capture.ts';
import { FILES_ERRORS } from './files.ts';
import { IREE_ERRORS } from './iree.ts';
import { OPTIMIZE_ERRORS } from './optimize.ts';
import { PROBE_ERRORS } from './probe.ts';
import { PROFILE_ERRORS } from './profile.ts';
import { REWRITE_ERRORS } from './rewrite.ts';
import { RUN_ERRORS } from './run.ts';
import { TEXT_ERRORS } from './text.ts';
import type { ErrorPage, ErrorPages } from './types.ts';

/** All codes. */
export const ERRORS: ErrorPages = {
  ...FILES_ERRORS,
  ...TEXT_ERRORS,
  ...RUN_ERRORS,
  ...CAPTURE_ERRORS,
  ...IREE_ERRORS,
  ...OPTIMIZE_ERRORS,
  ...PROFILE_ERRORS,
  ...PROBE_ERRORS,
  ...REWRITE_ERRORS,
};

/** The page of a code as Markdown, without the last line break. */
export function errorPage(code: string, [cause, next]: ErrorPage): string {
  return `# ${code}\n\n## Cause\n\n${cause}\n\n## What to do next\n\n${next}`;
}

/** The codes closest to a word: misspelt ones, those of the same name in another area, those that contain it, those of its area. */
export function codesLike(text: string): string[] {
  const word = text.toLowerCase().slice(0, 80);
  const [area = '', name = ''] = word.split('/');
  const codes = Object.keys(ERRORS);
  return [
    ...new Set([
      ...closeMatches(word, codes, 4),
      ...codes.filter((code) => name !== '' && code.endsWith(`/${name}`)),
      ...codes.filter((code) => code.includes(name === '' ? area : name)),
      ...codes.filter((code) => code.startsWith(`${area}/`)),
    ]),
  ];
}
