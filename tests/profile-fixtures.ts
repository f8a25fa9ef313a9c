// Generators of small profiler outputs, one folder per format, for tests, fuzzing and benchmarks. Invented data in the real layouts.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type ObjectSection, SectionFlag, SectionType, writeObject } from '../src/codeobject/index.ts';

const KERNELS = ['void scale<float>(float*, int)', 'reduce(float const*, float*)', 'copy_rows'];

/** Kernels that run in turn, and how many grids each has: those of a recording of many dispatches. */
export interface ManyKernels {
  readonly kernels: readonly string[];
  readonly grids: number;
}
const FEW: ManyKernels = { kernels: KERNELS, grids: 1 };

const TRACE_HEADER =
  '"Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"';

/** `n` rows of a kernel trace on two queues, back to back. */
export function kernelTraceCsv(n: number): string {
  const rows = [TRACE_HEADER];
  let time = 1_550_000_000_000_000;
  for (let i = 0; i < n; i++) {
    const k = i % KERNELS.length;
    const length = 2000 + 1000 * k + (i % 7) * 10;
    rows.push(
      `"KERNEL_DISPATCH","Agent 2",${1 + (i % 2)},${1 + (i % 2)},77,${i + 1},${k + 10},"${KERNELS[k]}",${i + 1},${time},${time + length},${k * 1024},0,${16 + 8 * k},0,32,256,1,1,65536,1,1`,
    );
    time += length + 100;
  }
  return `${rows.join('\n')}\n`;
}

const AGENTS =
  '"Node_Id","Logical_Node_Id","Agent_Type","Cu_Count","Simd_Per_Cu","Num_Xcc","Max_Waves_Per_Cu","Max_Engine_Clk_Fcompute","Name","Product_Name"\n' +
  '0,0,"CPU",0,0,0,0,0,"Some CPU","Some CPU"\n2,2,"GPU",304,4,8,32,2100,"gfx942","AMD Instinct MI300X"\n';

/** Counters of a copy of 1 MiB by 65,536 work-items: 8192 reads of 128 bytes and 16384 writes of 64. */
export const COPY_COUNTERS: Readonly<Record<string, number>> = {
  SQ_WAVES: 1024,
  TCC_BUBBLE_sum: 8192,
  TCC_EA0_RDREQ_sum: 8192,
  TCC_EA0_RDREQ_32B_sum: 0,
  TCC_EA0_WRREQ_sum: 16384,
  TCC_EA0_WRREQ_64B_sum: 16384,
};

/** Those of dispatch 1 to 3, and what they executed. */
export function counterCsv(): string {
  const header =
    '"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"';
  const rows = [header];
  const values: Record<string, number> = {
    ...COPY_COUNTERS,
    SQ_INSTS_MFMA: 0,
    ...Object.fromEntries(
      ['ADD', 'MUL', 'TRANS', 'FMA'].flatMap((kind) =>
        ['F16', 'F32', 'F64'].map((type) => [
          `SQ_INSTS_VALU_${kind}_${type}`,
          kind === 'FMA' && type === 'F32' ? 100 : 0,
        ]),
      ),
    ),
  };
  for (let id = 1; id <= 3; id++) {
    for (const [name, value] of Object.entries(values)) {
      rows.push(
        `${id},${id},"Agent 2",1,500,77,65536,${9 + id},"${KERNELS[id - 1]}",256,0,0,16,0,32,"${name}",${value}.000000,1550000000000000,1550000000009000`,
      );
    }
  }
  return `${rows.join('\n')}\n`;
}

/** A rocprofv3 CSV run: trace, agents, copies, calls, counters in a folder of their own. */
export function writeRocprofCsv(folder: string, rows = 12): void {
  mkdirSync(join(folder, 'pmc_1'), { recursive: true });
  writeFileSync(join(folder, '500_kernel_trace.csv'), kernelTraceCsv(rows));
  writeFileSync(join(folder, '500_agent_info.csv'), AGENTS);
  writeFileSync(
    join(folder, '500_memory_copy_trace.csv'),
    '"Kind","Direction","Stream_Id","Source_Agent_Id","Destination_Agent_Id","Correlation_Id","Start_Timestamp","End_Timestamp"\n' +
      '"MEMORY_COPY","MEMORY_COPY_HOST_TO_DEVICE",0,"Agent 0","Agent 2",1,1549999999990000,1549999999999000\n',
  );
  writeFileSync(
    join(folder, '500_hip_api_trace.csv'),
    '"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"\n' +
      [0, 1, 2]
        .map((i) => `"HIP_RUNTIME_API","hipLaunchKernel",500,77,1,154999999900${i}000,154999999900${i + 4}000\n`)
        .join(''),
  );
  writeFileSync(join(folder, 'pmc_1', '501_counter_collection.csv'), counterCsv());
}

