// Error codes of profiles: what a recording lacks, and what is wrong with it. Most are remarks: the analysis goes on.
import type { ErrorPages } from './types.ts';

export const PROFILE_ERRORS: ErrorPages = {
  'att/bad-code': [
    'The folder of a thread trace has a `code.json` that is not what rocprofv3 writes.',
    'Give the ui_output folder that rocprofv3 --att wrote.',
  ],
  'att/bad-cycles': [
    'Some lines of the trace count more stalled cycles than cycles, or negative ones. They are left out of the sums.',
    'Record the trace again if many lines are affected.',
  ],
  'att/bad-snapshots': [
    'The list that maps source files to the copies in the trace folder is damaged. The analysis goes on without source lines.',
    'Copy the whole `ui_output_…` folder again.',
  ],
  'att/bad-states': [
    'The recording of wave states is incomplete or damaged. The analysis goes on without it.',
    'Record the trace again.',
  ],
  'att/bad-wave': [
    'A wave file of the trace holds no wave or is damaged. That wave is left out.',
    'Record the trace again if many waves are affected.',
  ],
  'att/cut': [
    'A file of the trace is longer than what is read. What was read is analysed.',
    'Record fewer waves: one compute unit and one kernel are enough.',
  ],
  'compute-db/bad-json': [
    'A value of the database that should hold JSON does not.',
    'Make the database again with rocprof-compute.',
  ],
  'compute-db/bad-row': [
    'Some rows refer to kernels that are not in the database. They are left out.',
    'Make the database again if many rows are affected.',
  ],
  'compute-db/cut': [
    'The database holds more metric values than are read.',
    'Analyse fewer kernels: `rocprof-compute analyze -k`.',
  ],
  'compute-db/no-counters': [
    'The database holds derived metrics only. Nothing that needs raw counters is shown.',
    'Give the workload folder of `rocprof-compute profile` for the counters.',
  ],
  'compute-db/schema': [
    'The SQLite file is not a database of `rocprof-compute analyze`.',
    "Make it with 'rocprof-compute analyze --output-format db' of ROCm 7.1 or newer.",
  ],
  'compute-db/version': [
    'The database has a schema version that is not known.',
    'Use schema 1.x or 2.x (ROCm 7.1 or newer).',
  ],
  'profile/agent-conflict': [
    'Files of the profile say different things about one GPU. The first is kept.',
    'Give the files of one run only.',
  ],
  'profile/bad-formula': ["A metric's formula does not parse.", 'Mend the formula at the column that is named.'],
  'profile/bad-json': ['A JSON file is cut off or damaged.', 'The file is truncated or damaged; get a fresh copy.'],
  'profile/bad-record': [
    'Records of a file refer to something that is not in it. They are left out.',
    'Record the profile again if many are affected.',
  ],
  'profile/bad-row': [
    'Rows of a CSV file could not be read. They are left out.',
    'Record the profile again if many are affected.',
  ],
  'profile/bad-sysinfo': [
    'sysinfo.csv is not what rocprof-compute writes. The analysis goes on without it.',
    'Copy the workload folder again.',
  ],
  'profile/channel-sum': [
    "A counter's channels and its sum come from different runs and differ.",
    'Nothing: the sum is used. The difference shows how much runs vary.',
  ],
  'profile/counter-conflict': [
    'A counter was collected in several passes with different values.',
    'Nothing: the first is used. The difference shows how much runs vary.',
  ],
  'profile/uneven-counters': [
    'Some counters of a kernel were collected for more of its dispatches than others.',
    'Profile again with every counter for the same dispatches, or read the ratios as those of the dispatches that have all their terms.',
  ],
  'profile/unreadable-counter': [
    'A cell of a counter is neither empty nor a number.',
    'See what wrote the file. A spreadsheet may have changed it; take the file that the profiler wrote.',
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
  'profile/too-large': ['A file is larger than what is read of its kind.', 'Record a shorter run.'],
  'profile/too-many-files': [
    'The folder holds more files than a profile has.',
    'Give the folder of one profiling run.',
  ],
  'profile/unknown-arch': [
    'The recording does not say which GPU it is of, so no counters can be chosen.',
    'Give --arch with one of the names in the message.',
  ],
  'profile/unnamed-kernel': [
    'Some dispatches name a kernel that is not in the file. They are shown without a name.',
    'Record the profile again if many are affected.',
  ],
  'profile/unusable-time': [
    'Some work has no usable start or end. Its duration is unknown, and nothing is guessed.',
    'Record the profile again; counter collection changes or removes times.',
  ],
  'profile/wrong-target': [
    'The code object is for a GPU whose instructions are not known.',
    'Give the code object that the traced kernel came from.',
  ],
  'rocpd/missing-table': [
    'The database lacks a table that rocprofv3 writes. What needs it is left out.',
    'Record the profile again, or check that the merge kept all tables.',
  ],
  'rocpd/no-tables': [
    'The SQLite file is not a rocpd database.',
    'Give a database that rocprofv3 wrote (schema version 3).',
  ],
  'rocpd/orphan-counters': [
    'Counter values refer to dispatches that are not there. They are left out.',
    'Record the profile again if many are affected.',
  ],
  'rocpd/schema-version': [
    'The database has a schema version that was not seen before. It is read as far as its tables are known.',
    'Check the figures; report it with the version.',
  ],
  'sqlite/damaged': [
    'The file is not a SQLite database that can be read.',
    'The file is truncated or damaged; get a fresh copy.',
  ],
  'sqtt/lost': [
    'The trace says that tokens were lost while it was recorded. Waves with gaps are left out.',
    'Record with a larger buffer, or less at once.',
  ],
  'sqtt/not-gfx9': [
    'The file is not a raw thread trace of these GPUs.',
    'Only raw traces of MI200, MI300 and MI350 are decoded.',
  ],
  'sqtt/stray': [
    'Tokens belong to no wave that is known to live. They are left out.',
    'Record the trace from the start of the kernel.',
  ],
  'sqtt/target-cu': ['The header and the tokens name different compute units. The tokens are believed.', 'Nothing.'],
  'sqtt/time': [
    'Time runs backwards in the trace. Those spans are unknown.',
    'Record the trace again if many tokens are affected.',
  ],
  'sqtt/truncated': ['The trace ends inside a token.', 'Nothing, if it is the last one; else copy the file again.'],
  'sqtt/unmatched': [
    'Tokens of some waves do not fit the given code.',
    'Give the code object that the traced kernel came from.',
  ],
  'trace/none': ['The given paths hold no thread trace.', "Give the output of 'rocprofv3 --att'."],
};
