#include "TaskValues.h"

#define SWIFT_FUNCTION __attribute__((swiftcall))

SWIFT_FUNCTION const void *swift_task_localValueGet(const void *key);
SWIFT_FUNCTION void swift_task_localValuePush(const void *key, const void *value, const void *type);
SWIFT_FUNCTION void swift_task_localValuePop(void);

const void *switchboard_known_context_key;

const void *switchboard_task_value(const void *key) { return swift_task_localValueGet(key); }

void switchboard_bind_task_value(const void *key, const void *value, const void *type) {
  swift_task_localValuePush(key, value, type);
}

void switchboard_unbind_task_value(void) { swift_task_localValuePop(); }
