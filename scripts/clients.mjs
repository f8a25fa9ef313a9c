// `npm run clients [-- --device sim:TARGET] [NAME…]`: published GPU programs and libraries, unmodified, on the virtual GPU. They are
// installed from PyPI into .wavesmith/clients when scripts/clients-requirements.txt has changed, and from Debian into .wavesmith/clients-debian
// (unpacked there: nothing is installed on the machine). Prints what ran; exits with 1 when something failed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, '.wavesmith', 'clients');
const python = join(folder, 'bin', 'python');
const TARGETS = ['gfx942', 'gfx90a', 'gfx950'];

const USAGE = 'npm run clients -- [--device sim:TARGET] [--install-only] [NAME…]';
const { values, positionals } = options();

/** The command line; ends the process on `--help` and on what it does not know. */
function options() {
  const known = {
    device: { type: 'string' },
    'install-only': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  };
  try {
    const parsed = parseArgs({ allowPositionals: true, options: known });
    if (!parsed.values.help) return parsed;
    console.log(`${USAGE}\nRuns published programs on the virtual GPU (docs/clients.md); without names, all of them.`);
    process.exit(0);
  } catch (error) {
    if (!String(error.code).startsWith('ERR_PARSE_ARGS')) throw error;
    console.error(`clients: ${error.message}\n${USAGE}`);
    process.exit(2);
  }
}

