/* candidates.h - every unit of the passages (units.h), measured against the question.
 *
 * Each passage is analysed once. What is measured is the same for every question and collection:
 * shares of idf mass, ratios to the best of the list, small counts; never a raw BM25 score. */
#ifndef FORAGE_RETRIEVAL_CANDIDATES_H
#define FORAGE_RETRIEVAL_CANDIDATES_H

#include <string.h>

#include "retrieval/answer/extractive.h"
#include "retrieval/question/question.h"
#include "retrieval/units/units.h"

enum {
    CAND_COVER,      /* share of the question's mass in the unit, its head or its passage's title */
    CAND_NEIGHBOURS, /* share that is missing here and the units around have */
    CAND_PAIRS,      /* question's neighbouring words that are neighbours here too */
    CAND_TYPE,       /* has what the question word asks for, not said by the question */
    CAND_TYPE_NEAR,  /* ... close to words of the question */
    CAND_FIRST,      /* first unit of its passage */
    CAND_BEST_IDF,   /* the rarest covered term's share of the mass */
    CAND_MISSING_RARE,  /* rarer half of the mass that unit, head and title lack */
    CAND_MISSING_NAME,  /* names and numbers of the question that both lack */
    CAND_MISSING_CODE,  /* 1: a code of the question (E3, Grebe7) or an option (-z) is in neither; a
                           version (4.4): not in the whole passage */
    CAND_QUESTION,      /* is a question itself */
    CAND_FRAGMENT,      /* heading, table row, lead-in: no sentence to read */
    CAND_SPARSE,        /* passage's BM25 over the list's best */
    CAND_DENSE_PASSAGE, /* passage's cosine, in standard deviations of the list; 0 unknown */
    CAND_DENSE,         /* unit's cosine, in standard deviations of the list; 0 unknown */
    CAND_STEPS,         /* a whole procedure, where the question asks how */
    CAND_STEP,          /* one step of a procedure, where the question asks how */
    CAND_ENTRY,         /* an option or term with its description, where the question asks how */
    CAND_OPTION,    /* explains an option that the question names (-z), of what it names (tar) */
    CAND_NO_AMOUNT, /* 1: the question demands a price, a weight, a number, a person, and none is stated; 2: an address, a time of
                     * the day, a colour; a person, and only who made it is named (unit_persons.h) */
    CAND_NO_PLACE,  /* 1: the question asks where, and it says of nothing where it is; -0.5: a label
                     * that is what was asked about has its place behind it (unit_wording.h) */
    CAND_RESTATED,  /* 1: the question asks why, and it says that again, and no reason */
    CAND_DAY,       /* 1: of the day that the question names */
    CAND_OTHER_DAY, /* 1: of other days only, or of none in a passage of others */
    CAND_SUMMARY,   /* "df - report file system space usage", where the question asks how */
    CAND_OTHER_PURPOSE, /* 1: how is asked, and it is of a command that is not named and is for something else, as its title has it */
    CAND_TASK, /* at most 0: how much farther its page's title is than the nearest task's: task_pages.h */
    CAND_MEANT, /* 1: how is asked, and by its title it is of the command that does it (meant_commands.h) */
    CAND_TOPIC,       /* says by where it stands what it answers: topics.h */
    CAND_OTHER_THING, /* below a question about something else: topics.h; of another office; of
                       * another number of it; in a document about something else (subjects.h); for other amounts (tiers.h);
                       * which leaves out what is asked about (unit_wording.h);
                       * 2: of a rival (rivals.h), or left out by the question (row_conditions.h) */
    CAND_BY_TABLE, /* 1: a row that the table itself picks out: the most or the least of what is asked
                       * for (extremes.h), or one with a yes, or a no, where that is asked (row_answers.h);
                       * a sentence that names the only ones it can be done with (unit_wording.h) */
    CAND_LENGTH,   /* of a unit that is no sentence: doublings of twelve words; the longer, the
                           more of any question it holds by chance */
    CAND_RUN_ON, /* of what has no end for long, as listings and data have none: doublings of 64 words; of 128 in other languages
                  * than English, whose sentences are longer */
    CAND_SPOKEN_OF,   /* 1: of the document that the turns before were answered from */
    CAND_ALIGN,       /* by the reader: how near the question's tokens come to unit, head, title */
    CAND_ALIGN_LEAST, /* ... the weightiest tokens' least: something that is asked for is not there */
    CAND_ALIGN_PASSAGE, /* ... to its whole passage */
    CAND_ALIGN_BACK,    /* how near the unit's tokens come to the question's */
    CAND_FEATURES
};

