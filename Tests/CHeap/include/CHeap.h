#pragma once

#include <stdbool.h>
#include <stddef.h>

// Whether the allocator of this process is one that can be asked: glibc's, which sanitizers replace.
bool heap_is_counted(void);

// How many bytes this process has allocated and not given back, in all threads, with what the allocator adds to each.
size_t heap_in_use(void);
