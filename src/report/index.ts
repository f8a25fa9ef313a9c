// Room `report`: one self-contained HTML page from the JSON of a command.
// Begin with profile-page.ts; the functions in client/ are written into the page.
export { comparisonPage, profilePage } from './profile-page.ts';
