#include "TaskValues.h"

#include <pthread.h>
#include <stddef.h>

#define SWIFT_FUNCTION __attribute__((swiftcall))

SWIFT_FUNCTION const void *swift_task_localValueGet(const void *key);
SWIFT_FUNCTION void swift_task_localValuePush(const void *key, const void *value, const void *type);
SWIFT_FUNCTION void swift_task_localValuePop(void);
SWIFT_FUNCTION void *swift_task_getCurrent(void);

const void *switchboard_known_context_key;

const void *switchboard_task_value(const void *key) { return swift_task_localValueGet(key); }

// How many values are bound on the thread outside of tasks, besides its own.
static _Thread_local unsigned bound_outside;

void switchboard_bind_task_value(const void *key, const void *value, const void *type) {
  if (!swift_task_getCurrent()) bound_outside++;
  swift_task_localValuePush(key, value, type);
}

void switchboard_unbind_task_value(void) {
  if (!swift_task_getCurrent()) bound_outside--;
  swift_task_localValuePop();
}

// The memory of the thread's own value; NULL if it has none. Only this thread reads it, when a task starts.
static _Thread_local switchboard_reference *thread_value;

static pthread_key_t end_of_thread;
static pthread_once_t made_key = PTHREAD_ONCE_INIT;

static void release_thread_value(void *value) {
  (void)value;
  thread_value = NULL;
  swift_task_localValuePop();
}

static void make_key(void) { pthread_key_create(&end_of_thread, release_thread_value); }

void switchboard_prepare_thread(const void *key, const void *type) {
  if (thread_value || bound_outside || swift_task_getCurrent()) return;
  switchboard_reference none = {NULL, NULL};
  pthread_once(&made_key, make_key);
  swift_task_localValuePush(key, &none, type);
  thread_value = (switchboard_reference *)swift_task_localValueGet(key);
  pthread_setspecific(end_of_thread, thread_value);
}

bool switchboard_lend_thread_value(switchboard_reference value) {
  if (!thread_value || thread_value->object || bound_outside || swift_task_getCurrent()) return false;
  *thread_value = value;
  return true;
}

void switchboard_take_back_thread_value(void) { *thread_value = (switchboard_reference){NULL, NULL}; }