/* Of CAND_OTHER_THING: what is read together with the question takes one for the other. */
enum { CAND_RIVAL = 2 };

/* A heading or a title, in its passage or the caller's. */
typedef struct candidate_heading {
    const char *text;
    size_t len;
} candidate_heading;

typedef struct candidate {
    uint32_t passage, order; /* indices; order: of the unit among its passage's */
    uint32_t start, end;     /* bytes of the passage */
    bool cut_start, cut_end; /* the unit begins before, or goes on behind them */
    bool
        headed; /* the heading it stands below says what it is about, and it does not: said with it */
    uint32_t dated_start,
        dated_end; /* of a row: the heading that says its day (dated_headings.h) */
    const char *
        section; /* the heading of the section that its passage goes on with, said before it; NULL: it is not */
    uint32_t tiers;  /* the list of tiers that it is of (tiers.h), counted from 1; 0: of none */
    bool tier_holds; /* ... and it is the one for the amount that is asked about */
    bool empty_cell; /* a row with nothing in the column that is asked for: empty_cells.h */
    bool alike; /* answers as the best row of its table does: said with it, in the table's order */
    bool
        passed_over; /* the first unit names what is asked about, and this does not: first_unit.h */
    double
        titled; /* cosine of the question with the heading or title it stands under; NAN: not known (task_pages.h) */
    bool under_task;         /* ... which says how something is done */
    candidate_heading under; /* ... and is this */
    text_unit unit;
    uint32_t w0, w1; /* its words */
    uint64_t set;    /* terms of the question in it */
    double cosine;   /* with the question; NAN unknown */
    double f[CAND_FEATURES];
    double
        cross; /* by the cross-encoder: log odds that it answers; NAN: not read (cross_reading.h) */
    double score; /* by the ranking model */
} candidate;

typedef struct candidate_passage {
    fact_text text;
    text_units units;
    int8_t *terms;          /* per word: the question's term it is, or -1 */
    uint8_t *states;        /* per unit: past_states.c's */
    uint64_t said;          /* terms in the text */
    uint64_t title;         /* terms in the title */
    const char *title_text; /* the caller's; "" without one */
    const char *heading;    /* ... of the section that the text begins in; "": none */
    const char *document;   /* the caller's id of the document; "": not known */
    uint64_t named;         /* terms in the title, or without one in the document's name */
    uint64_t filed;         /* ... in the document's name beside a title */
    uint64_t own;           /* ... of names that it bears as a whole: own_names.h */
    uint64_t rivals;        /* of the title: rivals_in; 0 where the question has none */
    bool command;           /* a command's page: "cmp - compare two files" */
    bool unnamed;           /* ... whose name the question does not say */
    bool
        spoken_by_name; /* ... a name of which a word of the question begins with: "differences", diff */
    bool meant;         /* the page of the command that does what is asked: meant_commands.h */
    bool other_command; /* ... and it asks how another one does it, whose page is here */
    bool off_subject;   /* subjects.h */
    bool spoken_of;     /* the conversation was answered from its document last */
    uint8_t beyond;     /* bit i: no row of a table of it holds amount i of the question: tiers.h */
    bool whole_tables;  /* passage.h */
    bool uncounted;     /* has no word for what "how many" counts, but states amounts of others */
    bool other_days;    /* speaks of days, and never of the one that is asked about */
    bool other_year;    /* it, or its title, names years, and not the one that is asked about */
    bool lacks_version; /* a version number of the question stands in neither text nor title */
    bool other_version; /* ... and it begins below a heading that names another one */
    double
        titled; /* cosine of the question with its document's title, less where that says something else; NAN: not known (task_pages.h) */
    bool tells_task; /* ... which says how something is done, and not the opposite */
    double bm25;     /* over these passages, as a share of the question's own mass */
    double align;    /* by the reader; NAN: not read */
} candidate_passage;

