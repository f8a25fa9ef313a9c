// Installs what a fresh machine lacks: npm packages, Debian's LLVM 22 (test oracle), Chromium (tests of pages) and
// Redis (tests of queues), IREE in a Python
// environment of this checkout, builds the native libraries and makes what clang needs to compile HIP programs (tests).
// Plain Node, no dependency. Does nothing, in well under a second, when everything is there.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const venv = join(root, '.wavesmith', 'venv');
const requirements = join(root, 'scripts', 'requirements.txt');
const llvmFolder = '/usr/lib/llvm-22/bin';
/** Programs of LLVM 22 and the Debian package that has each. */
const llvmPrograms = [
  ['clang', 'clang-22'],
  ['clang-offload-bundler', 'clang-tools-22'],
  ['clang-format', 'clang-format-22'],
  ['clang-tidy', 'clang-tidy-22'],
  ['ld.lld', 'lld-22'],
  ['llvm-mc', 'llvm-22'],
  ['llvm-objdump', 'llvm-22'],
  ['llvm-readelf', 'llvm-22'],
  ['FileCheck', 'llvm-22-tools'],
  ['mlir-opt', 'mlir-22-tools'],
];
const noInstall = process.env.WAVESMITH_NO_INSTALL === '1';

const say = (text) => process.stdout.write(`setup: ${text}\n`);

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const onPath = (name) =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find(isExecutable);

function readText(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Runs a program quietly; its output is shown only when it fails. Returns an explanation of the failure or undefined. */
function attempt(command, args, options = {}) {
  const run = spawnSync(command, args, { cwd: root, encoding: 'utf8', maxBuffer: 256 << 20, ...options });
  if (run.status === 0) return undefined;
  const lines = `${run.stdout ?? ''}${run.stderr ?? ''}`.trim().split('\n');
  const output = lines.length <= 16 ? lines : [...lines.slice(0, 8), '…', ...lines.slice(-7)];
  const why = run.error ? run.error.message : run.signal ? `ended by ${run.signal}` : `exit code ${run.status}`;
  return [`'${[command, ...args].join(' ')}' failed (${why})`, ...output.map((line) => `  | ${line}`)].join('\n');
}

/** True when node_modules holds exactly the versions of package-lock.json. */
export function npmIsCurrent() {
  const wanted = readText(join(root, 'package-lock.json'));
  const present = readText(join(root, 'node_modules', '.package-lock.json'));
  if (wanted === undefined || present === undefined) return false;
  const installed = JSON.parse(present).packages ?? {};
  return Object.entries(JSON.parse(wanted).packages ?? {}).every(
    ([path, entry]) =>
      path === '' ||
      (installed[path] === undefined ? entry.optional === true : installed[path].version === entry.version),
  );
}

function ensureNpm() {
  if (npmIsCurrent()) return { ok: true, changed: false, detail: 'npm packages match package-lock.json' };
  if (noInstall) return { ok: false, changed: false, detail: 'npm packages are missing and WAVESMITH_NO_INSTALL=1' };
  say('installing npm packages (npm ci)…');
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts'];
  // `npm ci` refuses a lock file that a registry with fewer platform packages wrote; `npm install` then follows it as far as it goes.
  const refused = attempt('npm', ['ci', ...quiet]);
  const failure = refused && attempt('npm', ['install', '--no-save', ...quiet]);
  return failure === undefined
    ? { ok: true, changed: true, detail: 'npm packages installed' }
    : { ok: false, changed: true, detail: failure };
}

/** Programs of LLVM 22 that are in neither the Debian folder nor, as `NAME-22`, on PATH. */
export function missingLlvm() {
  return llvmPrograms.filter(([name]) => !isExecutable(join(llvmFolder, name)) && onPath(`${name}-22`) === undefined);
}

/** Runs apt-get as root or through sudo. Returns an explanation of the failure or undefined. */
function aptGet(args) {
  if (onPath('apt-get') === undefined) return 'this system has no apt-get (the packages named here are Debian 12’s)';
  const command = ['apt-get', '-qq', '-o', 'DPkg::Lock::Timeout=120', ...args];
  if (process.getuid?.() !== 0) {
    if (onPath('sudo') === undefined) return 'installing system packages needs root or sudo';
    command.unshift('sudo', '-n');
  }
  const [program, ...rest] = command;
  return attempt(program, rest, { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } });
}