/** The same facts as rocprofv3 JSON. */
export function rocprofJson(dispatches = 3, { kernels, grids } = FEW): string {
  const dispatchInfo = (i: number) => ({
    agent_id: { handle: 9002 },
    queue_id: { handle: 1 + (i % 2) },
    kernel_id: 10 + (i % kernels.length),
    dispatch_id: i + 1,
    private_segment_size: 0,
    group_segment_size: 0,
    workgroup_size: { x: 256, y: 1, z: 1 },
    grid_size: { x: 65536 * (1 + (Math.floor(i / kernels.length) % grids)), y: 1, z: 1 },
  });
  const times = (i: number) => ({ start_timestamp: 1_000_000 + i * 5000, end_timestamp: 1_004_000 + i * 5000 });
  return JSON.stringify({
    'rocprofiler-sdk-tool': [
      {
        metadata: { pid: 500, command: ['./app', 'x'] },
        agents: [
          { id: { handle: 9000 }, node_id: 0, logical_node_id: 0, type: 1, name: 'cpu' },
          {
            id: { handle: 9002 },
            node_id: 2,
            logical_node_id: 2,
            type: 2,
            name: 'gfx950',
            product_name: 'AMD Instinct MI350X',
            cu_count: 256,
            simd_per_cu: 4,
            num_xcc: 8,
            max_waves_per_cu: 32,
            max_engine_clk_fcompute: 2200,
          },
        ],
        counters: [{ id: { handle: 1 }, name: 'SQ_WAVES' }],
        strings: {
          buffer_records: [
            { kind: 'NONE', operations: [] },
            { kind: 'HIP_RUNTIME_API', operations: ['hipInit', 'hipLaunchKernel'] },
            { kind: 'MEMORY_COPY', operations: ['NONE', 'MEMORY_COPY_HOST_TO_DEVICE'] },
          ],
          pc_sample_instructions: ['s_waitcnt vmcnt(0)', 'v_add_f32_e32 v0, v1, v2'],
          pc_sample_comments: ['/src/app.hip:12', '/src/app.hip:13'],
        },
        code_objects: [],
        kernel_symbols: kernels.map((name, i) => ({
          kernel_id: 10 + i,
          kernel_name: `${name}.kd`,
          formatted_kernel_name: name,
          arch_vgpr_count: 24,
          accum_vgpr_count: 0,
          sgpr_count: 32,
        })),
        callback_records: {
          counter_collection: [
            {
              dispatch_data: { dispatch_info: dispatchInfo(0), correlation_id: { internal: 1 }, ...times(0) },
              records: [{ counter_id: { handle: 1 }, value: 1024 }],
            },
          ],
        },
        buffer_records: {
          kernel_dispatch: Array.from({ length: dispatches }, (_, i) => ({
            kind: 11,
            correlation_id: { internal: i + 1 },
            dispatch_info: dispatchInfo(i),
            ...times(i),
          })),
          hip_api: [
            { kind: 1, operation: 1, thread_id: 77, correlation_id: { internal: 1, external: 0 }, ...times(0) },
          ],
          memory_copy: [{ kind: 2, operation: 1, bytes: 4096, ...times(1) }],
          pc_sample_stochastic: [
            {
              inst_index: 0,
              record: {
                dispatch_id: 1,
                exec_mask: 255,
                wave_issued: 0,
                inst_type: 'ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_NO_INST',
                snapshot: { stall_reason: 'ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_WAITCNT' },
              },
            },
            {
              inst_index: 1,
              record: { dispatch_id: 1, exec_mask: 255, wave_issued: 1, inst_type: 'VALU', snapshot: {} },
            },
            { inst_index: -1, record: { dispatch_id: 9 } },
          ],
        },
      },
    ],
  });
}

