/* Which of the texts in emitted/ stand before what is emitted. They are C, kept as files of their
 * own so that they can be read and formatted as such, and embedded when the program is built. */
#include "lang/emit_int.h"

#include "lang/emitted_int.h"

#include <string.h>

void
emit_reference_rules(struct emitter *em)
{
    buf_printf(em->out, "#define WIDE %d\n", em->wide);
    buf_puts(em->out, emitted_values);
    buf_puts(em->out, emitted_numbers);
    buf_puts(em->out, emitted_functions);
    buf_puts(em->out, emitted_choices);
    buf_puts(em->out, emitted_reductions);
}

void
emit_tile_helpers(struct emitter *em, const char *body)
{
    if (!strstr(body, "int64_t tile"))
        return;
    buf_puts(em->out, emitted_vectors);
    if (em->bounds)
        buf_puts(em->out, emitted_vector_sums);
}
