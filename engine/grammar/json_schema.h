/* json_schema.h - a JSON Schema (2020-12), compiled to what a writer of JSON needs: at every byte,
 * what may come next (engine/grammar/json_reader.h).
 *
 *     json_schema *s;
 *     if (json_schema_compile(&s, root, &err)) ...
 *     json_schema_free(s);
 *
 * Supported: true, false, type, enum, const, properties, required, additionalProperties,
 * minProperties, maxProperties, items, prefixItems, minItems, maxItems, minLength, maxLength,
 * pattern, format (date-time, date, time, uuid, ipv4, email, hostname), minimum, maximum,
 * exclusiveMinimum, exclusiveMaximum, multipleOf, anyOf, allOf, oneOf, $ref within the document,
 * $defs. Annotations are passed over. Any other keyword is refused by name and place, and so is a
 * oneOf two of whose alternatives might both hold. So is a schema that refers to itself with nothing
 * between (FO_EINVAL): it says of no value whether it is one.
 *
 * What is written under a schema is valid under it; not all that is valid can be written:
 * - declared properties come in the order of the schema, others behind them;
 * - numbers with bounds have no exponent, at most 12 decimals and 18 digits before the point,
 *   integers neither point nor exponent;
 * - a name that is not declared comes once, without an escape, while minProperties wants more, which
 *   is at most 16 above what is declared;
 * - a string with a pattern has no \uXXXX escape, and a name beside declared ones no escape;
 * - at most 62 levels. */
#ifndef FORAGE_ENGINE_JSON_SCHEMA_H
#define FORAGE_ENGINE_JSON_SCHEMA_H

#include <stddef.h>

#include "kernels/error.h"

struct cJSON;

typedef struct json_schema json_schema; /* immutable; any thread */

/* A number of the tree that has a valuestring beside it is a whole one that no double holds; these are its digits. In
 * an enum, a const or a bound it is refused, as it would stand for its neighbour (FO_EUNSUPPORTED).
 *
 * FO_EINVAL (it is no schema, or no value satisfies it), FO_EUNSUPPORTED (a keyword), FO_ELIMIT,
 * FO_ENOMEM. The message names the place: "#/properties/age/minimum". root is not kept. */
int json_schema_compile(json_schema **out, const struct cJSON *root, fo_err *err);
/* As json_schema_compile, for a request that has several: together they may take what one may. *effort is 0 at the
 * first; what this one took is added, also where it fails. */
int json_schema_compile_next(json_schema **out, const struct cJSON *root, size_t *effort,
                             fo_err *err);
/* Any JSON object. */
int json_schema_any_object(json_schema **out, fo_err *err);
void json_schema_free(json_schema *s); /* NULL is fine */

#endif
