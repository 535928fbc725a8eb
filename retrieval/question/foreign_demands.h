/* foreign_demands.h - what a question in German, French, Spanish, Italian, Portuguese or Russian demands of its answer, as
 * demands.h has it of one in English: by the words of its own language (demand_words.h) alone. */
#ifndef FORAGE_RETRIEVAL_FOREIGN_DEMANDS_H
#define FORAGE_RETRIEVAL_FOREIGN_DEMANDS_H

#include "retrieval/question/demand_amounts.h"
#include "retrieval/question/demand_details.h"
#include "retrieval/question/demand_words.h"

typedef struct foreign_demands {
    enum demand_amount amount;
    enum demand_detail detail;
    size_t counted;              /* as demands.counted */
    char noun[DEMAND_WORD_MOST]; /* as demands.noun */
    size_t office, deputy;       /* as demands.office, demands.deputy */
} foreign_demands;

foreign_demands foreign_demands_read(const demand_words *w, const char *question, size_t len);

#endif
