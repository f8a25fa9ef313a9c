// The format of native/: clang-format of LLVM 22 with .clang-format, every difference an error. `npm run setup` installs it; without it the step
// says so and passes.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tool = ['/usr/lib/llvm-22/bin/clang-format', '/usr/bin/clang-format-22'].find((path) => existsSync(path));
if (tool === undefined) {
  console.log('native format: skipped, clang-format 22 is absent (Debian: clang-format-22)');
} else {
  const folders = ['addon', 'common', 'hip', 'hiprtc', 'hsa', 'launcher'];
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, 'native', folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(cc|h)$/.test(name))
      .map((name) => join(root, 'native', folder, name)),
  );
  const { status } = spawnSync(tool, ['--dry-run', '-Werror', ...files], { cwd: root, stdio: 'inherit' });
  console.log(`native format: ${files.length} files${status === 0 ? '' : ', differences (clang-format-22 -i FILE…)'}`);
  process.exitCode = status ?? 1;
}
