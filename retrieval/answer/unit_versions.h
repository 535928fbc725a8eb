/* unit_versions.h - whose version does a unit state, where that of one thing is asked for? Part of candidates.h. */
#ifndef FORAGE_RETRIEVAL_UNIT_VERSIONS_H
#define FORAGE_RETRIEVAL_UNIT_VERSIONS_H

#include "retrieval/answer/candidates.h"

/* "What MinIO version do you use?" of "nginx 1.22 in front, S3 backend (MinIO)": the thing is named, and
 * every number stands right behind another name, which "version" is not: "Python must be installed (version 3.9)" may well say
 * Python's, and "Python Runtime 3.9" does. False where the unit does not say the thing. English; sentences and items. */
bool unit_is_of_another_version(const question *q, const candidate_passage *p, const text_unit *u);

#endif
