#pragma once

#include <stdbool.h>
#include <stddef.h>

// Whether this process's allocator can refuse memory; sanitizers have their own.
bool heap_can_refuse(void);

// From now on, refuses allocations of more than `largest` bytes, and those that would take more than `more` bytes beside
// what the process has allocated: as a kernel that promises no more memory than there is.
void heap_refuse(size_t more, size_t largest);
