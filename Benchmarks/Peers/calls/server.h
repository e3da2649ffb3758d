#pragma once

#include "arguments.h"

// Serves the workload until the process is told to end.
int RunServer(Arguments &arguments);
