#include "TaskValues.h"

#include <stddef.h>

#define SWIFT_FUNCTION __attribute__((swiftcall))

SWIFT_FUNCTION const void *swift_task_localValueGet(const void *key);
SWIFT_FUNCTION void swift_task_localValuePush(const void *key, const void *value, const void *type);
SWIFT_FUNCTION void swift_task_localValuePop(void);
SWIFT_FUNCTION void *swift_task_getCurrent(void);
SWIFT_FUNCTION bool swift_task_isCancelled(void *task);
SWIFT_FUNCTION void *swift_task_alloc(size_t size);
SWIFT_FUNCTION void swift_task_dealloc(void *memory);

const void *switchboard_known_context_key;

const void *switchboard_task_value(const void *key) { return swift_task_localValueGet(key); }

void switchboard_bind_task_value(const void *key, const void *value, const void *type) {
  swift_task_localValuePush(key, value, type);
}

switchboard_reference *switchboard_bind_task_slot(const void *key, const void *type) {
  switchboard_reference none = {NULL, NULL};
  swift_task_localValuePush(key, &none, type);
  return (switchboard_reference *)swift_task_localValueGet(key);
}

void switchboard_unbind_task_value(void) { swift_task_localValuePop(); }

bool switchboard_task_is_cancelled(void) {
  void *task = swift_task_getCurrent();
  return task && swift_task_isCancelled(task);
}

const void *switchboard_task_position(void) {
  // The least that is allocated: whatever is bound takes more, so it fits nowhere that this does not.
  void *memory = swift_task_alloc(1);
  swift_task_dealloc(memory);
  return memory;
}
