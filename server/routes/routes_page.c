/* GET /, /assets/{name} and /openapi.json: the files that travel inside the binary. */
#include <string.h>

#include "server/routes/app.h"

static const unsigned char openapi_json[] = {
#include "server/routes/openapi.json.inc"
};
static const unsigned char index_html[] = {
#include "server/web/index.html.inc"
};
static const unsigned char style_css[] = {
#include "server/web/style.css.inc"
};
static const unsigned char app_js[] = {
#include "server/web/app.js.inc"
};
static const unsigned char api_js[] = {
#include "server/web/api.js.inc"
};
static const unsigned char ask_js[] = {
#include "server/web/ask.js.inc"
};
static const unsigned char documents_js[] = {
#include "server/web/documents.js.inc"
};
static const unsigned char sources_js[] = {
#include "server/web/sources.js.inc"
};
static const unsigned char dashboard_js[] = {
#include "server/web/dashboard.js.inc"
};
static const unsigned char charts_js[] = {
#include "server/web/charts.js.inc"
};
static const unsigned char page_image_js[] = {
#include "server/web/page_image.js.inc"
};
static const unsigned char conversation_js[] = {
#include "server/web/conversation.js.inc"
};

#define SCRIPT "text/javascript; charset=utf-8"

static const struct {
    const char *name, *type;
    const unsigned char *data;
    size_t n;
} assets[] = {
    {"style.css", "text/css; charset=utf-8", style_css, sizeof style_css},
    {"app.js", SCRIPT, app_js, sizeof app_js},
    {"api.js", SCRIPT, api_js, sizeof api_js},
    {"ask.js", SCRIPT, ask_js, sizeof ask_js},
    {"documents.js", SCRIPT, documents_js, sizeof documents_js},
    {"sources.js", SCRIPT, sources_js, sizeof sources_js},
    {"dashboard.js", SCRIPT, dashboard_js, sizeof dashboard_js},
    {"charts.js", SCRIPT, charts_js, sizeof charts_js},
    {"page_image.js", SCRIPT, page_image_js, sizeof page_image_js},
    {"conversation.js", SCRIPT, conversation_js, sizeof conversation_js},
};

static void secure(http_request *r) {
    http_set_header(
        r, "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'");
    http_set_header(r, "Referrer-Policy", "no-referrer");
    http_set_header(r, "Cache-Control", "no-cache");
}

void route_page(http_request *r, void *ctx) {
    (void)ctx;
    secure(r);
    http_reply(r, 200, "text/html; charset=utf-8", index_html, sizeof index_html);
}

void route_asset(http_request *r, void *ctx) {
    (void)ctx;
    const char *name = http_param(r, "name");
    secure(r);
    for (size_t i = 0; i < sizeof assets / sizeof *assets; i++)
        if (!strcmp(name, assets[i].name)) {
            http_reply(r, 200, assets[i].type, assets[i].data, assets[i].n);
            return;
        }
    http_error(r, 404, "not_found", NULL, "no such asset");
}

void route_openapi(http_request *r, void *ctx) {
    (void)ctx;
    http_reply(r, 200, "application/json", openapi_json, sizeof openapi_json);
}