const ROCPD_TABLES: Record<string, string> = {
  metadata: 'id INTEGER PRIMARY KEY, tag TEXT, value TEXT',
  string: 'id INTEGER PRIMARY KEY, guid TEXT, string TEXT',
  info_process: 'id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, command TEXT',
  info_agent:
    'id INTEGER PRIMARY KEY, guid TEXT, type TEXT, absolute_index INTEGER, name TEXT, model_name TEXT, product_name TEXT, extdata TEXT',
  info_pmc: 'id INTEGER PRIMARY KEY, guid TEXT, name TEXT',
  info_kernel_symbol:
    'id INTEGER PRIMARY KEY, guid TEXT, kernel_name TEXT, display_name TEXT, group_segment_size INTEGER, private_segment_size INTEGER, sgpr_count INTEGER, arch_vgpr_count INTEGER, accum_vgpr_count INTEGER',
  event: 'id INTEGER PRIMARY KEY, guid TEXT, category_id INTEGER, stack_id INTEGER',
  pmc_event: 'id INTEGER PRIMARY KEY, guid TEXT, event_id INTEGER, pmc_id INTEGER, value REAL',
  region:
    'id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, start BIGINT, "end" BIGINT, name_id INTEGER, event_id INTEGER',
  kernel_dispatch:
    'id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER, kernel_id INTEGER, dispatch_id INTEGER, queue_id INTEGER, stream_id INTEGER, start BIGINT, "end" BIGINT, private_segment_size INTEGER, group_segment_size INTEGER, workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z INTEGER, grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER, region_name_id INTEGER, event_id INTEGER, extdata TEXT',
  memory_copy:
    'id INTEGER PRIMARY KEY, guid TEXT, pid INTEGER, start BIGINT, "end" BIGINT, name_id INTEGER, size INTEGER, stream_id INTEGER, event_id INTEGER',
  memory_allocate: 'id INTEGER PRIMARY KEY, guid TEXT, type TEXT, level TEXT, size INTEGER',
};

/** Runs SQL that writes a database file. */
export function writeDatabase(path: string, statements: readonly string[]): void {
  const require = createRequire(import.meta.url);
  const { Database } = require('node-sqlite3-wasm') as typeof import('node-sqlite3-wasm');
  const db = new Database(path);
  try {
    db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF');
    for (const statement of statements) db.exec(statement);
  } finally {
    db.close();
  }
}

/** The rows of a rocpd database with `n` dispatches, for tables named `rocpd_<name><suffix>`. */
export function rocpdRows(suffix: string, n: number, { kernels, grids } = FEW): string[] {
  const into = (table: string, columns: string, values: string) =>
    `INSERT INTO "rocpd_${table}${suffix}" (${columns}) ${values}`;
  const extdata =
    '\'{"cu_count":256,"simd_per_cu":4,"num_xcc":8,"max_waves_per_cu":32,"max_engine_clk_fcompute":2200,"__proto__":{"x":1}}\'';
  return [
    into(
      'string',
      'id, string',
      "VALUES (1,'HIP_RUNTIME_API'), (2,'hipLaunchKernel'), (3,'MEMORY_COPY_HOST_TO_DEVICE')",
    ),
    into(
      'info_agent',
      'id, nid, pid, type, absolute_index, name, product_name, extdata',
      `VALUES (4,1,1,'GPU',2,'gfx950','AMD Instinct MI350X',${extdata})`,
    ),
    // SQLite takes statements of a million bytes.
    ...Array.from({ length: Math.ceil(kernels.length / 1000) }, (_, part) =>
      into(
        'info_kernel_symbol',
        'id, nid, pid, code_object_id, kernel_name, display_name, group_segment_size, private_segment_size, sgpr_count, arch_vgpr_count, accum_vgpr_count',
        `VALUES ${kernels
          .slice(1000 * part, 1000 * (part + 1))
          .map((name, i) => `(${1000 * part + i + 1},1,1,1,'${name}.kd','${name}',0,0,32,24,0)`)
          .join(', ')}`,
      ),
    ),
    into('info_pmc', 'id, nid, pid, agent_id, name, symbol', "VALUES (1,1,1,4,'SQ_WAVES','SQ_WAVES')"),
    `WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < ${n - 1}) ${into(
      'event',
      'id, category_id, stack_id',
      'SELECT i + 1, 1, i + 1 FROM c',
    )}`,
    `WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < ${n - 1}) ${into(
      'kernel_dispatch',
      'nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start, "end", private_segment_size, group_segment_size, workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, event_id',
      `SELECT 1, 1, 1, 4, 1 + i % ${kernels.length}, i + 1, 1 + i % 2, 1, 1000000 + i * 5000, 1004000 + i * 5000 + i % 100, 0, 0, 256, 1, 1, 65536 * (1 + i / ${kernels.length} % ${grids}), 1, 1, i + 1 FROM c`,
    )}`,
    into('pmc_event', 'event_id, pmc_id, value', 'VALUES (1,1,512), (1,1,512)'),
    into('region', 'nid, pid, tid, start, "end", name_id, event_id', 'VALUES (1,1,1,900000,904000,2,1)'),
    into('memory_copy', 'nid, pid, start, "end", name_id, size', 'VALUES (1,1,990000,999000,3,4096)'),
    into('memory_allocate', 'nid, pid, type, level, start, "end", size', "VALUES (1,1,'ALLOC','REAL',1,2,4096)"),
  ];
}

