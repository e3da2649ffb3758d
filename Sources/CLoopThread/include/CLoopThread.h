#ifndef SWITCHBOARD_LOOP_THREAD_H
#define SWITCHBOARD_LOOP_THREAD_H

// Which loop the calling thread runs: the one thing that is asked several times in every call, and that Swift has no
// variable for. Functions, so that no compiler takes the answer for a constant across a point where a task may change
// threads.

/// NULL on a thread that runs no loop.
void *_Nullable switchboard_current_loop(void);

void switchboard_set_current_loop(void *_Nullable loop);

#endif
