// Error codes of profiles: input that cannot be analysed. What is wrong with input that can be is a finding (src/finding/rules-profile.ts).
import type { ErrorPages } from './types.ts';

export const PROFILE_ERRORS: ErrorPages = {
  'att/bad-code': [
    'The folder of a thread trace has a `code.json` that is not what rocprofv3 writes.',
    'Give the ui_output folder that rocprofv3 --att wrote.',
  ],
  'compute-db/schema': [
    'The SQLite file is not a database of `rocprof-compute analyze`.',
    "Make it with 'rocprof-compute analyze --output-format db' of ROCm 7.1 or newer.",
  ],
  'profile/bad-formula': ["A metric's formula does not parse.", 'Mend the formula at the column that is named.'],
  'profile/bad-gzip': [
    'A compressed file is cut off or damaged.',
    'Copy the file again. Beside other files it is a finding, and is left out.',
  ],
  'profile/bad-json': [
    'A JSON file is cut off or damaged.',
    'Get a fresh copy of the file, or record the profile again.',
  ],
  'profile/no-rocprofv3': [
    'Profiling a GPU needs rocprofv3, and it is not on this machine.',
    'The message lists the commands to run on the machine with the GPU.',
  ],
  'profile/not-csv': ['The file is not CSV.', 'Give the files that rocprofv3 or rocprof-compute wrote.'],
  'profile/nothing-found': [
    'No file under the given paths is a profile.',
    'Give the output of rocprofv3 (CSV, JSON, rocpd, ATT), of rocprof-compute, or raw .att traces.',
  ],
  'profile/rocprofv3-failed': [
    'rocprofv3 ended with an error.',
    'The message ends with the command; run it by hand to see all output.',
  ],
  'profile/schema-version': [
    'The profile document is of a newer version than this tool.',
    'Use the Wavesmith that wrote it, or analyse the recording again.',
  ],
  'profile/too-large': ['The file is larger than files of its kind that are read.', 'Record a shorter run.'],
  'profile/too-many-files': [
    'The folder holds more files than a profile has.',
    'Give the folder of one profiling run.',
  ],
  'profile/unknown-arch': [
    'The recording does not say which GPU it is of, or there are no formulas for it, so no counters can be chosen.',
    'Give --arch with one of the names in the message.',
  ],
  'profile/wrong-target': [
    'The code object is for a GPU whose instructions are not known.',
    'Give the code object that the traced kernel came from.',
  ],
  'rocpd/no-tables': [
    'The SQLite file is not a rocpd database.',
    'Give a database that rocprofv3 wrote (schema version 3).',
  ],
  'sqlite/damaged': ['The file is not a SQLite database that can be read.', 'Get a fresh copy of the file.'],
  'sqtt/not-gfx9': [
    'The file is not a raw thread trace of MI200, MI300 or MI350.',
    'Give raw traces of these GPUs only; give the decoded folder for others.',
  ],
  'trace/none': ['The given paths hold no thread trace.', "Give the output of 'rocprofv3 --att'."],
};
