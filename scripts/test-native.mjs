// `npm run test:native [-- --sanitize address|undefined] [FILES…]`: the tests of the native libraries, with a sanitizer when asked.
// A sanitizer's build is native/build-address or native/build-undefined; programs, libraries and addon all have it.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const args = process.argv.slice(2);
const at = args.indexOf('--sanitize');
const sanitizer = at < 0 ? undefined : args.splice(at, 2)[1];
if (at >= 0 && sanitizer !== 'address' && sanitizer !== 'undefined') {
  console.error('test:native: --sanitize takes address or undefined.');
  process.exit(2);
}

function run(command, argv, env = process.env) {
  const { status, error } = spawnSync(command, argv, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], env });
  if (error !== undefined) console.error(error.message);
  if (status !== 0) process.exit(status ?? 1);
}

/** Where the compiler has a run-time library, for programs that were not built with the sanitizer. */
const runtimeLibrary = (name) => spawnSync('c++', [`-print-file-name=${name}`], { encoding: 'utf8' }).stdout.trim();

const files = args.length > 0 ? args : ['tests/native-', 'tests/hip-', 'src/runtime'];
const env = { ...process.env };
if (sanitizer !== undefined) {
  const build = join(root, 'native', `build-${sanitizer}`);
  const headers = join(root, 'node_modules', 'node-api-headers', 'include');
  const settings = [
    `-DWAVESMITH_SANITIZE=${sanitizer}`,
    `-DWAVESMITH_NODE_INCLUDE=${headers}`,
    '-DCMAKE_BUILD_TYPE=RelWithDebInfo',
  ];
  run('cmake', ['-S', join(root, 'native'), '-B', build, ...settings]);
  const target = files.some((file) => file.includes('hip')) ? [] : ['--target', 'native-tests'];
  run('cmake', ['--build', build, '--parallel', '2', ...target]);
  env.WAVESMITH_NATIVE = build;
  env.WAVESMITH_SANITIZER = sanitizer;
  if (sanitizer === 'address') {
    env.WAVESMITH_PRELOAD = runtimeLibrary('libasan.so');
    // Node's own handler of memory faults must stay; what lives until a process ends is no leak here.
    env.ASAN_OPTIONS =
      'detect_leaks=0:allow_user_segv_handler=1:handle_segv=0:halt_on_error=1:abort_on_error=0:exitcode=99';
  } else {
    env.UBSAN_OPTIONS = 'halt_on_error=1:print_stacktrace=1:exitcode=99';
  }
}
run(join(root, 'node_modules/.bin/vitest'), ['run', ...files], env);
