// Numbers of DWARF that are read. Source: DWARF Debugging Information Format 5, chapter 7.

/** Attributes: DW_AT_ */
export const AT = {
  location: 0x02,
  name: 0x03,
  byteSize: 0x0b,
  bitSize: 0x0d,
  stmtList: 0x10,
  lowPc: 0x11,
  highPc: 0x12,
  constValue: 0x1c,
  producer: 0x25,
  upperBound: 0x2f,
  abstractOrigin: 0x31,
  callingConvention: 0x36,
  count: 0x37,
  dataMemberLocation: 0x38,
  declaration: 0x3c,
  encoding: 0x3e,
  frameBase: 0x40,
  specification: 0x47,
  type: 0x49,
  entryPc: 0x52,
  ranges: 0x55,
  callFile: 0x58,
  callLine: 0x59,
  dataBitOffset: 0x6b,
  enumClass: 0x6d,
  linkageName: 0x6e,
  strOffsetsBase: 0x72,
  addrBase: 0x73,
  rnglistsBase: 0x74,
  alignment: 0x88,
  loclistsBase: 0x8c,
  gnuVector: 0x2107,
} as const;
/** Tags of entries: DW_TAG_ */
export const TAG = {
  array: 0x01,
  class: 0x02,
  enumeration: 0x04,
  formalParameter: 0x05,
  lexicalBlock: 0x0b,
  member: 0x0d,
  pointer: 0x0f,
  reference: 0x10,
  compileUnit: 0x11,
  structure: 0x13,
  subroutine: 0x15,
  typedef: 0x16,
  union: 0x17,
  inheritance: 0x1c,
  inlinedSubroutine: 0x1d,
  subrange: 0x21,
  baseType: 0x24,
  constType: 0x26,
  enumerator: 0x28,
  subprogram: 0x2e,
  templateType: 0x2f,
  templateValue: 0x30,
  variable: 0x34,
  volatileType: 0x35,
  restrictType: 0x37,
  namespace: 0x39,
  rvalueReference: 0x42,
  atomicType: 0x47,
} as const;

/** DW_CC_pass_by_reference */
export const PASS_BY_REFERENCE = 4;

/** DW_FORM_addr */
export const ADDRESS_FORM = 0x01;