function run(command, args, env = process.env, cwd = root) {
  const { status, error } = spawnSync(command, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'], env });
  if (error !== undefined) console.error(error.message);
  return status ?? 1;
}

/** Makes the environment; it is whole when its stamp names these requirements. */
function install() {
  const requirements = join(root, 'scripts/clients-requirements.txt');
  const wanted = createHash('sha256').update(readFileSync(requirements)).digest('hex');
  const stamp = join(folder, '.stamp');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  console.log('clients: installing from PyPI (1.2 GB, a few minutes)');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  const made = run('python3', ['-m', 'venv', folder]);
  const installed =
    made === 0
      ? run(join(folder, 'bin/pip'), ['install', '--quiet', '--disable-pip-version-check', '-r', requirements])
      : 1;
  if (installed !== 0) {
    console.error('clients: the packages could not be installed.');
    process.exit(1);
  }
  writeFileSync(stamp, wanted);
}

const llvm = '/usr/lib/llvm-22/bin';
const debianFolder = join(root, '.wavesmith', 'clients-debian');
const debianRoot = join(debianFolder, 'root');
const debianLibraries = join(debianRoot, 'usr/lib/x86_64-linux-gnu');
const PACKAGES = ['librocprim-dev', 'librocrand1', 'librocrand-dev', 'librocsparse0', 'librocsparse-dev'];
const deviceOptions = [
  ...['--rocm-path=/usr', '-D__AMDGCN_WAVEFRONT_SIZE=64', '-include', 'tests/clients/debian/half.h'],
  `--rocm-device-lib-path=${join(root, '.wavesmith/hip-device-libs')}`,
];

/** Fetches Debian's packages and unpacks them into a folder: no step needs root. */
function unpackDebian() {
  const stamp = join(debianFolder, '.stamp');
  const wanted = PACKAGES.join(' ');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return true;
  console.log('clients: fetching packages of Debian (110 MB, 1.4 GB unpacked)');
  rmSync(debianFolder, { recursive: true, force: true });
  mkdirSync(debianRoot, { recursive: true });
  if (run('apt-get', ['download', '-q', ...PACKAGES], process.env, debianFolder) !== 0) return false;
  const files = readdirSync(debianFolder).filter((name) => name.endsWith('.deb'));
  for (const file of files) {
    if (run('dpkg', ['-x', join(debianFolder, file), debianRoot]) !== 0) return false;
    rmSync(join(debianFolder, file));
  }
  writeFileSync(stamp, wanted);
  return true;
}

/** Compiles tests/clients/debian/NAME.cpp against Debian's packages and runs it. */
function debian(name, target, options) {
  if (!unpackDebian()) return 1;
  const program = join(debianFolder, `${name}-${target}`);
  const arguments_ = [
    ...['-std=c++17', '-O2', '-w', '-D__HIP_PLATFORM_AMD__', '-isystem', join(debianRoot, 'usr/include')],
    ...['-isystem', join(debianRoot, 'usr/include', name), ...options, `tests/clients/debian/${name}.cpp`],
    ...['-x', 'none', '-o', program, `-L${join(root, 'native/build/lib')}`, '-l:libamdhip64.so.5'],
    ...(existsSync(join(debianLibraries, `lib${name}.so`)) ? [`-L${debianLibraries}`, `-l${name}`] : []),
  ];
  const compiled = run(join(llvm, 'clang++'), arguments_);
  return compiled === 0 ? exec(target, [program], { LD_LIBRARY_PATH: debianLibraries }) : compiled;
}

/** A library that is there for gfx90a only, as Debian 12 builds it. */
function debianLibrary(name, target) {
  return target === 'gfx90a' ? debian(name, target, ['-x', 'c++']) : undefined;
}

/** Runs tests/clients/triton/NAME.py with the stand-in for torch. */
function triton(name, target) {
  return exec(target, [python, '-W', 'ignore', `tests/clients/triton/${name}.py`], {
    PYTHONPATH: join(root, 'tests/clients/triton'),
    TRITON_CACHE_DIR: join(root, '.wavesmith/triton-cache'),
  });
}

/** Each client on one target; gives the exit status, or undefined where it has nothing for the target. */
const CLIENTS = {
  triton: (target) => triton('tutorials', target),
  'triton-features': (target) => triton('features', target),
  iree: (target) =>
    exec(target, [join(root, '.wavesmith/venv/bin/python'), 'tests/clients/iree_programs.py', target], {}),
  'hip-python': (target) => exec(target, [python, 'tests/clients/hip_python.py'], {}),
  tinygrad: (target) =>
    exec(target, [python, 'tests/clients/tinygrad_ops.py'], {
      // tinygrad chooses matrix instructions by the chip's name without its features, which only a name given here leaves out.
      DEV: `HIP::${target}`,
      ROCM_PATH: join(root, 'native/build'),
      // Its CPU device, the judge, compiles with a program of this name.
      PATH: `${llvm}:${process.env.PATH}`,
      CACHELEVEL: '0',
      // For a chip that it does not know, gfx90a among them, tinygrad 0.14 takes RDNA 3's matrix instructions (codegen/opt/tc.py, get_amd).
      ...(target === 'gfx90a' ? { TC: '0' } : {}),
    }),
  rocprim: (target) => debian('rocprim', target, ['-x', 'hip', `--offload-arch=${target}`, ...deviceOptions]),
  // These libraries bring their own kernels, of Debian's chips.
  rocrand: (target) => debianLibrary('rocrand', target),
  rocsparse: (target) => debianLibrary('rocsparse', target),
};

function exec(target, program, environment) {
  const wavesmith = join(root, 'bin/wavesmith');
  return run(process.execPath, [wavesmith, 'exec', '--device', `sim:${target}`, '--', ...program], {
    ...process.env,
    ...environment,
  });
}

const chosen = positionals.length > 0 ? positionals : Object.keys(CLIENTS);
const unknown = chosen.filter((name) => !(name in CLIENTS));
if (unknown.length > 0) {
  console.error(`clients: there is no ${unknown.join(', ')}; there are ${Object.keys(CLIENTS).join(', ')}.`);
  process.exit(2);
}
if (chosen.some((name) => name !== 'iree' && !name.startsWith('roc'))) install();
if (!values['install-only']) {
  const targets = values.device === undefined ? TARGETS : [values.device.replace(/^sim:/, '')];
  let failed = 0;
  for (const name of chosen) {
    for (const target of targets) {
      const started = Date.now();
      const status = CLIENTS[name](target);
      if (status === undefined) {
        console.log(`clients: ${name} on ${target}: Debian builds it for gfx90a only`);
        continue;
      }
      failed += status === 0 ? 0 : 1;
      const seconds = ((Date.now() - started) / 1000).toFixed(1);
      console.log(
        `clients: ${name} on ${target}: ${status === 0 ? 'passed' : `failed (status ${status})`}, ${seconds} s`,
      );
    }
  }
  process.exit(failed === 0 ? 0 : 1);
}
