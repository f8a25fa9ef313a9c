// hiprtcResult. Source: hiprtc.h of HIP 6.3.
#pragma once

enum class Result : int {
  kSuccess = 0,
  kOutOfMemory = 1,
  kProgramCreation = 2,
  kInvalidInput = 3,
  kInvalidProgram = 4,
  kInvalidOption = 5,
  kCompilation = 6,
  kBuiltin = 7,
  kNoNamesAfterCompilation = 8,
  kNoLoweredNames = 9,
  kNameExpressionNotValid = 10,
  kInternal = 11,
  kLinking = 100,
};
