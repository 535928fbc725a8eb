#include "retrieval/answer/refusal.h"

#include <string.h>

#include "index/sparse/language.h"

typedef struct refusal_texts {
    const char *language, *no_answer, *nothing;
} refusal_texts;

static const refusal_texts texts[] = {
    {"english", "The documents do not answer this question.",
     "Nothing in this collection matches the question."},
    {"german", "Die Dokumente beantworten diese Frage nicht.",
     "In dieser Sammlung passt nichts zu der Frage."},
    {"french", "Les documents ne répondent pas à cette question.",
     "Rien dans cette collection ne correspond à la question."},
    {"spanish", "Los documentos no responden a esta pregunta.",
     "Nada en esta colección corresponde a la pregunta."},
    {"italian", "I documenti non rispondono a questa domanda.",
     "Nulla in questa raccolta corrisponde alla domanda."},
    {"portuguese", "Os documentos não respondem a esta pergunta.",
     "Nada nesta coleção corresponde à pergunta."},
    {"russian", "В документах нет ответа на этот вопрос.",
     "В этой коллекции нет ничего по этому вопросу."},
    {"chinese", "文档没有回答这个问题。", "这个集合中没有与该问题相符的内容。"},
    {"japanese", "文書にはこの質問への答えがありません。",
     "このコレクションには質問に合う内容がありません。"},
    {"arabic", "لا تجيب المستندات عن هذا السؤال.", "لا يوجد في هذه المجموعة ما يطابق السؤال."},
    {"hindi", "दस्तावेज़ इस प्रश्न का उत्तर नहीं देते।", "इस संग्रह में प्रश्न से मेल खाता कुछ नहीं है।"},
};
enum { N_TEXTS = sizeof texts / sizeof *texts };

const char *refusal_text(const char *question, const char *documents, bool found) {
    uint64_t known = 0;
    for (size_t i = 0; i < N_TEXTS; i++) {
        int n = language_number(texts[i].language);
        if (n >= 0) known |= UINT64_C(1) << n;
    }
    /* Between neighbours that share a word ("la") the documents decide, too. */
    const char *home = documents ? documents : texts[0].language;
    int told = language_of_question(question, strlen(question), home, known);
    if (told < 0) told = language_number(home);
    const refusal_texts *in = LANGUAGE_ROW(texts, told);
    if (!in) in = &texts[0];
    return found ? in->no_answer : in->nothing;
}
