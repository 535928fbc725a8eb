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
static const unsigned char views_css[] = {
#include "server/web/views.css.inc"
};
static const unsigned char app_js[] = {
#include "server/web/app.js.inc"
};
static const unsigned char api_js[] = {
#include "server/web/api.js.inc"
};
static const unsigned char dom_js[] = {
#include "server/web/dom.js.inc"
};
static const unsigned char ask_js[] = {
#include "server/web/ask.js.inc"
};
static const unsigned char thread_js[] = {
#include "server/web/thread.js.inc"
};
static const unsigned char markdown_js[] = {
#include "server/web/markdown.js.inc"
};
static const unsigned char reader_js[] = {
#include "server/web/reader.js.inc"
};
static const unsigned char conversations_js[] = {
#include "server/web/conversations.js.inc"
};
static const unsigned char welcome_js[] = {
#include "server/web/welcome.js.inc"
};
static const unsigned char export_js[] = {
#include "server/web/export.js.inc"
};
static const unsigned char sound_js[] = {
#include "server/web/sound.js.inc"
};
static const unsigned char collections_js[] = {
#include "server/web/collections.js.inc"
};
static const unsigned char documents_js[] = {
#include "server/web/documents.js.inc"
};
static const unsigned char uploads_js[] = {
#include "server/web/uploads.js.inc"
};
static const unsigned char sources_js[] = {
#include "server/web/sources.js.inc"
};
static const unsigned char settings_js[] = {
#include "server/web/settings.js.inc"
};
static const unsigned char dashboard_js[] = {
#include "server/web/dashboard.js.inc"
};
static const unsigned char charts_js[] = {
#include "server/web/charts.js.inc"
};

#define SCRIPT "text/javascript; charset=utf-8"

static const struct {
    const char *name, *type;
    const unsigned char *data;
    size_t n;
} assets[] = {
    {"style.css", "text/css; charset=utf-8", style_css, sizeof style_css},
    {"views.css", "text/css; charset=utf-8", views_css, sizeof views_css},
    {"app.js", SCRIPT, app_js, sizeof app_js},
    {"api.js", SCRIPT, api_js, sizeof api_js},
    {"dom.js", SCRIPT, dom_js, sizeof dom_js},
    {"ask.js", SCRIPT, ask_js, sizeof ask_js},
    {"thread.js", SCRIPT, thread_js, sizeof thread_js},
    {"markdown.js", SCRIPT, markdown_js, sizeof markdown_js},
    {"reader.js", SCRIPT, reader_js, sizeof reader_js},
    {"conversations.js", SCRIPT, conversations_js, sizeof conversations_js},
    {"welcome.js", SCRIPT, welcome_js, sizeof welcome_js},
    {"export.js", SCRIPT, export_js, sizeof export_js},
    {"sound.js", SCRIPT, sound_js, sizeof sound_js},
    {"collections.js", SCRIPT, collections_js, sizeof collections_js},
    {"documents.js", SCRIPT, documents_js, sizeof documents_js},
    {"uploads.js", SCRIPT, uploads_js, sizeof uploads_js},
    {"sources.js", SCRIPT, sources_js, sizeof sources_js},
    {"settings.js", SCRIPT, settings_js, sizeof settings_js},
    {"dashboard.js", SCRIPT, dashboard_js, sizeof dashboard_js},
    {"charts.js", SCRIPT, charts_js, sizeof charts_js},
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
