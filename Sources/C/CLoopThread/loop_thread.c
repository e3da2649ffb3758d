#include "CLoopThread.h"

_Thread_local void *switchboard_loop_of_thread;