/* "The second reminder": which_one.h */
typedef struct candidate_ordinal {
    int place;    /* from 0; -1: none */
    int64_t noun; /* id of the word behind it; -1: none */
} candidate_ordinal;

typedef struct candidate_set {
    question q;
    candidate_ordinal ordinal; /* that the question names */
    const char *path;          /* of a file, in the question; n_path bytes: 0 where it has none */
    size_t n_path;
    candidate_passage *passages;
    size_t n_passages;
    candidate *c;
    size_t n, cap;
    double meant;   /* how likely the command of the passages that are meant is the one */
    bool dense;     /* the passages' cosines are known */
    bool read;      /* the reader has seen them */
    bool crossed;   /* ... and its cross-encoder the best of them */
    bool languages; /* it has learnt many */
} candidate_set;

/* Fill *set (zeroed before, candidate_set_deinit after, also on failure). Passages beyond the 32nd
 * are left out. */
int candidate_set_read(candidate_set *set, const extractive_input *in, fo_err *err);
void candidate_set_deinit(candidate_set *set);

/* Words, units and terms of a passage alone, `followed` where more of its document is known to stand behind it (*cp zeroed before, candidate_passage_deinit after, also on failure). */
int candidate_passage_read(candidate_passage *cp, const question *q, const lexicon *lx,
                           const passage *p, bool followed, fo_err *err);
void candidate_passage_deinit(candidate_passage *cp);

/* Are both of one document? Where that of one is not known, so far as their titles tell. */
static inline bool candidate_one_document(const candidate_passage *a, const candidate_passage *b) {
    if (a->document[0] && b->document[0]) return strcmp(a->document, b->document) == 0;
    return strcmp(a->title_text, b->title_text) == 0;
}

/* It is of another thing, if not of a rival: CAND_OTHER_THING. */
static inline void candidate_set_apart(candidate *c) {
    if (c->f[CAND_OTHER_THING] < 1) c->f[CAND_OTHER_THING] = 1;
}

/* "chown - change file owner and group" says all of "How do I change the owner of a file?": that command does it. So it is where its
 * title means that in other words: "mkswap - set up a Linux swap area" and "make swap space". */
static inline bool candidate_names_the_command(const candidate *c) {
    return c->f[CAND_SUMMARY] > 0 && (c->f[CAND_COVER] > 0.99 || c->f[CAND_MEANT] > 0);
}

/* ... or most of it: "sdiff - side-by-side merge of file differences". */
static inline bool candidate_is_for_it(const candidate *c) {
    return c->f[CAND_SUMMARY] > 0 && (c->f[CAND_COVER] > 0.75 || c->f[CAND_MEANT] > 0);
}

/* Do both hang on the same stretch of one passage? */
bool candidate_same_head(const candidate *a, const candidate *b);

/* Does it explain an option, "-z, --gzip"? */
bool candidate_is_option(const candidate_set *set, const candidate *c);

/* The term of what "how many" counts, or -1. */
int candidate_counted_term(const question *q);

/* The words that begin in bytes [start, end) of a text; the question's terms among them. */
fact_sentence candidate_words(const fact_text *t, uint32_t start, uint32_t end);
uint64_t candidate_terms(const candidate_passage *p, uint32_t start, uint32_t end);
/* A unit of a passage to be said whole; its marks and its score are the caller's. */
static inline candidate candidate_whole(const candidate_passage *p, size_t index, size_t order,
                                        text_unit u) {
    const fact_sentence s = candidate_words(&p->text, u.start, u.end);
    return (candidate){.passage = (uint32_t)index,
                       .order = (uint32_t)order,
                       .start = u.start,
                       .end = u.end,
                       .w0 = s.w0,
                       .w1 = s.w1,
                       .unit = u};
}
/* The same of n bytes at s, which is in the text. */
uint64_t candidate_terms_at(const candidate_passage *p, const char *s, size_t n);
/* The question's terms in what a unit hangs on, and, of an item in an item, in what that one hangs on. */
uint64_t candidate_head_terms(const candidate_passage *p, const text_unit *u);
/* Where the heading or lead-in ends that the unit stands below. */
static inline uint32_t candidate_below(const text_unit *u) {
    return u->outer_end ? u->outer_end : u->head_end;
}

#endif
