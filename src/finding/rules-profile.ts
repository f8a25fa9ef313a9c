// What a profile finds wrong with its input: data that is missing, damaged, contradictory or impossible. The analysis goes on without it.
import type { RuleInfo } from './rule-info.ts';
import { SOURCES } from './sources.ts';

export const PROFILE_RULES = {
  'att/bad-cycles': {
    severity: 'warning',
    title:
      'Lines or instructions of a thread trace count more stalled cycles than cycles, fewer cycles than executions, or negative ones',
    source: SOURCES.threadTrace,
    advice: 'Record the trace again if many lines are affected: the sums have them.',
  },
  'att/bad-snapshots': {
    severity: 'note',
    title:
      'The list that maps source files to their copies in the trace folder cannot be read; source lines are left out',
    source: SOURCES.threadTrace,
    advice: 'Copy the whole `ui_output_…` folder again.',
  },
  'att/bad-states': {
    severity: 'warning',
    title: 'The recording of wave states is incomplete or damaged; it is left out',
    source: SOURCES.threadTrace,
    advice: 'Record the trace again.',
  },
  'att/bad-wave': {
    severity: 'warning',
    title: 'A wave file of the thread trace holds no wave, or its times contradict each other; that wave is left out',
    source: SOURCES.threadTrace,
    advice: 'Record the trace again if many waves are affected.',
  },
  'att/cut': {
    severity: 'warning',
    title: 'A file of the thread trace is longer than what is read; the part that was read is analysed',
    source: SOURCES.threadTrace,
    advice: 'Record fewer waves: one compute unit and one kernel are enough.',
  },
  'att/unknown-lines': {
    severity: 'warning',
    title: 'Instructions of a wave are of lines that the code of the thread trace does not have; they have no text',
    source: SOURCES.threadTrace,
    advice: 'Give the `code.json` that was written with these waves.',
  },
  'compute-db/bad-json': {
    severity: 'warning',
    title: 'A value of the database that should hold JSON does not; it is left out',
    source: SOURCES.rocprofCompute,
    advice: 'Make the database again with rocprof-compute.',
  },
  'compute-db/bad-row': {
    severity: 'warning',
    title: 'Rows of the database refer to kernels that are not in it; they are left out',
    source: SOURCES.rocprofCompute,
    advice: 'Make the database again if many rows are affected.',
  },
  'compute-db/cut': {
    severity: 'warning',
    title: 'The database holds more metric values than are read; the rest is left out',
    source: SOURCES.rocprofCompute,
    advice: 'Analyse fewer kernels: `rocprof-compute analyze -k`.',
  },
  'compute-db/no-counters': {
    severity: 'note',
    title:
      'The database holds metrics that rocprof-compute derived and no counters; nothing that needs counters is shown',
    source: SOURCES.rocprofCompute,
    advice: 'Give the workload folder of `rocprof-compute profile` for the counters.',
  },
  'compute-db/version': {
    severity: 'warning',
    title: 'The database has a schema version that was not seen before; it is read as far as it looks like a known one',
    source: SOURCES.rocprofCompute,
    advice: 'Use schema 1.x or 2.x (ROCm 7.1 or newer).',
  },
  'profile/unsure-peak': {
    severity: 'warning',
    title: 'The HBM peak is that of a whole package for a partition of it, or of one of several measured devices',
    source: SOURCES.rocprofCompute,
    advice: 'Give the peak of the GPU that ran the kernels: --hbm-gbps.',
  },
  'profile/agent-conflict': {
    severity: 'warning',
    title:
      'Files describe two different GPUs under one name, or a product with the architecture of another one: they are recordings of different machines',
    source: SOURCES.rocprofv3,
    advice: 'Give the files of one run only, as the profiler wrote them.',
  },
  'profile/bad-record': {
    severity: 'warning',
    title:
      'Records have values that cannot be, or refer to something that is not in their file; what cannot be is left out',
    source: SOURCES.rocprofv3,
    advice: 'Record the profile again if many are affected.',
  },
  'profile/bad-row': {
    severity: 'warning',
    title: 'Rows of a CSV file cannot be read; they are left out',
    source: SOURCES.rocprofv3,
    advice: 'Record the profile again if many are affected.',
  },
  'profile/bad-source': {
    severity: 'note',
    title: 'A file beside the recording cannot be read; it is left out',
    source: SOURCES.rocprofv3,
    advice: 'Mend or remove the file that the message names.',
  },
  'profile/bad-sysinfo': {
    severity: 'warning',
    title:
      'A value of sysinfo.csv or roofline.csv is not what its column holds, or of another unit; what needs it is unknown',
    source: SOURCES.rocprofCompute,
    advice: 'Copy the workload folder again.',
  },
  'profile/channel-sum': {
    severity: 'note',
    title: 'The channels of a counter do not add up to its sum, because they were collected in different runs',
    source: SOURCES.rocprofCompute,
    advice: 'Nothing has to be done. The difference shows how much runs vary.',
  },
  'profile/clock-back': {
    severity: 'warning',
    title: 'Dispatches of a queue began long before others with lower numbers: the clock went back, or wrapped',
    source: SOURCES.rocprofv3,
    advice: 'Profile again, or give the part before and the part after by themselves.',
  },
  'profile/fractional-counter': {
    severity: 'warning',
    title:
      'A counter of the hardware has a fraction: it is a mean, a part or of another unit; what is made from it is so, too',
    source: SOURCES.rocprofv3,
    advice: 'Give the values as the profiler wrote them, the sums of all instances.',
  },
  'profile/odd-machine': {
    severity: 'warning',
    title: 'A GPU has a clock, CUs, XCCs, L2 channels or a bandwidth that no GPU of its architecture has',
    source: SOURCES.rocprofCompute,
    advice: 'Take sysinfo.csv, roofline.csv and agent_info.csv from the machine that ran the kernels.',
  },
  'profile/counter-instances': {
    severity: 'note',
    title: 'A counter has a row for each of its instances (XCC, shader engine, channel); they are added up',
    source: SOURCES.rocprofv3,
    advice: 'Nothing has to be done, if the rows of a dispatch are of different instances.',
  },
  'profile/counter-conflict': {
    severity: 'warning',
    title: 'A counter was collected in several passes with different values; the first one is used',
    source: SOURCES.rocprofv3,
    advice: 'Nothing has to be done. The difference shows how much runs vary.',
  },
  'profile/counters-in-turns': {
    severity: 'note',
    title:
      'Sets of counters were collected in turns, one for each launch of a kernel; those of a turn are taken for those of each launch',
    source: SOURCES.rocprofCompute,
    advice:
      'Nothing has to be done if the launches do the same work. Profile without --iteration-multiplexing if they do not.',
  },
  'profile/uneven-counters': {
    severity: 'warning',
    title: 'Counters of a kernel were collected over different sets of its dispatches',
    source: SOURCES.rocprofv3,
    advice:
      'Profile again with every counter for the same dispatches, or read the ratios as those of the dispatches that have all their terms.',
  },
  'profile/missing-dispatches': {
    severity: 'note',
    title: 'A trace has gaps in the numbers of its dispatches',
    source: SOURCES.rocprofv3,
    advice: 'Nothing has to be done if the profiler was paused or left kernels out. Copy the trace again if not.',
  },
  'profile/missing-rows': {
    severity: 'warning',
    title:
      'A file of a workload folder has no rows for some of the dispatches; rows are matched by the dispatch numbers that are there',
    source: SOURCES.rocprofCompute,
    advice: 'Profile again, or read totals as those of the dispatches that are there.',
  },
  'profile/damaged-file': {
    severity: 'warning',
    title: 'A file is cut off, damaged, without its columns or not in UTF-8; it is left out',
    source: SOURCES.rocprofCompute,
    advice: 'Copy the file again, or convert it to UTF-8.',
  },
  'profile/duplicate-dispatch': {
    severity: 'note',
    title: 'A dispatch is described more than once, in one file or in several; the first description counts',
    source: SOURCES.rocprofv3,
    advice: 'Nothing has to be done, if the passes of one program were given. Give one copy of every file otherwise.',
  },
  'profile/empty-file': {
    severity: 'warning',
    title: 'A file has a header and no rows, or nothing at all',
    source: SOURCES.rocprofv3,
    advice: 'Check that the program launched kernels, and that the profiler ended in order.',
  },
  'profile/impossible-value': {
    severity: 'error',
    title: 'A number of a kernel is beyond what the hardware can do: counters, times or the architecture are wrong',
    source: SOURCES.rocprofCompute,
    advice:
      'Check that counters and times are of the same dispatches and that the architecture is right, then profile again. The classes of the kernel keep a tenth of their confidence.',
  },
  'profile/no-dispatches': {
    severity: 'warning',
    title: 'The input holds API calls, markers, copies or statistics and no kernel dispatches',
    source: SOURCES.rocprofv3,
    advice: 'Give the kernel trace of the same run (`rocprofv3 --kernel-trace`) or the counters as well.',
  },
  'profile/no-sizes': {
    severity: 'note',
    title: 'Allocations have no sizes in a file: sums of their bytes are without them',
    source: SOURCES.rocprofv3,
    advice: 'Nothing has to be done. Versions of rocprofv3 up to ROCm 7.0 write no sizes of scratch memory.',
  },
  'profile/odd-grid': {
    severity: 'note',
    title: 'Grids are no multiples of their workgroups, as HIP does not launch them: they may be in workgroups',
    source: SOURCES.rocprofv3,
    advice: 'Give grids in work-items, as rocprofv3 writes them. Nothing has to be done if they are.',
  },
  'profile/open-end': {
    severity: 'note',
    title: 'The last row of a table has no line end: the file may be cut',
    source: SOURCES.rocprofv3,
    advice: 'Copy the file again. Nothing has to be done for a table that was made by hand and is whole.',
  },
  'profile/other-format': {
    severity: 'warning',
    title: 'A file has a format of a profiler that is not read here',
    source: SOURCES.rocprofv3,
    advice: 'Record again with an output that is read: rocprofv3 --output-format csv, json or rocpd.',
  },
  'profile/other-gpu': {
    severity: 'warning',
    title: 'A dispatch ran on different GPUs in different passes',
    source: SOURCES.rocprofv3,
    advice: 'Profile again with one GPU visible (`ROCR_VISIBLE_DEVICES=0`), or one that the program always chooses.',
  },
  'profile/host-clocks': {
    severity: 'warning',
    title: 'Processes that ran at once may be of several hosts, whose clocks differ',
    source: SOURCES.rocprofv3,
    advice:
      'Nothing has to be done if the folders are of one host. Synchronise the clocks of the hosts (PTP), or analyse each host by itself.',
  },
  'profile/joined-passes': {
    severity: 'note',
    title: 'Files are of several runs of one program, one after the other: their dispatches are joined',
    source: SOURCES.rocprofv3,
    advice: 'Nothing has to be done if they are. Give the runs in folders of their own if they are not.',
  },
  'profile/other-kernel': {
    severity: 'warning',
    title: 'A dispatch is of one kernel or size in one file and of another in another',
    source: SOURCES.rocprofv3,
    advice:
      'Profile again so that every run of the program does the same work in the same order, or give the runs one by one.',
  },
  'profile/repeated-rows': {
    severity: 'warning',
    title: 'Memory copies or API calls have the times and all else of others: they may be in the input twice',
    source: SOURCES.rocprofv3,
    advice: 'Give one copy of each file, and merge each database once.',
  },
  'profile/rounded-counter': {
    severity: 'warning',
    title: 'A counter is written with too few digits, so its values are rounded',
    source: SOURCES.rocprofv3,
    advice:
      'Write the counter as a whole number: set the precision of the script or the spreadsheet that wrote the file.',
  },
  'profile/semicolons': {
    severity: 'note',
    title: 'A table has semicolons between its cells, as spreadsheets write them',
    source: SOURCES.rocprofv3,
    advice:
      'Nothing has to be done. Keep the table as the profiler wrote it: a spreadsheet may have rounded its numbers.',
  },
  'profile/several-recordings': {
    severity: 'warning',
    title: 'The inputs are of several machines or runs, whose times cannot be compared',
    source: SOURCES.rocprofv3,
    advice:
      'Analyse each by itself. The timeline and the critical path are those of the recording that the message names.',
  },
  'profile/many-kernels': {
    severity: 'note',
    title: 'The kernels of least time are not described one by one',
    source: SOURCES.rocprofv3,
    advice: 'To see one of them, record it alone: rocprofv3 --kernel-include-regex.',
  },
  'profile/untimed-calls': {
    severity: 'warning',
    title: 'Only some calls of a kernel have times; its total is that of the timed ones',
    source: SOURCES.rocprofv3,
    advice: 'Record the trace again without counters, which change or remove times.',
  },
  'profile/work-apart': {
    severity: 'warning',
    title: 'Work lies hours apart, as that of several runs does',
    source: SOURCES.rocprofv3,
    advice: 'Give the files of one run. If they are, look at each part of the timeline by itself.',
  },
  'sim/modelled': {
    severity: 'note',
    title: 'Times and rates of a simulated program are modelled; their error is that of the class of the kernel',
    source: SOURCES.dispatch,
    advice: 'Read docs/timing-accuracy.md before you believe small differences.',
  },
  'sim/unsettled': {
    severity: 'warning',
    title: 'The workgroups that stand for a launch differ so much that its modelled time may be far off',
    source: SOURCES.dispatch,
    advice: 'Compare with a launch of another size, or with hardware.',
  },
  'sqtt/inconsistent': {
    severity: 'warning',
    title: 'A thread trace contradicts itself: tokens without their counterpart, or times that do not fit',
    source: SOURCES.threadTrace,
    advice: 'Copy the trace again, or record it again; times and sums may be wrong.',
  },
  'sqtt/wrong-code': {
    severity: 'error',
    title: 'Most tokens of a thread trace do not fit the given code; its sums are left out',
    source: SOURCES.threadTrace,
    advice: 'Give the code object that the traced kernel came from.',
  },
  'profile/unnamed-kernel': {
    severity: 'warning',
    title: 'Dispatches name a kernel that is not in the file; they are shown without a name',
    source: SOURCES.rocprofv3,
    advice: 'Record the profile again if many are affected.',
  },
  'profile/unreadable-counter': {
    severity: 'warning',
    title: 'The cell of a counter is neither empty nor a number; the counter is unknown there',
    source: SOURCES.rocprofv3,
    advice: 'See what wrote the file. A spreadsheet may have changed it; take the file that the profiler wrote.',
  },
  'profile/zero-counters': {
    severity: 'warning',
    title: 'All counters of a recording are 0',
    source: SOURCES.rocprofv3,
    advice:
      'Profile again with a counter that cannot be 0 (SQ_WAVES). If it is 0, too, the profiler may not count on this GPU, or not for this user.',
  },
  'profile/unusable-time': {
    severity: 'warning',
    title: 'Work has no usable start or end; its duration is unknown',
    source: SOURCES.rocprofv3,
    advice: 'Record the profile again; counter collection changes or removes times.',
  },
  'rocpd/missing-table': {
    severity: 'warning',
    title: 'The database lacks a table or column that rocprofv3 writes; what needs it is left out',
    source: SOURCES.rocpd,
    advice: 'Record the profile again, or check that the merge kept all tables and columns.',
  },
  'rocpd/open-log': {
    severity: 'warning',
    title: 'The database has a write-ahead log that is not whole: what was written last is missing',
    source: SOURCES.rocpd,
    advice: 'Wait until the program has ended. Copy the database with the -wal file beside it.',
  },
  'rocpd/orphan-counters': {
    severity: 'warning',
    title: 'Counter values refer to dispatches that are not in the database; they are left out',
    source: SOURCES.rocpd,
    advice: 'Record the profile again if many are affected.',
  },
  'rocpd/schema-version': {
    severity: 'note',
    title: 'The database has a schema version that was not seen before; it is read as far as its tables are known',
    source: SOURCES.rocpd,
    advice: 'Check the figures; report it with the version.',
  },
  'sim/copies': {
    severity: 'note',
    title: 'Copies and API calls of a simulated program are not recorded; they are not in the profile',
    source: SOURCES.dispatch,
    advice: 'Nothing has to be done.',
  },
  'sim/exit': {
    severity: 'warning',
    title: 'The profiled program ended with an error of its own',
    source: SOURCES.dispatch,
    advice: 'Run it with `wavesmith exec` and look at its output.',
  },
  'sim/failed': {
    severity: 'warning',
    title: 'A dispatch of the simulated program failed; the profile holds the others',
    source: SOURCES.dispatch,
    advice: '`wavesmith exec` shows each failure with its place.',
  },
  'sqtt/lost': {
    severity: 'warning',
    title: 'The trace says that packets were lost while it was recorded; waves with gaps are left out',
    source: SOURCES.threadTrace,
    advice: 'Record with a larger buffer, or less at once.',
  },
  'sqtt/no-wave': {
    severity: 'note',
    title: 'No wave starts in the trace: nothing ran on that shader engine, or the file ends before the first wave',
    source: SOURCES.threadTrace,
    advice: 'Copy or record it again, if the traces of all shader engines are so.',
  },
  'sqtt/stray': {
    severity: 'warning',
    title: 'Tokens of the trace belong to no wave that is known to live; they are left out',
    source: SOURCES.threadTrace,
    advice: 'Record the trace from the start of the kernel.',
  },
  'sqtt/target-cu': {
    severity: 'note',
    title: 'The header of the trace and its tokens name different compute units; the tokens are believed',
    source: SOURCES.threadTrace,
    advice: 'Nothing has to be done.',
  },
  'sqtt/time': {
    severity: 'warning',
    title: 'Time runs backwards in the trace; those spans are unknown',
    source: SOURCES.threadTrace,
    advice: 'Record the trace again if many tokens are affected.',
  },
  'sqtt/truncated': {
    severity: 'note',
    title: 'The trace ends inside a token or a packet',
    source: SOURCES.threadTrace,
    advice: 'Nothing, if it is the last one; else copy the file again.',
  },
  'sqtt/unmatched': {
    severity: 'warning',
    title: 'Tokens of waves do not fit the given code; those waves have no instructions',
    source: SOURCES.threadTrace,
    advice: 'Give the code object that the traced kernel came from.',
  },
} as const satisfies Readonly<Record<string, RuleInfo>>;
