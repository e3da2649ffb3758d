#include "CLoopThread.h"

static _Thread_local void *current_loop;

void *switchboard_current_loop(void) { return current_loop; }

void switchboard_set_current_loop(void *loop) { current_loop = loop; }