function aptInstall(packages) {
  return aptGet(['update']) ?? aptGet(['install', '-y', '--no-install-recommends', ...packages]);
}

function ensureLlvm() {
  const missing = missingLlvm();
  if (missing.length === 0) return { ok: true, changed: false, detail: 'LLVM 22 tools are present' };
  const names = missing.map(([name]) => name).join(', ');
  if (noInstall) return { ok: false, changed: false, detail: `LLVM 22 lacks ${names} and WAVESMITH_NO_INSTALL=1` };
  const packages = [...new Set(missing.map(([, pack]) => pack))];
  say(`installing LLVM 22 (${packages.join(' ')}) with apt-get…`);
  const failure = aptInstall(packages);
  const still = missingLlvm();
  if (still.length === 0) return { ok: true, changed: true, detail: 'LLVM 22 tools installed' };
  return {
    ok: false,
    changed: true,
    detail: `LLVM 22 still lacks ${still.map(([name]) => name).join(', ')}${failure === undefined ? '' : `: ${failure}`}`,
  };
}

/** A Chromium that tests of pages can drive; the names are those of tests/support/chromium.ts. */
const findChromium = () =>
  [process.env.WAVESMITH_CHROMIUM ?? '', ...['chromium', 'chromium-browser', 'google-chrome'].map(onPath)].find(
    (path) => path !== undefined && isExecutable(path),
  );

function ensureChromium() {
  if (findChromium() !== undefined) return { ok: true, changed: false, detail: 'Chromium is present' };
  if (noInstall) return { ok: false, changed: false, detail: 'Chromium is missing and WAVESMITH_NO_INSTALL=1' };
  say('installing Chromium with apt-get…');
  const failure = aptInstall(['chromium']);
  if (findChromium() !== undefined) return { ok: true, changed: true, detail: 'Chromium installed' };
  return {
    ok: false,
    changed: true,
    detail: `Chromium is still missing${failure === undefined ? '' : `: ${failure}`}`,
  };
}

/** Redis or Valkey, for tests of queues; the names are those of tests/support/redis.ts. */
const findRedis = () => onPath('redis-server') ?? onPath('valkey-server');

function ensureRedis() {
  if (findRedis() !== undefined) return { ok: true, changed: false, detail: 'Redis is present' };
  if (noInstall) return { ok: false, changed: false, detail: 'Redis is missing and WAVESMITH_NO_INSTALL=1' };
  say('installing Redis with apt-get…');
  const failure = aptInstall(['redis-server']);
  if (findRedis() !== undefined) return { ok: true, changed: true, detail: 'Redis installed' };
  return {
    ok: false,
    changed: true,
    detail: `Redis is still missing${failure === undefined ? '' : `: ${failure}`}`,
  };
}

/** True when .wavesmith/venv holds what scripts/requirements.txt pins. The stamp is written last. */
export function ireeIsCurrent() {
  return (
    isExecutable(join(venv, 'bin', 'iree-compile')) &&
    readText(join(venv, '.wavesmith-requirements')) === readText(requirements)
  );
}

/** A Python 3.11 or newer (the oldest the pinned packages have wheels for). */
function findPython() {
  for (const name of ['python3', 'python3.11', 'python3.12', 'python3.13', 'python3.14']) {
    const path = onPath(name);
    if (path === undefined) continue;
    const run = spawnSync(path, ['-c', 'import sys; print(sys.version_info >= (3, 11))'], { encoding: 'utf8' });
    if (run.status === 0 && run.stdout.trim() === 'True') return path;
  }
  return undefined;
}

