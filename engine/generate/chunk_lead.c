#include "engine/generate/chunk_lead.h"

#include <string.h>

/* Of no subject that documents are about, and of several sentences. */
static const char lead[] =
    "A small town lies between two hills, on the bank of a river. In the morning people open the "
    "shops, children walk to school, and carts bring vegetables to the market. The oldest house "
    "was built of grey stone and is now used as a library. In spring the river rises and sometimes "
    "covers the lower street, so the bridge was made higher than the road. Most visitors come in "
    "summer, stay for a day or two, and leave by the evening train.\n\n";

int chunk_lead_tokens(const tokenizer *t, int n_vocab, int32_t out[CHUNK_LEAD_TOKENS]) {
    int64_t n = tokenizer_encode(t, lead, strlen(lead), 0, out, CHUNK_LEAD_TOKENS);
    if (n > CHUNK_LEAD_TOKENS) n = CHUNK_LEAD_TOKENS;
    for (int64_t i = 0; i < n; i++)
        if (out[i] < 0 || out[i] >= n_vocab) return 0;
    return n > 0 ? (int)n : 0;
}

int chunk_lead_of(int n_lead, int n_prefix, int n_chunk, int capacity) {
    return (int64_t)n_lead + n_prefix + n_chunk <= capacity ? n_lead : 0;
}
