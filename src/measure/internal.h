/* internal.h - what the files of the measure room know of each other. */
#ifndef SP_MEASURE_INTERNAL_H
#define SP_MEASURE_INTERNAL_H

/* This process and all that it will start can no longer leave the process
 * group, so that one signal to the group reaches them all. Where the system
 * cannot forbid it, nothing happens. */
void sp_group_stay(void);

#endif
