#include "retrieval/text/task_titles.h"

#include <string.h>
#include <strings.h>

#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/text/word_tokens.h"

enum { LONGEST_VERB = 16 };

/* What is done with something. Words that are as often its name ("Report of 2024", "Water supply") stand among `names_too`. */
static const char verbs[] =
    "access activate add adjust adopt allow append apply arrange ask assemble assign attach "
    "avoid become begin bind book borrow bring browse build buy calculate calibrate cancel "
    "capture change choose claim clean clear clone close collect combine compare compile "
    "complete compress configure confirm connect convert copy create crop customise "
    "customize cut deactivate decrease decrypt define delete deploy detach determine "
    "disable disassemble disconnect discover display download drag draw edit eject empty "
    "enable encrypt enlarge ensure enter erase examine exclude execute exit export extract "
    "fetch fill find finish fit fix follow format forward get give go handle have hide hire "
    "identify import improve include increase insert inspect install invite join keep "
    "launch learn leave lend let limit list load locate lock log lower maintain make manage "
    "maximise maximize measure mend merge migrate minimise minimize mirror modify monitor "
    "mount move mute navigate obtain open organise organize override pair paste pay perform "
    "personalize play prepare prevent print protect provide publish pull push put quit "
    "raise read reboot receive recharge recommend recover recycle redeem redirect reduce "
    "refill refresh register reinstall remove rename renew reorder repair replace reply "
    "rescue reserve reset resize resolve restart restore resume retrieve return revert "
    "review revoke rotate run save scan search secure see select sell send separate serve "
    "set share shorten show skip snooze solve specify split start stop straighten stream "
    "submit subscribe suspend swap switch sync synchronise synchronize take tell tidy tie "
    "troubleshoot turn type unblock undo uninstall unlock unpair unplug unsubscribe unzip "
    "update upgrade upload use validate verify view visit watch wear weigh wipe write zip";

static const char names_too[] =
    "back balance block burn call charge check color colour contact control cook cool cover "
    "dial drain drive email exchange feed file filter flash flip fold group guide hold "
    "index label light link look mail map mark match mix name note order pack park "
    "partition pause pick pin place plan plant post preview process program purchase query "
    "question rate record release rent report request rinse schedule ship shop sign sort "
    "stack stamp store support tag talk tap teach test time track train transfer travel "
    "treat trim try tune wake walk warm wash water work wrap";

static const char gerunds_too[] =
    "beginning booking building cooking drawing filing finding landing listing mapping "
    "marketing opening parking planning rating reading recording saving shipping shopping "
    "staffing testing timing tracking trading training walking washing working";

static const char behind_verbs[] =
    "a an the your my its their all any some more another several two multiple and on in up "
    "down off out into to from with for whether what who which how where when if";

static bool is_verb(const char *w, size_t n) {
    return fo_words_have_any_case(verbs, w, n);
}

/* "Adding", "making", "setting". */
static bool is_gerund(const char *w, size_t n) {
    char verb[LONGEST_VERB + 1];
    if (n < 5 || n - 2 > LONGEST_VERB || strncasecmp(w + n - 3, "ing", 3) != 0) return false;
    size_t stem = n - 3;
    memcpy(verb, w, stem);
    if (is_verb(verb, stem) || fo_words_have_any_case(names_too, verb, stem)) return true;
    verb[stem] = 'e';
    if (is_verb(verb, stem + 1) || fo_words_have_any_case(names_too, verb, stem + 1)) return true;
    return stem > 2 && verb[stem - 1] == verb[stem - 2] && is_verb(verb, stem - 1);
}

/* The next word of a title, its length; 0: there is none. */
static size_t next_word(const char **s) {
    while (**s && !fo_is_letter(**s)) (*s)++;
    size_t n = 0;
    while (fo_is_letter((*s)[n])) n++;
    return n;
}

bool task_title_names_one(const char *title) {
    const char *first = title;
    size_t n = next_word(&first);
    const char *second = first + n;
    const size_t n_second = next_word(&second);
    if (!n || !n_second) return false;
    if (fo_words_have_any_case("how", first, n))
        return fo_words_have_any_case("to do can", second, n_second);
    const bool on_something = fo_words_have_any_case(behind_verbs, second, n_second);
    if (is_verb(first, n)) return true;
    if (is_gerund(first, n)) return on_something || !fo_words_have_any_case(gerunds_too, first, n);
    return on_something && fo_words_have_any_case(names_too, first, n);
}

bool task_title_asks_else(const char *title) {
    const char *first = title;
    const size_t n = next_word(&first);
    return fo_words_have_any_case("what why who when which", first, n);
}

static const char *const opposites[][2] = {
    {"accept accepting approve approving", "decline declining reject rejecting refuse refusing"},
    {"activate activating enable enabling", "deactivate deactivating disable disabling"},
    {"add adding", "delete deleting remove removing"},
    {"attach attaching", "detach detaching"},
    {"block blocking", "unblock unblocking"},
    {"borrow borrowing", "lend lending"},
    {"buy buying", "sell selling"},
    {"compress compressing zip", "decompress decompressing extract extracting unpack unzip"},
    {"connect connecting", "disconnect disconnecting"},
    {"create creating", "delete deleting remove removing"},
    {"encrypt encrypting", "decrypt decrypting"},
    {"freeze freezing", "unfreeze unfreezing"},
    {"hide hiding", "show showing unhide"},
    {"import importing", "export exporting"},
    {"increase increasing raise raising", "decrease decreasing lower lowering reduce reducing"},
    {"install installing", "uninstall uninstalling"},
    {"join joining", "leave leaving"},
    {"lock locking", "unlock unlocking"},
    {"mute muting", "unmute unmuting"},
    {"open opening", "close closing"},
    {"pair pairing", "unpair unpairing"},
    {"pause pausing", "resume resuming"},
    {"pin pinning", "unpin unpinning"},
    {"start starting", "stop stopping"},
    {"subscribe subscribing", "unsubscribe unsubscribing"},
    {"upload uploading", "download downloading"},
};

const char *task_title_opposes(const char *title, const char *question) {
    const size_t n_title = strlen(title), n_question = strlen(question);
    for (size_t i = 0; i < sizeof opposites / sizeof *opposites; i++) {
        const char *const *pair = opposites[i];
        for (int side = 0; side < 2; side++)
            if (word_tokens_say(pair[side], question, n_question) &&
                !word_tokens_say(pair[side], title, n_title) &&
                word_tokens_say(pair[!side], title, n_title) &&
                !word_tokens_say(pair[!side], question, n_question))
                return pair[side];
    }
    return NULL;
}
