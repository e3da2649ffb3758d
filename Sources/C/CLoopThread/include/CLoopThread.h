#ifndef SWITCHBOARD_LOOP_THREAD_H
#define SWITCHBOARD_LOOP_THREAD_H

// The loop that the calling thread runs, or NULL. It is read several times in every call and for every part that an
// interceptor passes on, and Swift has no thread-local variables.

// Accessed without a call, at the cost of a few bytes of the space that the system reserves for libraries loaded later.
#if defined(__ELF__)
#define SWITCHBOARD_NEAR __attribute__((tls_model("initial-exec")))
#else
#define SWITCHBOARD_NEAR
#endif

// Safe without isolation, because no other thread can access it.
extern _Thread_local void *_Nullable switchboard_loop_of_thread SWITCHBOARD_NEAR
    __attribute__((swift_attr("nonisolated(unsafe)")));

#endif