/** Makes the virtual environment; Debian's Python lacks ensurepip until python3-venv is installed. */
function makeVenv(python) {
  rmSync(venv, { recursive: true, force: true });
  mkdirSync(dirname(venv), { recursive: true });
  const create = (...extra) => {
    rmSync(venv, { recursive: true, force: true });
    return attempt(python, ['-m', 'venv', ...extra, venv]);
  };
  const failure = create();
  if (failure === undefined) return { pip: [join(venv, 'bin', 'python'), '-m', 'pip'] };
  if (create('--without-pip') === undefined && attempt(python, ['-m', 'pip', '--version']) === undefined) {
    return { pip: [python, '-m', 'pip', '--python', join(venv, 'bin', 'python')] };
  }
  say('installing python3-venv with apt-get…');
  const aptFailure = aptInstall(['python3-venv']);
  if (aptFailure !== undefined) return { failure: `${failure}\n${aptFailure}` };
  const second = create();
  return second === undefined ? { pip: [join(venv, 'bin', 'python'), '-m', 'pip'] } : { failure: second };
}

function ensureIree() {
  if (ireeIsCurrent()) return { ok: true, changed: false, detail: 'IREE is present in .wavesmith/venv' };
  if (noInstall) return { ok: false, changed: false, detail: 'IREE is missing and WAVESMITH_NO_INSTALL=1' };
  let python = findPython();
  if (python === undefined) {
    say('installing python3 with apt-get…');
    const failure = aptInstall(['python3', 'python3-venv']);
    python = findPython();
    if (python === undefined) {
      return { ok: false, changed: true, detail: `no Python 3.11 or newer was found${failure ? `: ${failure}` : ''}` };
    }
  }
  say('installing IREE (compiler and runtime, pinned in scripts/requirements.txt) into .wavesmith/venv…');
  const made = makeVenv(python);
  if (made.failure !== undefined) return { ok: false, changed: true, detail: made.failure };
  const [program, ...args] = made.pip;
  const quiet = ['--quiet', '--disable-pip-version-check', '--retries', '2', '--timeout', '60', '--only-binary=:all:'];
  const failure = attempt(program, [...args, 'install', ...quiet, '--requirement', requirements]);
  if (failure !== undefined) return { ok: false, changed: true, detail: failure };
  writeFileSync(join(venv, '.wavesmith-requirements'), readFileSync(requirements));
  return { ok: true, changed: true, detail: 'IREE installed into .wavesmith/venv' };
}

/** Programs and headers that the native libraries need, and the Debian packages that have them. */
const nativeNeeds = [
  ['cmake', 'cmake', () => onPath('cmake')],
  ['a C++20 compiler', 'g++', () => onPath('c++')],
  ['make', 'make', () => onPath('make')],
  ['the HSA headers', 'libhsa-runtime-dev', () => readText('/usr/include/hsa/hsa_ext_amd.h')],
  ['the HIP headers', 'libamdhip64-dev', () => readText('/usr/include/hip/hip_runtime_api.h')],
];
const nativeFolder = join(root, 'native');
const nativeBuild = join(nativeFolder, 'build');
const nativeStamp = join(nativeBuild, '.wavesmith-sources');

/** A hash over the sources of the native libraries. */
function nativeSources() {
  const hash = createHash('sha256');
  const walk = (folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!entry.name.startsWith('build')) walk(path);
      } else hash.update(entry.name).update(readFileSync(path));
    }
  };
  walk(nativeFolder);
  return hash.digest('hex');
}

/** Builds native/ (device addon, HSA and HIP libraries) into native/build. */
function ensureNative() {
  if (readText(join(nativeFolder, 'CMakeLists.txt')) === undefined) {
    return { ok: false, changed: false, detail: 'this checkout has no native/ folder' };
  }
  const sources = nativeSources();
  if (readText(nativeStamp) === sources) return { ok: true, changed: false, detail: 'native libraries are built' };
  const missing = nativeNeeds.filter(([, , find]) => find() === undefined);
  if (missing.length > 0) {
    const names = missing.map(([name]) => name).join(', ');
    if (noInstall) return { ok: false, changed: false, detail: `${names} are missing and WAVESMITH_NO_INSTALL=1` };
    const packages = missing.map(([, pack]) => pack);
    say(`installing ${packages.join(' ')} with apt-get…`);
    const failure = aptInstall(packages);
    if (failure !== undefined) return { ok: false, changed: true, detail: failure };
  }
  // CMake's cache names its folder: that of a checkout which was moved or copied is of no use.
  const cache = readText(join(nativeBuild, 'CMakeCache.txt'));
  if (cache !== undefined && !cache.includes(`\nCMAKE_HOME_DIRECTORY:INTERNAL=${nativeFolder}\n`)) {
    rmSync(nativeBuild, { recursive: true, force: true });
  }
  say('building the native libraries (cmake)…');
  const headers = join(root, 'node_modules', 'node-api-headers', 'include');
  const failure =
    attempt('cmake', ['-S', nativeFolder, '-B', nativeBuild, `-DWAVESMITH_NODE_INCLUDE=${headers}`]) ??
    attempt('cmake', ['--build', nativeBuild, '--parallel', '2']);
  if (failure !== undefined) return { ok: false, changed: true, detail: failure };
  writeFileSync(nativeStamp, sources);
  return { ok: true, changed: true, detail: 'native libraries built into native/build' };
}

