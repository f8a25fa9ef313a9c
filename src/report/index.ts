// Room `report`: one self-contained HTML page from the JSON of a command.
// Begin with profile-page.ts; the functions in client/ are written into the page. probe-page.ts is the page of `wavesmith probe`.
export { type ProbePageCode, probePage } from './probe-page.ts';
export { comparisonPage, profilePage, profilePagePieces } from './profile-page.ts';
