#ifndef SWITCHBOARD_TASK_VALUES_H
#define SWITCHBOARD_TASK_VALUES_H

// The functions of Swift's runtime behind `TaskLocal`, which inlined code of the standard library calls too. The ways
// that the standard library offers bind a value only around a closure; around an asynchronous one, they check the task's
// executor once more, and around the start of a task, they allocate the value twice.

/// The value that the current task has for the key; NULL if it has none.
const void *_Nullable switchboard_task_value(const void *_Nonnull key);

/// Binds a value, whose owner is the runtime from then on, until the matching call of `switchboard_unbind_task_value`.
void switchboard_bind_task_value(const void *_Nonnull key, const void *_Nonnull value, const void *_Nonnull type);

void switchboard_unbind_task_value(void);

#endif