const hipLibraries = join(root, '.wavesmith', 'hip-device-libs');
/**
 * Files that AMD's device libraries leave to the compiler driver, which picks them by chip and options: each holds constants. Clang's HIP
 * driver (ROCm.h, RocmInstallationDetector) has the names of the files.
 */
const attributes = 'weak, visibility("hidden")';
const constant = (name, value) => {
  const type = /version|log2/.test(name) ? 'int' : '_Bool';
  return `const __attribute__((${attributes}, address_space(4))) ${type} __oclc_${name} = ${value};\n`;
};
// Clang 22 names no file for these any more, and programs with Debian's headers need them: denormals are kept, and fences are those of LLVM.
const compatibility = `${constant('daz_opt', 0)}
#define FENCE(order, scope) __builtin_amdgcn_fence(order, scope); break
#define FENCES(scope) switch (order) { case 2: FENCE(__ATOMIC_ACQUIRE, scope); case 3: FENCE(__ATOMIC_RELEASE, scope); \\
  case 4: FENCE(__ATOMIC_ACQ_REL, scope); case 5: FENCE(__ATOMIC_SEQ_CST, scope); } break
__attribute__((${attributes}, always_inline)) void __atomic_work_item_fence(unsigned flags, int order, int scope) {
  switch (scope) { case 1: FENCES("workgroup"); case 2: FENCES("agent"); case 3: FENCES(""); case 4: FENCES("wavefront"); }
}
`;
const hipConstants = [
  ['hip', ''],
  ['opencl', ''],
  ...Object.entries({ '90a': 9010, 942: 9402, 950: 9500 }).map(([chip, version]) => [
    `oclc_isa_version_${chip}`,
    constant('ISA_version', version) + compatibility,
  ]),
  ...[400, 500, 600].map((version) => [`oclc_abi_version_${version}`, constant('ABI_version', version)]),
  ...['off', 'on'].flatMap((state, value) => [
    [`oclc_daz_opt_${state}`, constant('daz_opt', value)],
    [`oclc_unsafe_math_${state}`, constant('unsafe_math_opt', value)],
    [`oclc_finite_only_${state}`, constant('finite_only_opt', value)],
    [`oclc_correctly_rounded_sqrt_${state}`, constant('correctly_rounded_sqrt32', value)],
    [`oclc_wavefrontsize64_${state}`, constant('wavefrontsize64', value) + constant('wavefrontsize_log2', 5 + value)],
  ]),
];

/** The folder of the IREE wheel that holds AMD's device libraries (ockl.bc, ocml.bc). */
function ireeDeviceLibraries() {
  const lib = join(venv, 'lib');
  const python = readdirSync(lib).find((name) => name.startsWith('python3')) ?? '';
  return join(lib, python, 'site-packages/iree/compiler/_mlir_libs/iree_platform_libs/rocm');
}

