#ifndef SWITCHBOARD_TASK_VALUES_H
#define SWITCHBOARD_TASK_VALUES_H

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

#endif
