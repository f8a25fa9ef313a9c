// `npm run clients [-- --device sim:TARGET] [triton|hip-python]`: published GPU programs, unmodified, on the virtual GPU. They are installed from PyPI
// into .wavesmith/clients when scripts/clients-requirements.txt has changed. Prints what ran; exits with 1 when something failed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, '.wavesmith', 'clients');
const python = join(folder, 'bin', 'python');
const TARGETS = ['gfx942', 'gfx90a', 'gfx950'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { device: { type: 'string' }, 'install-only': { type: 'boolean', default: false } },
});

function run(command, args, env = process.env) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], env });
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

/** Each client on one target; gives the exit status. */
const CLIENTS = {
  triton: (target) =>
    exec(target, [python, '-W', 'ignore', 'tests/clients/triton/tutorials.py'], {
      PYTHONPATH: join(root, 'tests/clients/triton'),
      TRITON_CACHE_DIR: join(root, '.wavesmith/triton-cache'),
    }),
  'hip-python': (target) => exec(target, [python, 'tests/clients/hip_python.py'], {}),
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
install();
if (!values['install-only']) {
  const targets = values.device === undefined ? TARGETS : [values.device.replace(/^sim:/, '')];
  let failed = 0;
  for (const name of chosen) {
    for (const target of targets) {
      const started = Date.now();
      const status = CLIENTS[name](target);
      failed += status === 0 ? 0 : 1;
      const seconds = ((Date.now() - started) / 1000).toFixed(1);
      console.log(
        `clients: ${name} on ${target}: ${status === 0 ? 'passed' : `failed (status ${status})`}, ${seconds} s`,
      );
    }
  }
  process.exit(failed === 0 ? 0 : 1);
}
