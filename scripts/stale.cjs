// Whether dist/ is older than a source. Every command in a checkout asks, so this loads nothing else.
const { readdirSync, statSync } = require('node:fs');
const { dirname, join } = require('node:path');

const root = dirname(__dirname);

/** Written by scripts/build.mjs with the time at which a build began. */
const stamp = join(root, 'dist', '.built');

/** Newest modification time (ms) of any file below `folder`. */
function newest(folder) {
  let latest = statSync(folder).mtimeMs;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    latest = Math.max(latest, entry.isDirectory() ? newest(path) : statSync(path).mtimeMs);
  }
  return latest;
}

/** True when dist/ is missing or older than a source. */
function isStale() {
  const built = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return newest(join(root, 'src')) > built || statSync(join(root, 'package.json')).mtimeMs > built;
}

module.exports = { isStale, stamp };
