// One self-contained HTML page out of a profile document. The page's functions are written in as text, the document as JSON
// that no name in it can break out of, and a content security policy admits exactly this code and this style.
import { createHash } from 'node:crypto';
import { jsonPieces } from '../base/index.ts';
import { answerView } from './client/answer.ts';
import { blockCharts, metricTables } from './client/blocks.ts';
import { comparisonView, startComparison } from './client/comparison.ts';
import { kernelPage, kernelTable } from './client/kernels.ts';
import { instructionListing, sourceLines } from './client/listing.ts';
import { startPage } from './client/page.ts';
import { rooflineView } from './client/roofline.ts';
import { timelineView } from './client/timeline.ts';
import { traceView } from './client/traces.ts';
import { counterTracks } from './client/tracks.ts';
import { createUi } from './client/ui.ts';
import { waveInstructions } from './client/wave.ts';
import { openWork } from './client/work.ts';
import type { PageWork } from './page-data.ts';
import { STYLE } from './style.ts';

const PARTS = {
  createUi,
  answerView,
  rooflineView,
  openWork,
  timelineView,
  counterTracks,
  kernelTable,
  kernelPage,
  blockCharts,
  metricTables,
  traceView,
  waveInstructions,
  instructionListing,
  sourceLines,
};

/** JSON that is safe inside a script element: no `<`, no line separators. */
export function embedJson(value: unknown): string {
  return embedText(JSON.stringify(value));
}

function embedText(json: string): string {
  return json
    .replaceAll('<', '\\u003c')
    .replaceAll('>', '\\u003e')
    .replaceAll('&', '\\u0026')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
}

function sha256(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** A page of the parts: each as a function expression, then `start` with all of them. */
function* htmlPage(
  title: string,
  parts: Readonly<Record<string, unknown>>,
  start: unknown,
  data: object,
  base64 = '',
): Generator<string> {
  const texts = Object.entries(parts).map(([name, part]) => `${JSON.stringify(name)}: ${String(part)}`);
  const script = `'use strict';(${String(start)})({${texts.join(',\n')}});`;
  const policy = `default-src 'none'; script-src ${sha256(script)}; style-src ${sha256(STYLE)}; style-src-attr 'none'; base-uri 'none'; form-action 'none'`;
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header id="head"><h1>${title}</h1></header>
<main id="main" tabindex="-1"></main>
<script type="application/json" id="data">`;
  for (const piece of jsonPieces(data)) yield embedText(piece);
  yield '</script>\n<script type="application/octet-stream" id="bytes">';
  yield base64;
  yield `</script>
<script>${script}</script>
</body>
</html>
`;
}

/** The HTML page of a profile document. With `work`, its timeline shows every piece of work when one looks close enough. */
export function profilePage(document: object, work?: PageWork): string {
  return [...profilePagePieces(document, work)].join('');
}

/** The text of `profilePage` in pieces: pages of a thousand kernels are tens of megabytes. */
export function profilePagePieces(document: object, work?: PageWork): Generator<string> {
  // The long text is not JSON: it needs no escapes, and no copies of it are made.
  const { data = '', ...rest } = work ?? {};
  return htmlPage('Profile', PARTS, startPage, work === undefined ? document : { ...document, work: rest }, data);
}

/** The HTML page of the comparison of two profiles, which are called as `names` says. */
export function comparisonPage(diff: object, names: readonly [string, string]): string {
  return [...htmlPage('Two profiles', { createUi, comparisonView }, startComparison, { ...diff, names })].join('');
}
