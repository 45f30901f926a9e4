/* The names of topologies and of ways to select. */
#include "search/search.h"

const struct search_name search_topology_name[SEARCH_TOPOLOGY_COUNT] = {
#define X(id, name, words) {name, words},
    SEARCH_TOPOLOGIES(X)
#undef X
};

const struct search_name search_select_name[SEARCH_SELECT_COUNT] = {
#define X(id, name, number) {name, number},
    SEARCH_SELECTS(X)
#undef X
};
