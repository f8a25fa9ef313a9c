// Where what strict mode knows of a wavefront lies in the memory of the virtual GPU, as TypeScript and compiled code find it: offsets in bytes from the beginning of the
// wavefront's shadow, and what stands there.

/** Bytes of the shadow of one wavefront: vector registers, scalar registers, pending slots. */
export const SHADOW_VECTORS = 0;
export const VECTOR_BYTES = 16;
export const SHADOW_SCALARS = 512 * VECTOR_BYTES;
export const SCALAR_WORDS = 8;
export const SHADOW_PENDING = SHADOW_SCALARS + 4 * SCALAR_WORDS;
/**
 * i32: operations that are outstanding; then ACCESS_* of the access that compiled code is about to execute, the vector stores that the
 * wavefront has issued, and those of them that are known to be complete.
 */
export const SHADOW_TOTAL = SHADOW_PENDING + 96;
export const SHADOW_ACCESS = SHADOW_TOTAL + 4;
export const SHADOW_STORES = SHADOW_TOTAL + 8;
export const SHADOW_COMPLETE = SHADOW_TOTAL + 12;
/** i32: loads from memory into LDS that the wavefront has issued, and those of them that are known to be complete. */
export const SHADOW_FLIGHTS = SHADOW_TOTAL + 16;
export const SHADOW_FLIGHTS_DONE = SHADOW_TOTAL + 20;
/** i32: where the table of the ways that have been looked at in the dispatch is (trails.ts), and 1 when nothing is missing on the last one. */
export const SHADOW_WAYS = SHADOW_TOTAL + 24;
export const SHADOW_IS_CLEAN = SHADOW_TOTAL + 28;
/** v128, as many: the last blocks that the wavefront has executed, as trails.ts has them. */
export const SHADOW_TRAIL = SHADOW_TOTAL + 32;
export const TRAIL_VECTORS = 3;
/** i32: who the wavefront is (race-page.ts), the barriers that its workgroup has passed, the table of pages (race-pages.ts) and its length. */
export const SHADOW_ACTOR = SHADOW_TRAIL + 16 * TRAIL_VECTORS;
export const SHADOW_EPOCH = SHADOW_ACTOR + 4;
export const SHADOW_PAGES = SHADOW_ACTOR + 8;
export const SHADOW_PAGE_COUNT = SHADOW_ACTOR + 12;
/** i32: the shadow of the workgroup's LDS (lds.ts), and this wavefront's tag in it, four times. */
export const SHADOW_LDS = SHADOW_ACTOR + 16;
export const SHADOW_LDS_TAG = SHADOW_ACTOR + 20;
/** The operations that compiled code has issued since WaitQueue was last told: entries of the log, and how many are outstanding of kind 'vm'. */
export const SHADOW_LOGGED = SHADOW_ACTOR + 24;
export const SHADOW_LOGGED_VM = SHADOW_ACTOR + 28;
/** i32: s_barrier instructions executed, and the last one's place in the image. */
export const SHADOW_BARRIERS = SHADOW_ACTOR + 32;
export const SHADOW_LAST_BARRIER = SHADOW_ACTOR + 36;
/** i32: where the kernel's arguments are in wasm memory, and their bytes; 0 where they are elsewhere. */
export const SHADOW_KERNARG = SHADOW_ACTOR + 40;
export const SHADOW_KERNARG_BYTES = SHADOW_ACTOR + 44;
/** i64: lanes of the access that is looked at which its buffer drops; i32: where the table of instructions that drop is (drops.ts). */
export const SHADOW_DROPS = SHADOW_ACTOR + 48;
export const SHADOW_DROP_TABLE = SHADOW_ACTOR + 56;
/**
 * i32: entries of the log whose operations have left it (their LOG_KIND is 0); 1 when operations of the log write one slot, which has one bit
 * among those pending.
 */
export const SHADOW_LEFT = SHADOW_ACTOR + 60;
export const SHADOW_OVERLAPS = SHADOW_ACTOR + 64;
/**
 * i32: stores of the wavefront that came before it last told others something; all ones where others can learn at any time what is complete by then. Others
 * may know of stores below the first one, or SHADOW_COMPLETE in the second case, and not of later ones (Toucher.told).
 */