/** A rocpd database with our own minimal tables. */
export function writeRocpd(
  path: string,
  n: number,
  suffix = '_0000ddb5_8903_7903_b269_cd8d3745bb8a',
  many: ManyKernels = FEW,
): void {
  const extra =
    'nid INTEGER, pid INTEGER, tid INTEGER, code_object_id INTEGER, agent_id INTEGER, symbol TEXT, start BIGINT, "end" BIGINT';
  const tables = Object.entries(ROCPD_TABLES).map(([name, columns]) => {
    const have = new Set(columns.split(',').map((c) => c.trim().split(' ')[0]));
    const missing = extra.split(', ').filter((c) => !have.has(c.split(' ')[0]));
    return `CREATE TABLE "rocpd_${name}${suffix}" (${[columns, ...missing].join(', ')})`;
  });
  writeDatabase(path, [
    ...tables,
    `INSERT INTO "rocpd_metadata${suffix}" (tag, value) VALUES ('schema_version', '3')`,
    `INSERT INTO "rocpd_info_process${suffix}" (id, nid, pid, command) VALUES (1, 1, 500, './app')`,
    ...rocpdRows(suffix, n, many),
  ]);
}

/** A rocprof-compute workload folder of a gfx942 with per-channel columns, CRLF line ends and rounded timestamps. */
export function writeComputeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'sysinfo.csv'),
    'workload_name,command,gpu_model,gpu_arch,cu_per_gpu,simd_per_cu,max_waves_per_cu,max_sclk,max_mclk,total_l2_chan,num_xcd,num_hbm_channels\r\n' +
      'copy,./copy,MI300X,gfx942,304,4,32,0,1300,128,8,128\r\n',
  );
  writeFileSync(
    join(folder, 'pmc_perf.csv'),
    'Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,Wave_Size_1,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES,TCC_EA0_RDREQ[0],TCC_EA0_RDREQ[1],TCC_BUBBLE_sum,TCC_EA0_RDREQ_32B_sum,TCC_EA0_WRREQ_sum,TCC_EA0_WRREQ_64B_sum\r\n' +
      '0,2,65536,256,0,0,4,4,16,64,"copy(double*, double*) (.kd)",8.1097E+14,8.1097E+14,1024,4096,4096,8192,0,16384,16384\r\n',
  );
  writeFileSync(
    join(folder, 'SQ_LEVEL_WAVES.csv'),
    'Dispatch_ID,Kernel_Name,Grid_Size,Workgroup_Size,GRBM_GUI_ACTIVE,SQ_ACCUM_PREV_HIRES\r\n0,"copy(double*, double*) (.kd)",65536,256,8000,304000\r\n',
  );
}

