#ifndef SWITCHBOARD_LOOP_THREAD_H
#define SWITCHBOARD_LOOP_THREAD_H

// Which loop the calling thread runs: the one thing that is asked several times in every call, and for every part that an
// interceptor hands on, and that Swift has no variable for.

// Found without a call, at the cost of a few bytes of what the system sets aside for libraries that are loaded later.
#if defined(__ELF__)
#define SWITCHBOARD_NEAR __attribute__((tls_model("initial-exec")))
#else
#define SWITCHBOARD_NEAR
#endif

extern _Thread_local void *_Nullable switchboard_loop_of_thread SWITCHBOARD_NEAR;

/// NULL on a thread that runs no loop.
static inline void *_Nullable switchboard_current_loop(void) { return switchboard_loop_of_thread; }

static inline void switchboard_set_current_loop(void *_Nullable loop) { switchboard_loop_of_thread = loop; }

#endif