export const SHADOW_RELEASED = SHADOW_ACTOR + 68;
export const SHADOW_LEARNS = SHADOW_ACTOR + 72;
/** i32: by place in the image, as EVENT_SLOTS says, the last event of global memory that compiled code has made (compiled/events.ts). */
export const SHADOW_EVENTS = SHADOW_ACTOR + 76;
export const EVENT_SLOTS = 16;
/** i32: a number below that of any event of the wavefront, or the same, as long as EVENTS_RENUMBERED is 0 (race-events.ts). */
export const SHADOW_FIRST_EVENT = SHADOW_EVENTS + 4 * EVENT_SLOTS;
/** i32: the sum of SHADOW_STORES and SHADOW_COMPLETE at the last barrier, as long as the wavefront knows of no more stores of others; else one that they do not have. */
export const SHADOW_SETTLED = SHADOW_FIRST_EVENT + 4;
/**
 * i32: the log of atomics (sync-log.ts); 1 when it has what the wavefront knows of stores; how many of the outstanding operations have entries there.
 */
export const SHADOW_SYNC = SHADOW_FIRST_EVENT + 8;
export const SHADOW_KNOWN = SHADOW_FIRST_EVENT + 12;
export const SHADOW_FETCHES = SHADOW_FIRST_EVENT + 16;
/** i32: whether the load that is looked at may read what atomics of others are changing; whether it has. */
export const SHADOW_AHEAD = SHADOW_FIRST_EVENT + 20;
export const MAY_LOOK_AHEAD = 1;
export const HAS_LOOKED_AHEAD = 2;
/**
 * i32[6]: of the last load with device scope by one lane, its place in the image and one, -1 where that does not matter, or 0 where the next one is to be looked at in any case; its offset in
 * wasm memory, the words of the writers of its dwords, and SyncLog.state (compiled/polls.ts).
 */
export const SHADOW_POLL = SHADOW_AHEAD + 4;
export const POLL_PC = 0;
export const POLL_AT = 4;
export const POLL_WORD = 8;
export const POLL_SECOND = 12;
export const POLL_STATE = 16;
/** i32: stores of the wavefront up to the last one that is no atomic. */
export const SHADOW_PLAIN = SHADOW_POLL + 24;
/**
 * i32: how often the wavefront has told other workgroups something. Where any store may tell something (announcements.ts) this has barriers of the grid only, and
 * SHADOW_STORES is added to it: SHADOW_ANNOUNCES, behind SHADOW_ORIGINS, is all ones there.
 */
export const SHADOW_RELEASES = SHADOW_POLL + 28;
/** i32: flat operations in the log. */
export const SHADOW_LOGGED_FLATS = SHADOW_POLL + 32;
/** i32: what the bits of written bytes of the workgroup's scratch begin with, less an eighth of where it is in wasm memory (scratch.ts); 0 for none. */
export const SHADOW_SCRATCH = SHADOW_POLL + 36;
/** i32: in which memories the lanes of the flat access are that compiled code has looked at, a bit each (wasm/memory/flat.ts). */
export const SHADOW_APERTURE = SHADOW_POLL + 40;
/** i32: what is known of registers why they are undefined: of some it is scratch (SHADOW_SCRATCH_ORIGINS), of some TypeScript knows it. */
export const SHADOW_ORIGINS = SHADOW_POLL + 44;
export const ARE_OF_SCRATCH = 1;
export const ARE_OTHER = 2;
export const SHADOW_ANNOUNCES = SHADOW_POLL + 48;
/** i32[2]: SyncLog.state when the wavefront last invalidated its caches: there is nothing new for it as long as that is so. */
export const SHADOW_INVALIDATED = SHADOW_POLL + 52;
/**
 * i32[2]: of the last write-back of caches, how many stores the wavefront had issued and one: of the last that is not done yet, and of the last that is done and that
 * TypeScript has not taken (WaveShadow.takeWrittenBack); 0 for none.
 */
export const SHADOW_WRITE_BACK = SHADOW_INVALIDATED + 8;
export const SHADOW_WRITTEN_BACK = SHADOW_INVALIDATED + 12;
/**
 * i32: an invalidation of caches is to be looked at with both of these: the workgroup has come to a barrier since it was last found to have been handed over something
 * (HandedOverBefore); one of its wavefronts may have learnt something since nothing new was found.
 */
export const SHADOW_MET = SHADOW_INVALIDATED + 16;
export const HAS_MET = 1;
export const HAS_FETCHED = 2;
/**
 * i32: the sum of SHADOW_STORES, SHADOW_COMPLETE and SHADOW_FLIGHTS_DONE when the wavefront last told others of its workgroup something through LDS, or at the last barrier: as long as they have it
 * there is nothing more to tell of stores and loads into LDS (told-stores.ts). MUST_TELL where TypeScript has to tell what the wavefront knows.
 */
