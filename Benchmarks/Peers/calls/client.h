#pragma once

#include "arguments.h"

// Each function makes the calls that it is named after and prints one line of results.
int RunUnary(Arguments &arguments);
int RunStream(Arguments &arguments);
int RunBidi(Arguments &arguments);
