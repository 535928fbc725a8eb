#!/bin/sh
# German documents asked in German, from end to end: rows of no language, compounds that the documents write as two words, nouns that are no
# name, and what stays refused. Speaks TAP.
. "$(dirname "$0")/tap.sh"
ask() { # ask QUESTION: its answer alone; of one that is refused nothing
    "$forage" query --home "$work/home" "$@" --json >"$work/reply" 2>"$work/err"
    grep -o '"answer":"[^"]*"' "$work/reply" | head -n 1 | cut -c 11- | tr -d '"' >"$work/out"
}

mkdir "$work/documents"
cat >"$work/documents/kurse.csv" <<'END'
Kurs;Leitung;Wochentag;Raum;Plätze
Yoga am Morgen;Silke Arndt;Dienstag;Saal 2;14
Italienisch A1;Chiara Conti;Donnerstag;Raum 104;15
Schach;Viktor Lem;Samstag;Raum 7;20
END
cat >"$work/documents/hausordnung.md" <<'END'
# Hausordnung

## Waschküche

Die Waschküche steht werktags von 7:00 bis 20:00 Uhr offen. Jede Wäsche kostet 1,50 €; Münzen wechselt der Hausmeister.

## Haustiere

Kleintiere sind erlaubt. Hunde und Katzen brauchen die schriftliche Zustimmung der Verwaltung.

## Kündigung

Ein Stellplatz wird zum Ende eines Monats gekündigt.
END
cat >"$work/documents/arbeit.md" <<'END'
# Regelung zum mobilen Arbeiten

Wer krank ist, meldet sich bis 9 Uhr bei der Teamleitung. Ein Attest ist ab dem vierten Krankheitstag nötig.

Alle haben 30 Tage Urlaub im Jahr. Resturlaub verfällt am 31. März des Folgejahres.
END
"$forage" ingest --home "$work/home" "$work/documents" >"$work/out" 2>"$work/err"
check "German files go in" $?

ask "Wie viele Plätze hat der Italienischkurs?" && grep -q 'Italienisch A1.*15' "$work/out"
check "a row without function words is read in the language of the question, its compound as two words" $?
ask "Was kostet eine Maschine Wäsche?" && grep -q '1,50' "$work/out"
check "a measure and what it measures are no name that is missing" $?
ask "Ab wann brauche ich eine Krankschreibung?" && grep -q 'vierten Krankheitstag' "$work/out"
check "words that only ask are not looked for" $?
ask "Was kostet eine Stunde Tennis?"
! grep -q '[^[:space:]]' "$work/out"
check "what the documents do not say is refused as before" $?

# Of one document alone, whose sentences are alike to a reader that has not learnt German.
cat >"$work/verein.md" <<'END'
# Jahresversammlung des Rudervereins

## Beiträge

Der Jahresbeitrag steigt ab 2027 von 60 € auf 72 €. Fördermitglieder zahlen unverändert 36 €, Schüler bleiben beitragsfrei.

## Wahlen

Zum Bootswart wurde Jonas Imhof gewählt, die Kasse führt weiter Monika Hauff.
END
"$forage" ingest --home "$work/home2" "$work/verein.md" >"$work/out" 2>"$work/err"
"$forage" query --home "$work/home2" "Müssen Schüler etwas bezahlen?" --json >"$work/reply" 2>"$work/err"
grep -q 'beitragsfrei' "$work/reply" && grep -q '"support":0\.[89]' "$work/reply"
check "words that meet say more for an answer than letters that are alike" $?
finish
