/* reader_cross.h - reads a question and a passage together, and says of each unit of the passage how
 * far it answers.
 *
 *     const reader_span units[] = {{0, 64}, {65, 130}};      // bytes of the text: its sentences
 *     reader_passage p = {.title = "Rules", .text = text, .len = 131, .units = units, .n_units = 2};
 *     float odds[2];
 *     if (reader_has_cross(r)) reader_cross(r, "Can I bring my dog?", &p, 1, NULL, odds, &err);
 *
 * Token vectors that are compared (reader.h) see whether words mean alike; here every token of the
 * passage sees the question, so that "Animals stay outside" can answer "Can I bring my dog?", and a
 * sentence with all its words about another dog need not. It costs a pass of the encoder over
 * each passage for each question: for a few passages that are already thought to be the best.
 *
 * The model is the reader's own with small changes (low-rank sums to its matrices, Hu and others, LoRA,
 * 2021) and a head of two rows; both are trained by data/models/reader. Its odds are against "nothing
 * in this passage answers": 0 is as likely as not. */
#ifndef FORAGE_ENGINE_EMBED_READER_CROSS_H
#define FORAGE_ENGINE_EMBED_READER_CROSS_H

#include "engine/embed/reader.h"

enum {
    READER_CROSS_PASSAGES = 64, /* of a call */
    READER_CROSS_TOKENS = 224,  /* of a passage read at a time; a longer one is read in windows */
    READER_CROSS_WINDOWS = 4,   /* of a passage; units behind the last are not read */
};

typedef struct reader_passage {
    const char *title; /* NUL-terminated; NULL: none */
    const char *text;  /* any bytes */
    size_t len;
    const reader_span *units; /* bytes of the text; by their start, and they may overlap */
    size_t n_units;
} reader_passage;

/* The model inside the binary has one, and multilingual-e5-small, whose changes are inside the binary too. */
bool reader_has_cross(const reader *r);

/* odds[units of all passages, one behind the other]: natural logarithm of how much likelier the unit
 * answers than nothing in its passage does. NAN: a unit without a token, or behind what is read.
 * Any thread; calls run one after the other, in one pass of the encoder each. *cancelled (NULL: never)
 * is looked at before it. The first call prepares the model, some 100 ms.
 * FO_EUNSUPPORTED (reader_has_cross is false), FO_ELIMIT, FO_ECANCELLED, FO_ENOMEM. */
int reader_cross(reader *r, const char *question, const reader_passage *passages, size_t n,
                 const atomic_bool *cancelled, float *odds, fo_err *err);

#endif
