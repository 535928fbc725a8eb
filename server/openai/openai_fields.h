/* openai_fields.h - fields of OpenAI's API that nothing here can act on. Its clients send some of
 * them with every request: a value that asks for nothing passes, any other is refused by name. */
#ifndef FORAGE_SERVER_OPENAI_FIELDS_H
#define FORAGE_SERVER_OPENAI_FIELDS_H

#include "server/base/json.h"

enum openai_route { /* bits */
                    OPENAI_CHAT = 1,
                    OPENAI_COMPLETION = 2,
                    OPENAI_EMBEDDING = 4,
                    OPENAI_MESSAGE = 8, /* an item of messages */
};

/* Read those of a body (or message). FO_EUNSUPPORTED for a value that asks for something, FO_EINVAL
 * for one of the wrong type, both sticky in in->err and with the field's name. */
void openai_fields_read(json_in *in, enum openai_route route);

#endif
