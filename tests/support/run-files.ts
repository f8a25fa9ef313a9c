// Files of rocprofv3 of a run whose numbers are known, with what real folders have of odds: other columns, separators, values, processes.
const KERNELS = ['void scale<float>(float*, int)', 'reduce(float const*, float*)', 'copy_rows'];
/** Start of the first dispatch. */
export const BEGIN = 1_550_000_000_000_000;

/** A dispatch, and what it counted. */
export interface RunDispatch {
  readonly id: number;
  readonly kernel: string;
  readonly pid: number;
  readonly start: number;
  readonly end: number;
  /** Work-items along x. */
  readonly grid: number;
  readonly counters: Readonly<Record<string, number>>;
}

/** Counters of one pass and of another. */
export const FLOPS = /^SQ_/;
export const MEMORY = /^(?:TCC|GRBM)_/;

const NO_FLOPS = Object.fromEntries(
  ['ADD', 'MUL', 'TRANS', 'FMA'].flatMap((kind) =>
    ['F16', 'F32', 'F64'].map((type) => [`SQ_INSTS_VALU_${kind}_${type}`, 0] as const),
  ),
);

/** `n` dispatches of three kernels in turn. Each reads 8 bytes and writes 4 for each work-item; `ns` later than `BEGIN`. */
export function run(n: number, { pid = 500, ns = 0 } = {}): RunDispatch[] {
  let start = BEGIN + ns;
  return Array.from({ length: n }, (_, i) => {
    const k = i % KERNELS.length;
    const [grid, length] = [65536 * (1 + k), 9000 * (1 + k) + ((37 * i) % 500)];
    const waves = grid / 64;
    const one = {
      ...{ id: i + 1, kernel: KERNELS[k], pid, start, end: start + length, grid },
      counters: {
        ...{ SQ_WAVES: waves, SQ_INSTS_VALU: 20 * waves, SQ_INSTS_MFMA: 0 },
        ...NO_FLOPS,
        SQ_INSTS_VALU_FMA_F32: 10 * waves,
        ...{ TCC_BUBBLE_sum: 0, TCC_EA0_RDREQ_32B_sum: 0, TCC_EA0_RDREQ_sum: grid / 8 },
        ...{ TCC_EA0_WRREQ_sum: grid / 16, TCC_EA0_WRREQ_64B_sum: grid / 16, GRBM_GUI_ACTIVE: 2 * length },
      },
    };
    start += length + 700;
    return one;
  });
}

/** How a table is written: its columns, what is between cells and rows, and what becomes of a cell. */
export interface TableStyle {
  readonly columns?: readonly string[];
  readonly separator?: string;
  readonly newline?: string;
  readonly cell?: (column: string, text: string, of: RunDispatch) => string;
}

export const TRACE_COLUMNS =
  'Kind,Agent_Id,Queue_Id,Stream_Id,Thread_Id,Dispatch_Id,Kernel_Id,Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp,LDS_Block_Size,Scratch_Size,VGPR_Count,Accum_VGPR_Count,SGPR_Count,Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z,Grid_Size_X,Grid_Size_Y,Grid_Size_Z'.split(
    ',',
  );
export const COUNTER_COLUMNS =
  'Correlation_Id,Dispatch_Id,Agent_Id,Queue_Id,Process_Id,Thread_Id,Grid_Size,Kernel_Id,Kernel_Name,Workgroup_Size,LDS_Block_Size,Scratch_Size,VGPR_Count,Accum_VGPR_Count,SGPR_Count,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp'.split(
    ',',
  );
const QUOTED = new Set(['Kind', 'Agent_Id', 'Kernel_Name', 'Counter_Name']);

type Cells = Readonly<Record<string, string | number>>;

function table(own: readonly string[], rows: readonly (readonly [RunDispatch, Cells])[], style: TableStyle): string {
  const { columns = own, separator = ',', newline = '\n', cell = (_: string, text: string) => text } = style;
  const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  const lines = rows.map(([of, cells]) =>
    columns
      .map((column) => {
        const text = cell(column, String(cells[column] ?? ''), of);
        return QUOTED.has(column) || /[",\n]/.test(text) ? quote(text) : text;
      })
      .join(separator),
  );
  return [columns.map(quote).join(separator), ...lines].map((line) => line + newline).join('');
}

function common({ id, kernel, pid, start, end }: RunDispatch): Cells {
  return {
    ...{ Agent_Id: 'Agent 2', Queue_Id: 1, Stream_Id: 1, Process_Id: pid, Thread_Id: 77, Dispatch_Id: id },
    ...{ Kernel_Id: 10 + KERNELS.indexOf(kernel), Kernel_Name: kernel, Correlation_Id: id },
    ...{ Start_Timestamp: start, End_Timestamp: end, LDS_Block_Size: 0, Scratch_Size: 0 },
    ...{ VGPR_Count: 16, Accum_VGPR_Count: 0, SGPR_Count: 32 },
  };
}

/** The kernel trace of a run. */
export function traceOf(dispatches: readonly RunDispatch[], style: TableStyle = {}): string {
  const sizes = { Workgroup_Size_X: 256, Workgroup_Size_Y: 1, Workgroup_Size_Z: 1, Grid_Size_Y: 1, Grid_Size_Z: 1 };
  return table(
    TRACE_COLUMNS,
    dispatches.map((of) => [of, { ...common(of), ...sizes, Kind: 'KERNEL_DISPATCH', Grid_Size_X: of.grid }]),
    style,
  );
}

/** The counters of a run whose names fit. */
export function countersOf(dispatches: readonly RunDispatch[], names = /^/, style: TableStyle = {}): string {
  const rows = dispatches.flatMap((of) =>
    Object.entries(of.counters)
      .filter(([name]) => names.test(name))
      .map(([name, value]) => {
        const own = { Grid_Size: of.grid, Workgroup_Size: 256, Counter_Name: name, Counter_Value: `${value}.000000` };
        return [of, { ...common(of), ...own }] as const;
      }),
  );
  return table(COUNTER_COLUMNS, rows, style);
}

/** An MI300X, as agent 2. */
export const AGENTS =
  '"Node_Id","Logical_Node_Id","Agent_Type","Cu_Count","Simd_Per_Cu","Num_Xcc","Max_Waves_Per_Cu","Max_Engine_Clk_Fcompute","Name","Product_Name"\n' +
  '0,0,"CPU",0,0,0,0,0,"Some CPU","Some CPU"\n2,2,"GPU",304,4,8,32,2100,"gfx942","AMD Instinct MI300X"\n';
