// Where LDS and scratch are in the flat address space of a GPU of the gfx9 family.
// Source: Linux amdkfd, kfd_flat_memory.c, apertures for GFX9; LLVM AMDGPUUsage, "Memory Spaces".

/** High words of the addresses at which LDS and scratch begin. */
export const SHARED_APERTURE_HIGH = 0x10000;
export const PRIVATE_APERTURE_HIGH = 0x20000;