export const SHADOW_TOLD = SHADOW_MET + 4;
export const MUST_TELL = 0xffffffff;
/**
 * i32[4]: where the next entry of the log of reads was when this wavefront's last run was logged, its place in the image, the epoch, LOG_ROUND: as long
 * as these are the same, the reader need not be named again (compiled/log.ts).
 */
export const SHADOW_READER = (SHADOW_TOLD + 4 + 15) & -16;
export const SHADOW_LOG = SHADOW_READER + 16;
/**
 * An entry of the log: i32 place in the image, i32 number of LDS parts, i32 what it is (LOGGED_*, 0 when it has left), i16 first slot that it writes and their
 * number; then for each part i64 lanes, i32 1 when all lanes are one run of bytes from the first address on, and 64 LDS addresses.
 */
export const LOG_PC = 0;
export const LOG_PARTS = 4;
export const LOG_KIND = 8;
export const LOG_SLOT = 12;
export const LOG_SLOTS = 14;
/** Vector memory (a store of it: both; a load of it into LDS: both), LDS, scalar memory. */
export const LOGGED_VM = 1;
export const LOGGED_STORE = 2;
export const LOGGED_LDS = 4;
export const LOGGED_SCALAR = 8;
export const LOGGED_FLIGHT = 16;
/** What learns from others by the log of atomics: the number of its entry there is in place of a part, 0 for none. */
export const LOGGED_FETCH = 32;
/** Flat: which counters no wait has drained since are FLAT_VM and FLAT_LGKM, moved up. */
export const LOGGED_FLAT = 64;
export const FLAT_LEFT_SHIFT = 7;
/** Of vector memory: when it is complete, a write-back is done; LOG_BACK is SHADOW_WRITE_BACK of that. */
export const LOGGED_BACK = 4096;
/** Of LDS, and flat: its parts are what it reads there, a load that may be outstanding at a barrier. */
export const LOGGED_READ = 8192;
export const LOG_PART = 16;
export const LOG_BACK = 20;
/** In a part, behind its lanes: whether there is one run of bytes for all; the LDS addresses. */
export const PART_RUN = 8;
export const PART_ADDRESSES = 16;
export const LOG_PART_BYTES = PART_ADDRESSES + 4 * 64;
export const LOG_ENTRY_BYTES = LOG_PART + 2 * LOG_PART_BYTES;
/** Entries; a full log is told to the queue. */
export const LOG_ENTRIES = 128;
/** i32: a number for the store that is looked at, the register with its addresses (0: none); then the table of compiled/lanes.ts. */
export const SHADOW_STAMP = SHADOW_LOG + LOG_ENTRIES * LOG_ENTRY_BYTES;
export const SHADOW_ADDRESSES = SHADOW_STAMP + 4;
export const SHADOW_LANES = SHADOW_STAMP + 16;
export const LANE_SLOTS = 1024;
/** The words of two registers: the addresses of an access that overwrites them (compiled/moves.ts). */
export const SHADOW_KEPT = SHADOW_LANES + 8 * LANE_SLOTS;
/** What is behind the vector registers and before the log, as it is when a wavefront begins (WaveShadow.begin). */
export const SHADOW_START = SHADOW_KEPT + 2 * 256;
export const SHADOW_START_BYTES = SHADOW_LOG - SHADOW_SCALARS;
/**
 * What a load of scratch has found undefined: i32 whether there is anything; by dword of a lane, i64 the lanes, then i32 the offset of the first of them
 * (compiled/scratch.ts).
 */
export const SHADOW_MISSING = (SHADOW_START + SHADOW_START_BYTES + 15) & -16;
export const MISSING_DWORDS = 4;
export const MISSING_LANES = 16;
export const MISSING_OFFSETS = MISSING_LANES + 8 * MISSING_DWORDS;
/** i32[2] by vector register: one and the place of the load of scratch that left it undefined, 0 where another origin holds; the offset there. */
export const SHADOW_SCRATCH_ORIGINS = SHADOW_MISSING + MISSING_OFFSETS + 4 * MISSING_DWORDS;
/** i64[3]: the lanes of a flat access by memory, where they are in several (wasm/memory/flat.ts). */
export const SHADOW_SPLIT = SHADOW_SCRATCH_ORIGINS + 8 * 512;
export const SHADOW_BYTES = SHADOW_SPLIT + 32;

/** Every register that is read is defined, but for the data of a store, and none that is named is in flight; the data of a store is defined. */
export const ACCESS_REGISTERS = 2;
export const ACCESS_DATA = 4;
