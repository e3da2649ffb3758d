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

// How Swift stores an optional reference to an object by a protocol.
typedef struct {
  const void *_Nullable object;
  const void *_Nullable conformance;
} switchboard_reference;

// Binds an empty value in the same way, and returns its memory, which may be written until it is unbound, while no other
// thread reads it: the runtime checks, with five atomic operations, whether a task may bind a value, and then allocates
// it. `type` is one that is stored like `switchboard_reference`.
switchboard_reference *_Nullable switchboard_bind_task_slot(const void *_Nonnull key, const void *_Nonnull type);

// Whether there is a current task, and it is cancelled.
bool switchboard_task_is_cancelled(void);

// Where the current task, of which there must be one, allocates next. A task keeps what it binds where it allocates, in
// the manner of a stack, so whatever was bound since the same position is unbound.
const void *_Nonnull switchboard_task_position(void);

#endif
