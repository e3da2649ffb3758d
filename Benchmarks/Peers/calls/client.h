#pragma once

#include "arguments.h"

// Each makes the calls its name says and prints one line about them.
int RunUnary(Arguments &arguments);
int RunStream(Arguments &arguments);
int RunBidi(Arguments &arguments);
