// Room `isa`: what an instruction is: one generated table describes it, and decoding, encoding, printing, parsing and execution all
// read that table. Nothing here knows of files, kernels or programs.
// Begin with types.ts (an instruction and its row) and operand.ts (its operands by name), then table/table.ts and codec/decode.ts.
export { type Decoder, decode, decoderFor, immediate, inlineConstant } from './codec/decode.ts';
export { encode, encodeInto } from './codec/encode.ts';
export {
  type Fixup,
  type FixupKind,
  InstructionParser,
  type ParseContext,
  type ParsedInstruction,
  parseInstruction,
} from './parse/parse.ts';
export {
  describeInstruction,
  type EncodingDescription,
  type FieldDescription,
  type InstructionDescription,
  listOperations,
  type OperandDescription,
  similarOperations,
} from './print/describe.ts';
export {
  printEndpgm,
  printFormat,
  printHwreg,
  printIndexMode,
  printSendMessage,
  printSwizzle,
  printWaitCount,
} from './print/immediates.ts';
export { branchTarget, type ListingLine, type ListingOptions, labelsByAddress, listing } from './print/listing.ts';
export { inlineText, Printer, printerFor, printInstruction } from './print/print.ts';
export {
  DATA_FORMATS,
  GPR_INDEX_MODES,
  GS_OPERATIONS,
  hwregNames,
  MESSAGES,
  MSG_GS,
  MSG_GS_DONE,
  MSG_SYSMSG,
  NUMBER_FORMATS,
  SDWA_SELECTORS,
  SDWA_UNUSED,
  SYSMSG_OPERATIONS,
} from './table/field-names.ts';
export {
  type DecodeKind,
  isMember,
  type OperandClass,
  operandClass,
  operandClasses,
  type RegisterClass,
  registerClass,
  type ValueType,
} from './table/operand-classes.ts';
export {
  agpr,
  fitsFile,
  registerById,
  registerCount,
  registerFromEncoding,
  registerFromText,
  registerTuple,
  sgpr,
  special,
  specialByName,
  ttmp,
  vgpr,
} from './table/registers.ts';
export { allRows, type InstructionTable, operationOf, tableFor } from './table/table.ts';
export { TARGET_NAMES } from './table/target-names.ts';
export { isTargetName, type TargetInfo, targetFromElfMach, targetInfo } from './table/targets.ts';
export { type Diagnostic as TextDiagnostic, Lexer, textFromBytes } from './text/lexer.ts';
export type {
  EncodedField,
  Immediate,
  InlineConstant,
  Instruction,
  InstructionRow,
  Literal,
  Operand,
  OperandDef,
  Register,
  RegisterFile,
  TargetName,
} from './types.ts';
