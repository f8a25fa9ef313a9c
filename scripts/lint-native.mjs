// native/: its format (clang-format, every difference an error) and what clang-tidy finds (native/.clang-tidy, every finding an error), both of
// LLVM 22. `npm run setup` installs them; without one its step says so and passes. clang-tidy also needs the native build's
// compile_commands.json. A file that was clean is looked at again only when it, a header or the configuration has changed.
// `--format` (what `npm test` runs) leaves clang-tidy out: the first look at all files takes minutes.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folders = ['addon', 'common', 'comgr', 'hip', 'hiprtc', 'hsa', 'launcher', 'tool'];
const files = folders.flatMap((folder) =>
  readdirSync(join(root, 'native', folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(cc|h)$/.test(name))
    .sort()
    .map((name) => join(root, 'native', folder, name)),
);
const findTool = (name) => [`/usr/lib/llvm-22/bin/${name}`, `/usr/bin/${name}-22`].find((path) => existsSync(path));

function checkFormat() {
  const tool = findTool('clang-format');
  if (tool === undefined) {
    console.log(
      "native format: skipped, clang-format 22 is absent ('npm run setup' installs Debian's clang-format-22)",
    );
    return true;
  }
  const { status } = spawnSync(tool, ['--dry-run', '-Werror', ...files], { cwd: root, stdio: 'inherit' });
  console.log(`native format: ${files.length} files${status === 0 ? '' : ', differences (clang-format-22 -i FILE…)'}`);
  return status === 0;
}

/** Runs one clang-tidy; resolves to its report, empty when the file is clean. */
function tidy(tool, build, file) {
  return new Promise((resolve) => {
    const child = spawn(tool, ['-p', build, '--quiet', file], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let [text, problems] = ['', ''];
    child.stdout.on('data', (chunk) => (text += chunk));
    child.stderr.on('data', (chunk) => (problems += chunk));
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code) => resolve(code === 0 ? '' : text || problems));
  });
}

async function checkTidy() {
  const tool = findTool('clang-tidy');
  const build = join(root, 'native', 'build');
  const commands = join(build, 'compile_commands.json');
  if (tool === undefined) {
    console.log(
      "native clang-tidy: skipped, clang-tidy 22 is absent ('npm run setup' installs Debian's clang-tidy-22)",
    );
    return true;
  }
  if (!existsSync(commands)) {
    console.log("native clang-tidy: skipped, there is no native build ('npm run setup' makes it)");
    return true;
  }
  // Generated sources are in the build's folder: their generator is what is looked at.
  const compiled = new Set(JSON.parse(readFileSync(commands, 'utf8')).map((entry) => entry.file));
  const sources = files.filter((file) => compiled.has(file));
  const common = createHash('sha256');
  for (const file of [join(root, 'native', '.clang-tidy'), ...files.filter((name) => name.endsWith('.h'))]) {
    common.update(readFileSync(file));
  }
  const shared = common.digest('hex');
  const keyOf = (file) => createHash('sha256').update(shared).update(readFileSync(file)).digest('hex');
  const stamp = join(build, '.wavesmith-tidy.json');
  const clean = existsSync(stamp) ? JSON.parse(readFileSync(stamp, 'utf8')) : {};
  const left = sources.filter((file) => clean[relative(root, file)] !== keyOf(file));
  let failed = 0;
  const work = async () => {
    for (let file = left.shift(); file !== undefined; file = left.shift()) {
      const report = await tidy(tool, build, file);
      if (report === '') {
        clean[relative(root, file)] = keyOf(file);
        writeFileSync(stamp, JSON.stringify(clean));
        if (process.stdout.isTTY) process.stdout.write(`native clang-tidy: ${left.length} files left \r`);
        continue;
      }
      failed++;
      process.stdout.write(`${report}\n`);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  console.log(`native clang-tidy: ${sources.length} files${failed === 0 ? '' : `, ${failed} with findings`}`);
  return failed === 0;
}

const isFormatted = checkFormat();
const isClean = process.argv.includes('--format') || (await checkTidy());
process.exitCode = isClean && isFormatted ? 0 : 1;
