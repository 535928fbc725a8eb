/* POST /v1/tokenize: the tokens of a text, for the language model of this process or the embedder. */
#include <stdlib.h>
#include <string.h>

#include "retrieval/local/local_generator.h"
#include "server/local/engine_figures.h"
#include "server/openai/model_names.h"
#include "server/openai/openai.h"

void route_tokenize(http_request *r, void *ctx) {
    app *a = ctx;
    generator *g = service_generator(a->service);
    engine *e = local_generator_engine(g);
    embedder *emb = service_embedder(a->service);
    fo_err err = {0};
    json_in in;
    cJSON *root = openai_read_body(r, &in, &err);
    if (!err.code) {
        unsigned kinds = e ? MODEL_GENERATOR | MODEL_EMBEDDER : MODEL_EMBEDDER;
        unsigned kind = openai_read_model(&in, r, a, kinds);
        const char *prompt = json_in_string(&in, "prompt", NULL, 0, (size_t)4 << 20);
        const char *text = json_in_string(&in, "text", prompt, 0, (size_t)4 << 20);
        bool special = json_in_bool(&in, "add_special_tokens", false);
        bool pieces = json_in_bool(&in, "return_pieces", false);
        bool of_engine = kind == MODEL_GENERATOR;
        json_in_end(&in);
        const tokenizer *t = of_engine ? engine_tokenizer(e) : embedder_tokenizer(emb);
        int32_t *ids = NULL;
        size_t n = 0;
        if (!err.code && !text) fo_fail_field(&err, FO_EINVAL, "text", "text is missing");
        if (!err.code)
            tokenizer_encode_alloc(t, text, strlen(text), special ? TOKENIZER_ADD_SPECIAL : 0, &ids,
                                   &n, &err);
        if (!err.code) {
            fo_buf b = {0};
            json_out o = {&b, false};
            json_out_open(&o, NULL, '{');
            json_out_string(&o, "model", of_engine ? engine_figures_name(g) : embedder_name(emb));
            json_out_int(&o, "count", (int64_t)n);
            json_out_int(&o, "max_model_len",
                         of_engine ? engine_model(e)->n_context
                                   : (int64_t)embedder_max_tokens(emb));
            json_out_open(&o, "tokens", '[');
            for (size_t i = 0; i < n; i++) json_out_int(&o, NULL, ids[i]);
            json_out_close(&o, ']');
            if (pieces) {
                json_out_open(&o, "pieces", '[');
                for (size_t i = 0; i < n; i++) {
                    tokenizer_string s = tokenizer_piece(t, ids[i]);
                    json_out_bytes(&o, NULL, s.data, s.len);
                }
                json_out_close(&o, ']');
            }
            json_out_close(&o, '}');
            http_reply_json(r, 200, &b);
        }
        free(ids);
    }
    if (err.code) openai_error(r, &err);
    cJSON_Delete(root);
}
