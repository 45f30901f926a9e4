#include "base/status.h"

int
status_exit_code(enum status status)
{
    return -(int)status;
}
