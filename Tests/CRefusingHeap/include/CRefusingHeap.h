#pragma once

#include <stddef.h>

// From now on, refuses allocations of more than `largest` bytes, and those that would take more than `more` bytes beside
// what the process has allocated: as a kernel that promises no more memory than there is. Sanitizers have their own
// allocators, which refuse nothing.
void heap_refuse(size_t more, size_t largest);
