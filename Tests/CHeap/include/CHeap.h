#pragma once

#include <stdbool.h>
#include <stddef.h>

// Whether this process uses glibc's allocator, which can be queried; sanitizers replace it.
bool heap_is_counted(void);

// The bytes that all threads of this process have allocated and not freed, including the allocator's overhead.
size_t heap_in_use(void);
