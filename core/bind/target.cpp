// Which instruction sets the core is compiled for; a table of constants, so that reading it needs none of them.
#include <Python.h>

#include "processor.hpp"

#define TEXT(words) #words
#define IS_NEEDED(name, macro) TEXT(macro)[0] == '1',

extern "C" constexpr bool continua_needed[] = {CONTINUA_INSTRUCTIONS(IS_NEEDED)};