/** A decoded ATT folder with one wave; `columns` 10 or 13, header as text or array. */
export function writeAttFolder(folder: string, columns: 10 | 13): void {
  mkdirSync(folder, { recursive: true });
  const names = ['ISA', '_', 'LineNumber', 'Source', 'Codeobj', 'Vaddr', 'Hit', 'Latency', 'Stall', 'Idle'];
  const extra = columns === 13 ? ['PC_Issued', 'PC_Stalled', 'Stall_Reasons'] : [];
  const tail = (reason: number[]) => (columns === 13 ? [1, 2, reason] : []);
  const code = [
    ['; scale', 0, 0, 'void scale<float>(float*, int)', 1, 4096, 0, 0, 0, 0, ...tail([])],
    [
      'global_load_dword v1, v[2:3], off',
      0,
      1,
      '/src/app.hip:12',
      1,
      4096,
      2,
      16,
      4,
      8,
      ...tail([0, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
    ],
    ['s_waitcnt vmcnt(0)', 0, 2, '/src/app.hip:12', 1, 4104, 2, 800, 792, 0, ...tail([0, 0, 0, 2, 0, 0, 0, 0, 0, 0])],
    [
      'v_mfma_f32_16x16x16_f16 v[0:3], v[0:1], v[2:3], v[0:3]',
      0,
      3,
      '/src/app.hip:13 -> /src/b.h:2',
      1,
      4108,
      2,
      32,
      8,
      0,
      ...tail([]),
    ],
    ['s_cbranch_scc1 65530', 0, 4, '', 1, 4116, 2, 8, 0, 0, ...tail([])],
    ['s_endpgm', 0, 5, '', 1, 4120, 2, 8, 0, 0, ...tail([])],
  ];
  const header = columns === 13 ? [...names, ...extra] : names.join(', ');
  writeFileSync(join(folder, 'code.json'), JSON.stringify({ code, version: '3.0.0', header }));
  writeFileSync(join(folder, 'filenames.json'), JSON.stringify({ gfxip: 9, gfxv: 'vega', counter_names: ['SQ_BUSY'] }));
  writeFileSync(
    join(folder, 'se0_sm1_sl2_wv0.json'),
    JSON.stringify({
      name: 'wave',
      wave: {
        cu: 1,
        id: 0,
        simd: 1,
        slot: 2,
        begin: 100,
        end: 1000,
        instructions: [
          [108, 3, 2, 8, 1],
          [120, 9, 396, 400, 2],
          [520, 6, 4, 16, 3],
        ],
        timeline: [
          [1, 8],
          [2, 12],
          [3, 400],
        ],
      },
    }),
  );
  writeFileSync(
    join(folder, 'occupancy.json'),
    JSON.stringify({
      '0': [
        [100, 1, 1, 2, 1, 0],
        [1000, 1, 1, 2, 0, 0],
      ],
      dispatches: {},
      version: '3.0.0',
    }),
  );
  writeFileSync(join(folder, 'se0_perfcounter.json'), JSON.stringify({ data: [[100, 1, 2, 3, 4, 1, 0]] }));
}

/** Writes SQTT tokens; times are relative steps of at most one token. */
export class SqttWriter {
  private readonly bytes: number[] = [];

  constructor(header: { readonly version: number; readonly targetCu: number; readonly shaderEngine: number }) {
    const low = 0x11 | (header.version << 13) | (0xf << 16) | (header.targetCu << 20) | (header.shaderEngine << 26);
    this.raw(BigInt(low >>> 0), 8);
  }

  private raw(value: bigint, size: number): this {
    for (let i = 0; i < size; i++) this.bytes.push(Number((value >> BigInt(8 * i)) & 0xffn));
    return this;
  }

  /** Lets `cycles` pass (a multiple of 4): with an empty token a cycle to the end of the packet, then with one pause. */
  wait(cycles: number): this {
    let steps = cycles / 4;
    for (; steps > 0 && this.room() > 0; steps--) this.raw(0x10n, 2).raw(0n, Math.min(6, this.room()));
    while (steps > 0) {
      const pause = Math.min(steps, 254);
      this.fill().raw(BigInt(pause) << 4n, 2);
      steps -= pause;
    }
    return this;
  }

  /** Bytes to the end of the packet of 32 bytes; 0 at its start. */
  private room(): number {
    return (32 - ((this.bytes.length - 8) % 32)) % 32;
  }

  private fill(): this {
    return this.raw(0n, this.room());
  }

  reset(stamp: number): this {
    this.fill().raw(BigInt((1 << 13) | 0xff0), 2);
    return this.raw((BigInt(stamp) << 16n) | 1n, 8);
  }

  program(address: number): this {
    const page = BigInt(Math.floor(address / 256));
    for (const [register, value] of [
      [0x0cn, page & 0xffffffffn],
      [0x0dn, page >> 32n],
    ]) {
      this.raw(5n | (1n << 7n) | (register << 9n) | (value << 16n), 6);
    }
    return this;
  }

  private wave(type: bigint, cu: number, simd: number, slot: number, size: number): this {
    const where = (BigInt(cu) << 6n) | (BigInt(slot) << 10n) | (BigInt(simd) << 14n);
    return this.raw(type | where, size);
  }
  start(cu: number, simd: number, slot: number): this {
    return this.wave(3n, cu, simd, slot, 4);
  }
  end(cu: number, simd: number, slot: number): this {
    return this.wave(6n, cu, simd, slot, 2);
  }

  /** ISSUE: 1 stall, 2 instruction, 3 immediate. */
  issue(simd: number, slot: number, status: number): this {
    return this.raw(13n | (BigInt(simd) << 5n) | (BigInt(status) << BigInt(8 + 2 * slot)), 4);
  }
  inst(simd: number, slot: number, type: number): this {
    return this.raw(10n | (BigInt(slot) << 5n) | (BigInt(simd) << 9n) | (BigInt(type) << 11n), 2);
  }

  finish(): Uint8Array {
    return Uint8Array.from(this.fill().bytes);
  }
}

/** A small gfx942 code object: load (or two adds), wait, add, barrier, loop branch, end; the kernel starts at 0x100. */
export function sampleCodeObject(first: 'load' | 'adds' = 'load'): Uint8Array {
  const words = [
    ...new Array<number>(64).fill(0xbf800000), // padding up to 0x100
    ...(first === 'load' ? [0xc0020002, 0x00000000] : [0x02020400, 0x02020400]), // s_load_dword s0, s[4:5], 0x0
    0xbf8cc07f, // s_waitcnt lgkmcnt(0)
    0x02020400, // v_add_f32_e32 v1, s0, v2
    0xbf8a0000, // s_barrier
    0xbf84fffd, // s_cbranch_scc0 to the add
    0xbf810000, // s_endpgm
  ];
  const bytes = new Uint8Array(new Uint32Array(words).buffer);
  const text: ObjectSection = {
    name: '.text',
    type: SectionType.PROGBITS,
    flags: SectionFlag.ALLOC | SectionFlag.EXECINSTR,
    alignment: 256,
    entrySize: 0,
    size: bytes.length,
    bytes,
    relocations: [],
  };
  return writeObject({
    flags: 0x4c,
    osAbi: 64,
    abiVersion: 3,
    sections: [text],
    symbols: [
      {
        name: 'loop_kernel',
        binding: 1,
        type: 2,
        visibility: 3,
        section: text,
        value: 0x100n,
        size: BigInt(bytes.length - 0x100),
      },
    ],
  });
}

/** A trace of `waves` waves of the sample code on the target CU; each goes `loops` times through the loop. */
export function sampleSqtt(base: number, waves = 2, headerCu = 3, loops = 2): Uint8Array {
  const CU = 3;
  const w = new SqttWriter({ version: 5, targetCu: headerCu, shaderEngine: 1 });
  w.reset(1_000_000).program(base + 0x100);
  for (let i = 0; i < waves; i++) {
    const simd = i % 4;
    w.start(CU, simd, 0).start(9, simd, 0).wait(40);
    w.issue(simd, 0, 2).wait(4).inst(simd, 0, 0); // s_load
    w.wait(100).issue(simd, 0, 3); // s_waitcnt
    for (let loop = 1; loop <= loops; loop++) {
      w.wait(8).issue(simd, 0, 1).wait(8).issue(simd, 0, 2).wait(4).inst(simd, 0, 5); // v_add after a stall
      w.wait(8).issue(simd, 0, 2).wait(4).inst(simd, 0, 15); // s_barrier, entry
      w.wait(20).issue(simd, 0, 3); // s_barrier, exit
      w.wait(8)
        .issue(simd, 0, 2)
        .wait(4)
        .inst(simd, 0, loop < loops ? 12 : 13);
    }
    w.wait(8).issue(simd, 0, 2).wait(4).inst(simd, 0, 15); // s_endpgm
    w.end(CU, simd, 0).end(9, simd, 0);
  }
  return w.finish();
}
