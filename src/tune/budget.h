/* budget.h - what a named budget allows, whoever keeps to it. */
#ifndef SP_TUNE_BUDGET_H
#define SP_TUNE_BUDGET_H

/* Seconds that something may end after a budget of `asked`. */
double sp_budget_more(double asked);

/* The least that a race of candidates takes when a plain run takes so long:
 * right answers, plain ways and a candidate that are packed, checked, raced. */
double sp_budget_least(double plain);

#endif
