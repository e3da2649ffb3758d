#ifndef SWITCHBOARD_TASK_VALUES_H
#define SWITCHBOARD_TASK_VALUES_H

#include <stdbool.h>

// The functions of Swift's runtime behind `TaskLocal`, which inlined code of the standard library calls too. The ways
// that the standard library offers bind a value only around a closure; around an asynchronous one, they check the task's
// executor once more, and around the start of a task, they allocate the value twice.

extern const void *_Nullable switchboard_known_context_key;

// The address of the one task-local, which `find` returns. It is kept here, because Swift calls a function of its
// runtime for each access to a static property.
static inline const void *_Nonnull switchboard_context_key(const void *_Nonnull (*_Nonnull find)(void)) {
  const void *_Nullable known = __atomic_load_n(&switchboard_known_context_key, __ATOMIC_RELAXED);
  if (known) return known;
  const void *_Nonnull key = find();
  __atomic_store_n(&switchboard_known_context_key, key, __ATOMIC_RELAXED);
  return key;
}

// The value that the current task has for the key; NULL if it has none.
const void *_Nullable switchboard_task_value(const void *_Nonnull key);

// Binds a value, whose owner is the runtime from then on, until the matching call of `switchboard_unbind_task_value`.
void switchboard_bind_task_value(const void *_Nonnull key, const void *_Nonnull value, const void *_Nonnull type);

void switchboard_unbind_task_value(void);

// A value that tasks inherit which start on this thread outside of other tasks. It is bound once for each thread, and
// changed in place, which takes half of the time of binding a value in a task: there, the runtime first checks whether the
// task is in a group, with five atomic operations.

// How Swift stores an optional reference to an object by a protocol. Tasks that inherit it retain the object.
typedef struct {
  const void *_Nullable object;
  const void *_Nullable conformance;
} switchboard_reference;

// Binds the thread's value, which is empty at first, until the thread ends. Does nothing in a task. `type` is one that is
// stored like `switchboard_reference`. Call it while nothing is bound on the thread, whose bindings end in order.
void switchboard_prepare_thread(const void *_Nonnull key, const void *_Nonnull type);

// Sets the thread's value, without retaining the object. Returns false if tasks would not inherit it: in a task, while
// something else is bound, or on a thread that is not prepared.
bool switchboard_lend_thread_value(switchboard_reference value);

// Makes it empty again.
void switchboard_take_back_thread_value(void);

#endif
