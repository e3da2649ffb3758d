#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Moves what this process takes for the time of day, by so many seconds; all other clocks go on as they were.
void fault_clock_move(long long seconds);

#ifdef __cplusplus
}
#endif
