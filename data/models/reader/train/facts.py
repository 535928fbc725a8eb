"""facts.py OUT [DOCUMENTS [SEED]] - documents about prices, deposits, hours, places and other plain facts, with questions
that mostly use another word than the document does: "What do I pay for ...?" of a column Fee, "How many people fit in?"
of "seats 40".

OUT is a file as questions/laid_out_documents.jsonl, which laid_out.py and cross_pairs.py read. Everything is put together
by chance from the lists below: tables, lists of "Name: value" and prose. A third of the questions asks for what the
document does not say, of a thing or a property that it does not name."""
import json
import random
import sys

THINGS = {
    "room": "Aspen Room|Harbour Hall|attic studio|Blue Salon|cellar workshop|Lantern Room|garden pavilion|old chapel|"
            "music room|council chamber|east gallery|Mill Loft|reading room|sports hall|Room 12|tea kitchen|boardroom",
    "hut": "Falcon Hut|Larch Hut|Upper Alm|Boulder Camp|Heron's Rest|Saddle Refuge|Lake Cabin|Pine Shelter|North Bothy|"
           "Raven Lodge|Spring Cottage|Shepherd's House",
    "vehicle": "cargo bike|blue van|rowing boat|minibus|trailer|canoe|tandem|pedalo|electric car|flatbed truck|kayak|"
               "tractor|motor launch|folding bike|snow groomer",
    "machine": "tile cutter|band saw|kiln|laser printer|sewing machine|pressure washer|wood splitter|loom|lathe|"
               "concrete mixer|scarifier|hedge trimmer|chainsaw|cider press|oven|dough mixer|floor sander|3D printer",
    "course": "first aid course|pottery class|beginners' Spanish|rope rescue training|bread baking evening|choir workshop|"
              "photography weekend|bicycle repair class|welding course|yoga for backs|chess school|bee-keeping course",
    "service": "dental cleaning|puncture repair|oil change|eye test|chimney sweeping|boiler inspection|dog grooming|"
               "passport photo|blade sharpening|piano tuning|rabies vaccination|tyre storage|house visit|hoof trimming|"
               "key cutting|ear cleaning|microchipping|blood test",
    "product": "sourdough loaf|rye flour|apple juice|goat's cheese|hand cream|oak shelf|wool blanket|seed potatoes|"
               "pear tree|bird box|honey jar|linseed oil|water filter|garden hose|work gloves|solar lamp|fence post",
    "membership": "student membership|family card|ten-visit card|day ticket|season ticket|corporate plan|basic plan|"
                  "trial account|library card|allotment plot|locker|mooring|parking permit|choir membership",
    "software": "sync client|backup agent|report server|mail gateway|photo importer|label editor|web console|import tool|"
                "metrics collector|log shipper|job scheduler|image resizer",
}
TITLES = {
    "room": "Rooms of the community centre|Hiring our rooms|Venue guide|House rules for hirers",
    "hut": "Huts of the alpine club|Where to stay the night|Hut guide|Cabins and shelters",
    "vehicle": "Vehicles to borrow|Boat and bike hire|The co-op's fleet|Hire desk",
    "machine": "Tool library|Workshop machines|Machine hire|What the workshop lends",
    "course": "Autumn programme|Courses and workshops|Evening school|What you can learn here",
    "service": "Price list|Our services|What we do and what it takes|Practice information",
    "product": "Farm shop|What we sell|Stock list|From our shelves",
    "membership": "Membership and tickets|Tariffs|Ways to take part|Plans",
    "software": "Components|Administrator's overview|Deployment notes|System requirements",
}


def euros(r):
    n = r.choice((2, 4, 5, 8, 9, 12, 15, 18, 24, 30, 35, 40, 55, 60, 75, 80, 120, 150, 240, 380))
    return r.choice((f"{n} €", f"€{n}", f"{n}.50 €", f"{n} euros", f"${n}", f"£{n}.00", f"{n} francs"))


def span(r):
    return f"{r.choice((2, 3, 4, 5, 6, 8, 10, 12, 14, 20, 30, 45, 90))} {r.choice(('days', 'weeks', 'months', 'minutes', 'hours'))}"


def clock(r):
    a = r.randint(6, 11)
    return r.choice((f"{a}:00 to {a + r.randint(5, 10)}:30", f"{a} am – {r.randint(3, 9)} pm", f"{a}.30–{a + 8}.00"))


def number(*of):
    return lambda r: str(r.choice(of))


def one_of(*of):
    return lambda r: r.choice(of)


