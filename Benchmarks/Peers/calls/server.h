#pragma once

#include "arguments.h"

// Serves the workload until the process receives a signal to end.
int RunServer(Arguments &arguments);
