// Which lane a DPP control reads from. Source: AMD CDNA3 ISA, "Data Parallel Processing (DPP)"; LLVM's AMDGPU::DPP::DppCtrl.

/** The source lane of `lane` under a DPP control, or -1 when there is none. */
export function dppSourceLane(control: number, lane: number): number {
  const row = lane & ~15;
  const inRow = lane & 15;
  if (control <= 0xff) return (lane & ~3) | ((control >> (2 * (lane & 3))) & 3);
  const count = control & 15;
  switch (control & ~15) {
    case 0x100: // row_shl
      return inRow + count < 16 ? lane + count : -1;
    case 0x110: // row_shr
      return inRow >= count ? lane - count : -1;
    case 0x120: // row_ror
      return row | ((inRow - count) & 15);
    case 0x150: // row_newbcast
      return row | count;
  }
  switch (control) {
    case 0x130: // wave_shl:1
      return lane < 63 ? lane + 1 : -1;
    case 0x134: // wave_rol:1
      return (lane + 1) & 63;
    case 0x138: // wave_shr:1
      return lane - 1;
    case 0x13c: // wave_ror:1
      return (lane - 1) & 63;
    case 0x140: // row_mirror
      return row | (15 - inRow);
    case 0x141: // row_half_mirror
      return (lane & ~7) | (7 - (lane & 7));
    case 0x142: // row_bcast:15
      return row - 1;
    case 0x143: // row_bcast:31
      return lane >= 32 ? 31 : -1;
  }
  return -1;
}
