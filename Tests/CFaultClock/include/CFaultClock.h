#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Moves the time of day of this process by a number of seconds; other clocks are not affected.
void fault_clock_move(long long seconds);

#ifdef __cplusplus
}
#endif
