/* Hard limits. */
#include "llm/llm_int.h"

#include <math.h>

struct llm_budget
llm_budget_without_limits(void)
{
    return (struct llm_budget){.cost = INFINITY, .tokens = INFINITY, .calls = INFINITY};
}

void
llm_set_budget(struct llm *llm, struct llm_budget *budget)
{
    llm->budget = budget;
}

bool
llm__budget_spent(const struct llm_budget *budget)
{
    return budget->cost_spent >= budget->cost || budget->tokens_spent >= budget->tokens;
}

const char *
llm_budget_reached(const struct llm_budget *budget)
{
    return budget->cost_spent >= budget->cost       ? "cost"
           : budget->tokens_spent >= budget->tokens ? "tokens"
           : budget->calls_begun >= budget->calls   ? "calls"
                                                    : NULL;
}