/** Makes .wavesmith/hip-device-libs, what `clang -x hip --rocm-device-lib-path=` needs for the targets of this tool. */
function ensureHip() {
  const stamp = join(hipLibraries, '.stamp');
  const wanted = JSON.stringify([hipConstants, readText(requirements)]);
  if (readText(stamp) === wanted) return { ok: true, changed: false, detail: 'HIP device libraries are present' };
  const clang = [join(llvmFolder, 'clang'), onPath('clang-22')].find(
    (path) => path !== undefined && isExecutable(path),
  );
  if (clang === undefined || !ireeIsCurrent()) {
    const lacking = clang === undefined ? "LLVM 22's clang" : 'IREE, whose wheel has the device libraries,';
    return { ok: false, changed: false, detail: `${lacking} is missing` };
  }
  rmSync(hipLibraries, { recursive: true, force: true });
  mkdirSync(hipLibraries, { recursive: true });
  for (const name of ['ockl.bc', 'ocml.bc']) cpSync(join(ireeDeviceLibraries(), name), join(hipLibraries, name));
  const neutral = ['-nogpulib', '-Xclang', '-mcode-object-version=none'];
  for (const [name, input] of hipConstants) {
    const output = join(hipLibraries, `${name}.bc`);
    const args = ['--target=amdgcn-amd-amdhsa', ...neutral, '-x', 'c', '-emit-llvm', '-c', '-', '-o', output];
    const failure = attempt(clang, args, { input });
    if (failure !== undefined) return { ok: false, changed: true, detail: failure };
  }
  writeFileSync(stamp, wanted);
  return { ok: true, changed: true, detail: 'HIP device libraries made in .wavesmith/hip-device-libs' };
}

/** Other releases of Node for tests/node-versions.test.ts, a package of their own (its package.json says why). */
function ensureNodes() {
  const folder = join(root, 'tests', 'node-versions');
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return { ok: true, changed: false, detail: 'other Node releases are tested on Linux x64 only' };
  }
  const { packages } = JSON.parse(readText(join(folder, 'package-lock.json')) ?? '{"packages":{}}');
  const isCurrent = Object.entries(packages).every(
    ([path, { version }]) =>
      path === '' || JSON.parse(readText(join(folder, path, 'package.json')) ?? '{}').version === version,
  );
  if (isCurrent) return { ok: true, changed: false, detail: 'other Node releases are there' };
  if (noInstall) return { ok: false, changed: false, detail: 'they are missing and WAVESMITH_NO_INSTALL=1' };
  say('installing Node 22 and 24 for tests (npm ci)…');
  const failure = attempt('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
  return failure === undefined
    ? { ok: true, changed: true, detail: 'Node 22 and 24 installed for tests' }
    : { ok: false, changed: true, detail: failure };
}

const parts = {
  npm: ensureNpm,
  llvm: ensureLlvm,
  chromium: ensureChromium,
  redis: ensureRedis,
  iree: ensureIree,
  native: ensureNative,
  hip: ensureHip,
  nodes: ensureNodes,
};

/**
 * Makes sure the parts asked for are there, installing what is missing, and says what could not be.
 * Returns per part `{ ok, changed, detail }`; only a failed `npm` makes the checkout unusable.
 */
export function ensure(wanted = Object.fromEntries(Object.keys(parts).map((name) => [name, true]))) {
  const report = {};
  for (const [name, run] of Object.entries(parts)) {
    if (!wanted[name]) continue;
    const started = Date.now();
    report[name] = run();
    const seconds = ((Date.now() - started) / 1000).toFixed(1);
    if (!report[name].ok) say(`${name}: NOT available: ${report[name].detail}`);
    else if (report[name].changed) say(`${name}: ${report[name].detail} (${seconds} s)`);
  }
  return report;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const report = ensure();
  for (const [name, part] of Object.entries(report)) {
    if (part.ok && !part.changed) say(`${name}: ${part.detail}`);
  }
  const without = {
    llvm: 'tests that compare with LLVM skip',
    chromium: 'tests of pages skip',
    redis: 'tests of queues skip',
    iree: 'hijack needs a compiled .vmfb; the demo uses its own',
    native: 'wavesmith exec does not work, and its tests skip',
    hip: 'tests that compile HIP programs skip',
    nodes: 'tests on Node 22 and 24 skip',
  };
  for (const [name, effect] of Object.entries(without)) {
    if (report[name]?.ok === false) say(`without ${name}: ${effect}.`);
  }
  process.exit(report.npm.ok ? 0 : 1);
}