PEOPLE = one_of("Mrs Okafor", "Jan Lindqvist", "the caretaker", "the front desk", "Ms Delgado", "Mr Petrov", "the treasurer",
                "Aiko Tanaka", "the duty officer", "Lena Vogt", "the workshop manager", "Dr Brandt")
PHONE = one_of("020 555 0143", "ext. 214", "0171 33 80 21", "+44 1632 960 110", "ext. 47", "555-0187", "08122 4417")
DAYS = one_of("Mondays", "Tuesdays and Fridays", "weekdays", "the first Saturday of the month", "Wednesdays", "Sundays",
              "every second Thursday", "weekends only")

# columns; what prose says of {x} and {v}; what is asked of {x}; the value; the things that have it (all where None)
FACTS = [
    ("Price|Fee|Rate|Charge|Tariff|Costs",
     "The {x} costs {v}.|We charge {v} for the {x}.|For the {x} a fee of {v} is due.|The rate for the {x} is {v}.|"
     "The {x} is available at {v}.|You pay {v} for the {x}.",
     "What does the {x} cost?|How much is the {x}?|What do I pay for the {x}?|price of the {x}|How expensive is the {x}?|"
     "What will I be charged for the {x}?|How much money do I need for the {x}?|what's the {x} going to set me back",
     euros, None),
    ("Deposit|Security|Surety|Bond|Caution money",
     "A deposit of {v} is asked for the {x}.|Leave {v} as security for the {x}; you get it back.|"
     "The {x} is handed out against a bond of {v}.|{v} is held until the {x} comes back clean.",
     "How high is the deposit for the {x}?|Do I have to leave a deposit for the {x}?|How much security do you want for the {x}?|"
     "What do I leave behind for the {x}?|How much is held until I bring the {x} back?",
     euros, ("room", "hut", "vehicle", "machine", "membership")),
    ("Places|Seats|Capacity|Persons|Max. people|Beds",
     "The {x} has room for {v} people.|At most {v} people fit in the {x}.|The {x} seats {v}.|The {x} is meant for {v} persons.|"
     "No more than {v} may use the {x} at a time.",
     "How many people fit in the {x}?|How many does the {x} hold?|Can we come to the {x} with a big group?|"
     "What is the capacity of the {x}?|How many of us can use the {x}?|how many seats in the {x}|Is the {x} big enough for us?",
     number(2, 4, 6, 8, 9, 12, 16, 18, 24, 30, 40, 45, 60, 85, 120), ("room", "hut", "vehicle")),
    ("Places|Group size|Participants|Max. participants",
     "The {x} takes {v} participants.|At most {v} can join the {x}.|The {x} is limited to {v} people.",
     "How many can take part in the {x}?|How big are the groups in the {x}?|How many people are in the {x}?|"
     "How many places does the {x} have?", number(5, 6, 8, 10, 12, 14, 20), ("course",)),
    ("Hours|Open|Opening times|Available|When",
     "The {x} can be used {v}.|You find the {x} open {v}.|Hours for the {x} are {v}.|The {x} is available {v}.",
     "When is the {x} open?|What are the opening hours of the {x}?|From when can I use the {x}?|How late can I use the {x}?|"
     "At what time does the {x} close?|what times is the {x} available", clock, ("room", "vehicle", "machine", "service", "hut")),
    ("Days|Weekday|Held on|Runs on",
     "The {x} takes place on {v}.|We offer the {x} on {v}.|The {x} runs on {v}.",
     "On which days is the {x}?|What day is the {x}?|When does the {x} take place?|which weekday is the {x}", DAYS,
     ("course", "service")),
    ("Duration|Length|Takes|Time needed|How long",
     "The {x} takes {v}.|Allow {v} for the {x}.|Plan {v} for the {x}.|The {x} lasts {v}.",
     "How long does the {x} take?|How much time should I plan for the {x}?|What's the duration of the {x}?|"
     "How long will I be busy with the {x}?|is the {x} quick", span, ("course", "service")),
    ("Loan period|Lent for|Hire period|Max. loan",
     "The {x} is lent for {v}.|You may keep the {x} for {v}.|The {x} must be back after {v}.",
     "How long can I keep the {x}?|When do I have to bring the {x} back?|For how long may I borrow the {x}?|"
     "What is the loan period of the {x}?", span, ("vehicle", "machine")),
    ("Contact|Ask|In charge|Responsible|Person",
     "{v} is in charge of the {x}.|Questions about the {x} go to {v}.|Turn to {v} about the {x}.|The {x} is looked after by {v}.",
     "Who is responsible for the {x}?|Whom do I ask about the {x}?|Who looks after the {x}?|Who can help me with the {x}?|"
     "who do I talk to about the {x}|Who deals with the {x}?", PEOPLE, None),
    ("Phone|Telephone|Tel.|Call|Number",
     "For the {x} call {v}.|The {x} is booked under {v}.|Ring {v} about the {x}.",
     "What number do I call about the {x}?|What's the phone number for the {x}?|How do I reach somebody about the {x}?|"
     "Where do I ring for the {x}?", PHONE, None),
    ("Min. age|From age|Age|Youngest",
     "The {x} is for people of {v} and older.|Nobody under {v} may use the {x}.|You have to be {v} for the {x}.",
     "How old do I have to be for the {x}?|What is the age limit for the {x}?|Is the {x} allowed for children?|"
     "Can my kid use the {x}?|minimum age {x}", number(6, 8, 10, 12, 14, 16, 18, 21), ("course", "vehicle", "machine", "membership")),
    ("Weight|Mass|Heavy|kg",
     "The {x} weighs {v}.|With {v} the {x} is carried by two.|The {x} comes to {v}.",
     "How heavy is the {x}?|What does the {x} weigh?|Can I lift the {x} alone?|weight of the {x}",
     one_of("12 kg", "340 g", "1.2 kg", "85 kg", "6.5 kg", "28 lb", "140 kg", "750 g"), ("machine", "product", "vehicle")),
    ("Size|Dimensions|Measures|Area",
     "The {x} measures {v}.|The {x} is {v} in size.|In all the {x} comes to {v}.",
     "How big is the {x}?|What are the dimensions of the {x}?|How large is the {x}?|Does the {x} take a lot of space?",
     one_of("60 x 40 cm", "2.4 m by 80 cm", "48 m²", "1.8 x 0.9 m", "120 m²", "30 x 30 x 25 cm"), ("room", "product", "machine")),
    ("Top speed|Speed|Max. km/h", "The {x} does {v} at most.|Its limiter stops the {x} at {v}.",
     "How fast is the {x}?|How fast does the {x} go?|What is the top speed of the {x}?",
     one_of("25 km/h", "6 knots", "45 km/h", "80 km/h", "12 knots"), ("vehicle",)),
    ("Range|Goes|Distance", "One charge of the {x} lasts for {v}.|The {x} covers {v} before it must be filled.",
     "How far can I go with the {x}?|What is the range of the {x}?|How far does the {x} get me?",
     one_of("60 km", "220 km", "35 miles", "410 km", "18 nautical miles"), ("vehicle",)),
    ("Power|Watts|Consumption|Connected load", "The {x} draws {v}.|The {x} needs a socket for {v}.",
     "How much power does the {x} need?|What does the {x} consume?|How much electricity does the {x} use?|"
     "How many watts does the {x} draw?", one_of("1,800 W", "2.2 kW", "16 A", "350 W", "9 kW"), ("machine",)),
    ("Notice|Cancel by|Cancellation|Free cancellation", "The {x} can be cancelled up to {v} before.|Tell us {v} ahead if you give up the {x}.",
     "Until when can I cancel the {x}?|How late can I call off the {x}?|What if I can't make it to the {x}?|"
     "How much notice do you need to end the {x}?|Can I get out of the {x}?", span, ("course", "room", "hut", "membership", "service")),
    ("Where|Location|Place|Kept at|Building",
     "The {x} is in {v}.|You find the {x} in {v}.|Go to {v} for the {x}.",
     "Where is the {x}?|Where do I find the {x}?|Where do I have to go for the {x}?|In which building is the {x}?|location of the {x}",
     one_of("the north wing", "shed 3", "the second floor", "the cellar", "Mill Street 9", "bay 14", "the house by the lock",
            "hall B"), None),
    ("Warranty|Guarantee", "The {x} carries a warranty of {v}.|If the {x} breaks within {v} we replace it.",
     "How long is the guarantee on the {x}?|What if the {x} breaks early?|Is there a warranty on the {x}?",
     span, ("product", "machine")),
    ("Keeps|Shelf life|Best before|Use within", "The {x} keeps for {v}.|Use up the {x} within {v}.|After {v} the {x} is no longer good.",
     "How long does the {x} last?|How long is the {x} good for?|When does the {x} go bad?|How soon must I use up the {x}?",
     span, ("product",)),
    ("In stock|Stock|Quantity|On hand", "There are {v} of the {x} in stock.|We have {v} pieces of the {x} left.",
     "How many of the {x} are left?|How many of the {x} do you have?|Is the {x} still available?|how many {x} in stock",
     number(3, 7, 11, 14, 26, 32, 48, 90, 150, 400), ("product",)),
    ("Delivery|Delivered in|Lead time|Ships in", "The {x} is delivered within {v}.|Expect the {x} after {v}.",
     "How soon do I get the {x}?|How long do I wait for the {x}?|When will the {x} arrive?|delivery time of the {x}", span, ("product",)),
    ("Ingredients|Made of|Material|Contains", "The {x} is made of {v}.|The {x} contains {v}.|What goes into the {x} is {v}.",
     "What is the {x} made of?|What's in the {x}?|What material is the {x}?|What does the {x} consist of?",
     one_of("larch", "spelt and water", "recycled steel", "lambswool", "almonds and honey", "brass", "untreated oak"), ("product",)),
    ("Bring|To bring|You need|Required", "Bring {v} for the {x}.|For the {x} you need {v}.|The {x} is only given with {v}.",
     "What do I have to bring for the {x}?|What should I take along to the {x}?|What is needed for the {x}?|Do I need any papers for the {x}?",
     one_of("a photo ID", "sturdy shoes", "an apron", "the vaccination book", "a driving licence", "your own thread",
            "two passport pictures", "a towel"), ("course", "service", "vehicle", "membership")),
    ("Teacher|Led by|Trainer|Instructor", "The {x} is taught by {v}.|{v} leads the {x}.",
     "Who teaches the {x}?|Who gives the {x}?|Who is the instructor of the {x}?|Whose course is the {x}?", PEOPLE, ("course",)),
    ("Port|TCP port|Listens on", "The {x} listens on {v}.|Clients reach the {x} at port {v}.",
     "Which port does the {x} use?|What port must be opened for the {x}?|Where does the {x} listen?",
     number(80, 443, 2525, 5432, 7070, 8080, 8443, 9100, 9600), ("software",)),
    ("Memory|RAM|Min. memory", "The {x} needs {v} of memory.|Give the {x} {v} of RAM.",
     "How much RAM does the {x} need?|What are the memory requirements of the {x}?|How much memory should I give the {x}?",
     one_of("256 MB", "1 GB", "4 GB", "512 MB", "16 GB"), ("software",)),
    ("Platforms|Operating systems|Runs on|Supported on", "The {x} runs on {v}.|The {x} is built for {v}.|{v} are supported by the {x}.",
     "Which operating systems does the {x} support?|Does the {x} work on my computer?|What can I run the {x} on?|"
     "platforms supported by the {x}", one_of("Linux and FreeBSD", "Windows 11", "macOS 13 and later", "Debian 12", "Linux, macOS and Windows"),
     ("software",)),
    ("Licence|License|Terms", "The {x} comes under {v}.|The {x} is published under {v}.",
     "What is the licence of the {x}?|Under what terms may I use the {x}?|Is the {x} free software?",
     one_of("MIT", "the GPL, version 3", "Apache-2.0", "a commercial licence", "BSD-2-Clause"), ("software",)),
    ("Kept for|Retention|Stored for|Deleted after", "The {x} keeps its data for {v}.|What the {x} stores is deleted after {v}.",
     "How long does the {x} keep data?|When is data of the {x} deleted?|How far back does the {x} go?|retention of the {x}",
     span, ("software",)),
    ("Interval|Runs every|Schedule|Frequency", "The {x} runs every {v}.|Every {v} the {x} does its work.",
     "How often does the {x} run?|At which interval does the {x} run?|How frequently is the {x} started?", span, ("software",)),
    ("Valid|Valid for|Expires after|Runs for", "The {x} is valid for {v}.|The {x} runs out after {v}.",
     "How long is the {x} valid?|When does the {x} expire?|For how long can I use the {x}?|How long does the {x} last?", span, ("membership",)),
]
CLOSE = ({"Hours", "Days", "Duration", "Loan period"}, {"Contact", "Phone", "Teacher"})  # either may be meant
FILLER = ("Please be kind to one another.|We are a small team and do this beside other work.|The list was last gone through in spring.|"
          "More is said on the notice board.|Thank you to everyone who helped.|Our neighbours sleep early.|"
          "It was a gift of the parish.|Some of it goes back to the founding years.|We are glad to show it to you.|"
          "Tell us if something is wrong here.|Children like it.|It has been repainted lately.").split("|")


