// What differs between the versions 2 and 3 of the interface: numbers of languages and actions.
#pragma once
#include "comgr/abi.h"

namespace wavesmith::comgr {

// False for numbers that this version does not have.
bool ReadLanguage(int number, Language* language);
bool ReadAction(int number, Action* action);
// The number of a language in this version.
int NumberOf(Language language);

}  // namespace wavesmith::comgr
