// The live API tables of this process.
#pragma once
#include "hsa/abi.h"

namespace wavesmith::hsa {

ApiTable& Tables();
// Puts the implementations back into the tables, as before any tool was loaded.
void ResetTables();

}  // namespace wavesmith::hsa