def pick(r, choices):
    return r.choice(choices.split("|"))


def a_question(r, asks, x):
    q = pick(r, asks).replace("{x}", x)
    if r.random() < .1:
        q = q.replace("the " + x, "a " + x)
    return q


def about_many(r, kind, facts, other_facts):
    things = r.sample(THINGS[kind].split("|"), r.randint(4, 8))
    missing = [t for t in THINGS[kind].split("|") if t not in things]
    columns = [pick(r, f[0]) for f in facts]
    if len(set(columns)) < len(columns):
        return None
    values = {t: [f[3](r) for f in facts] for t in things}
    head = r.choice(("Name", kind.capitalize(), "What", "Item"))
    lines = [f"| {head} | " + " | ".join(columns) + " |", "|" + "---|" * (len(columns) + 1)]
    lines += [f"| {t} | " + " | ".join(values[t]) + " |" for t in things]
    if r.random() < .3:  # a line for each instead
        form = r.choice(("- {t}: {c} {v}", "- {t} – {c}: {v}", "* {t} ({c} {v})"))
        k = r.randrange(len(facts))
        facts, columns = [facts[k]], [columns[k]]
        rows = {t: form.format(t=t, c=columns[0].lower(), v=values[t][k]) for t in things}
        lines = list(rows.values())
        quotes = {t: rows[t][2:] for t in things}
    else:
        quotes = {t: " | ".join([t] + values[t]) for t in things}
    text = "\n".join(lines)
    questions = []
    for t in r.sample(things, min(len(things), 5)):
        for f in r.sample(facts, min(2, len(facts))):
            questions.append([a_question(r, f[2], t), [quotes[t]]])
    for _ in range(3):
        questions.append([a_question(r, r.choice(facts)[2], r.choice(missing)), []])
        if other_facts:
            questions.append([a_question(r, r.choice(other_facts)[2], r.choice(things)), []])
    return text, questions


