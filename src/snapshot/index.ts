// Room `snapshot`: captures: one dispatch with its code, arguments and memory, as a folder or ZIP, and what replays them.
// Begin with manifest.ts (what a capture says), then record.ts (how one is made on the virtual GPU) and replay.ts (how it runs again).
export { parseAnnotation, withAnnotations } from './annotate.ts';
export { type Capture, type Chunk, type OpenOptions, openCapture } from './capture.ts';
export type { ComparedBuffer, WriteReport } from './compare.ts';
export { type CopiedDispatch, type CopiedMemory, writeCopied } from './copied.ts';
export { type CaptureDifference, type DiffResult, diffCaptures } from './diff.ts';
export { safetensorsOf } from './export.ts';
export { isCapturePath } from './files.ts';
export { isHrrArchive } from './hrr/archive.ts';
export { type HrrOptions, importHrr } from './hrr/play.ts';
export { type ImportResult, importFolder, isImportable } from './import.ts';
export {
  type AllocationKind,
  type Annotation,
  type CaptureAllocation,
  type DeterminismSection,
  FORMAT_VERSION,
  type Manifest,
  type MemoryMode,
  type UnsupportedRecord,
} from './manifest.ts';
export { type PlacedCapture, type PlaceOptions, placeCapture } from './place.ts';
export {
  deviceFor,
  type FinishOptions,
  finishProved,
  Recorder,
  type RecordOptions,
  type RecordSummary,
  type RegionFacts,
} from './record.ts';
export {
  judgePlaced,
  placeText,
  type ReplayOptions,
  type ReplayResult,
  type ReplayTimes,
  replayCapture,
} from './replay.ts';
export { checkReserve, type Mapping, mappingsOf, type ReservedRange, type ReserveResult } from './reserve.ts';
export { rewriteCapture } from './rewrite.ts';
export { type SlimResult, slimCapture } from './slim.ts';
export { type VerifyResult, verifyCapture } from './verify.ts';
export { type CaptureDescription, CaptureWriter, type WriteOptions } from './writer.ts';
