// Transposes a rows × columns matrix through 16 × 16 LDS tiles (one column of padding avoids bank conflicts).
// clang -target amdgcn-amd-amdhsa -mcpu=gfx942 -nogpulib -O2 transpose.c -o transpose.co
#include "kernel.h"

KERNEL void transpose(GLOBAL uint *out, const GLOBAL uint *in, uint rows, uint columns) {
  SHARED uint tile[16][17];
  uint tx = __builtin_amdgcn_workitem_id_x(), ty = __builtin_amdgcn_workitem_id_y();
  uint bx = __builtin_amdgcn_workgroup_id_x(), by = __builtin_amdgcn_workgroup_id_y();
  uint column = bx * 16 + tx, row = by * 16 + ty;
  if (row < rows && column < columns) tile[ty][tx] = in[row * columns + column];
  barrier();
  uint outColumn = by * 16 + tx, outRow = bx * 16 + ty;
  if (outRow < columns && outColumn < rows) out[outRow * rows + outColumn] = tile[tx][ty];
}