def about_one(r, kind, facts, other_facts):
    t = pick(r, THINGS[kind])
    said = []
    as_list = r.random() < .35
    for f in facts:
        v = f[3](r)
        s = f"{pick(r, f[0])}: {v}" if as_list else pick(r, f[1]).replace("{x}", t).replace("{v}", v)
        if not as_list and said and r.random() < .5:
            s = s.replace("The " + t, "It").replace("the " + t, "it")
        said.append((s[0].upper() + s[1:], f))
    questions = []
    for s, f in said:
        for _ in range(2):
            questions.append([a_question(r, f[2], t), [s]])
    for _ in range(4):
        if other_facts:
            questions.append([a_question(r, r.choice(other_facts)[2], t), []])
    other = pick(r, THINGS[r.choice(list(THINGS))])
    if other != t:
        questions.append([a_question(r, r.choice(facts)[2], other), []])
    if as_list:
        return t, "\n".join("- " + s for s, _ in said), questions
    lines = [s for s, _ in said]
    for _ in range(r.randint(0, 3)):
        lines.insert(r.randint(1, len(lines)), r.choice(FILLER))
    return t, " ".join(lines), questions


def document(r, n):
    kind = r.choice(list(THINGS))
    fitting = [f for f in FACTS if f[4] is None or kind in f[4]]
    r.shuffle(fitting)
    k = min(len(fitting) - 1, r.randint(2, 6))
    facts = fitting[:k]
    close = {name for names in CLOSE if names & {f[0].split("|")[0] for f in facts} for name in names}
    others = [f for f in fitting[k:] if f[0].split("|")[0] not in close]
    title = pick(r, TITLES[kind])
    if r.random() < .5:
        made = about_many(r, kind, facts, others)
        if not made:
            return None
        text, questions = made
        name = f"f-{n:04}.md"
        return {"name": name, "text": f"# {title}\n\n{r.choice(FILLER)}\n\n{text}\n", "questions": questions}
    t, text, questions = about_one(r, kind, facts, others)
    heading = r.choice((f"# {title}\n\n## {t[0].upper() + t[1:]}\n\n", f"# {t[0].upper() + t[1:]}\n\n"))
    return {"name": f"f-{n:04}.md", "text": heading + text + "\n", "questions": questions}


def main(out, documents=700, seed=5):
    r, n = random.Random(int(seed)), 0
    with open(out, "w", encoding="utf8") as f:
        while n < int(documents):
            d = document(r, n)
            if d:
                f.write(json.dumps(d, ensure_ascii=False) + "\n")
                n += 1


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
