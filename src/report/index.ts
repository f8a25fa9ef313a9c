// Self-contained HTML pages from the JSON of commands.
export { profilePage } from './profile-page.ts';
