"""Words the generator draws from: names, places, things, and words for field names.

Everything here was written for this project. `split(word)` decides by a checksum of the word whether it belongs to the
training or to the held-out side, so that the two never share a name, a made-up word or a field name.
"""

import zlib
from functools import lru_cache

HELD_OUT_SHARE = 8


@lru_cache(maxsize=1 << 16)
def is_held_out(word: str) -> bool:
    """One word in eight is never seen in training; the choice depends on the word alone."""
    return zlib.crc32(word.lower().encode()) % HELD_OUT_SHARE == 0


def side(words, held_out: bool):
    chosen = [w for w in words if is_held_out(w) == held_out]
    return chosen or list(words)


FIRST = """Anna Ben Clara David Emma Felix Grace Henry Iris Jonas Kate Leo Maria Noah Olivia Paul Quinn Rosa Sam Tara Umar
Vera Walter Xenia Yara Zoe Amir Aisha Carlos Chen Dmitri Elena Fatima George Hannah Igor Julia Kofi Laila Marco Nadia Omar
Priya Rahul Sofia Tomas Ursula Victor Wendy Yusuf Akira Bianca Cedric Diana Edgar Fiona Gustav Helga Ines Jamal Karen Luis
Mona Nils Otto Petra Ralph Sara Theo Uma Viktor Wanda Yuki Zara Adam Beth Colin Dora Erik Freya Glen Hugo Ivan Jean Kyle
Lena Mark Nora Oscar Pia Rick Stella Tim Vlad Will Abigail Bruno Chloe Daniel Esther Frank Gloria Harold Isabel Jack
Kevin Lucy Martin Nancy Oliver Patricia Robert Susan Thomas Valerie William Zachary Mateo Lucia Pedro Ingrid Sven Astrid
Bjorn Sigrid Ahmed Leila Hassan Mei Wei Ling Jun Hiro Sakura Ravi Anita Deepak Lakshmi Tunde Amara Kwame Zainab""".split()
LAST = """Meyer Smith Johnson Brown Garcia Miller Davis Lopez Wilson Moore Taylor Clark Lewis Young Hall King Wright Hill
Green Baker Nelson Carter Mitchell Roberts Turner Phillips Campbell Parker Evans Edwards Collins Stewart Morris Rogers Reed
Cook Morgan Bell Murphy Bailey Cooper Ward Cox Gray James Watson Brooks Kelly Sanders Price Bennett Wood Barnes Ross Jenkins
Perry Powell Long Hughes Schmidt Fischer Weber Wagner Becker Hoffmann Koch Richter Klein Wolf Neumann Schwarz Rossi Ferrari
Bianchi Romano Silva Santos Costa Pereira Novak Kowalski Nowak Ivanov Petrov Dubois Laurent Moreau Tanaka Sato Suzuki Kim
Park Lee Nguyen Tran Patel Sharma Singh Khan Okafor Mensah Haddad Nasser Andersen Larsen Nilsson Virtanen Murray Doyle
Quinn Byrne Walsh Fraser Sinclair Barlow Thornton Whitfield Ashford Penrose Calloway Draper Ellison Farley Granger Hobbs
Ingram Jarvis Kendrick Lockwood Maddox Norwood Osborne Pryor Radley Selby Tindall Upton Vance Wexler Yates Zeller""".split()
SYLLABLES = """ba be bi bo bu ca ce co cra da de di do dra du el fa fe fi flo fo ga ge gi glo go gra ha he hi ho hu ja jo ju
ka ke ki ko kra la le li lo lu ma me mi mo mu na ne ni no nu o pa pe pi plo po pra qua ra re ri ro ru sa se shi so sta su
ta te ti to tra tu va ve vi vo wa we wi wo ya yo za ze zi zo""".split()
ENDS = "n r l s t m x nd rt lt sk ck ph th ng rn lm".split() + [""] * 12
CITIES = """Berlin Hamburg Munich Paris Lyon Nice Madrid Seville Lisbon Porto Rome Milan Turin Vienna Graz Zurich Geneva Oslo
Bergen Stockholm Malmo Helsinki Tampere Copenhagen Warsaw Krakow Prague Brno Budapest Athens Dublin Cork London Leeds Bristol
York Boston Chicago Denver Seattle Portland Austin Dallas Houston Miami Atlanta Toronto Montreal Vancouver Sydney Perth
Auckland Tokyo Osaka Kyoto Seoul Busan Mumbai Delhi Pune Nairobi Lagos Accra Cairo Dubai Lima Bogota Quito Santiago
Cologne Dresden Leipzig Bremen Ghent Bruges Utrecht Rotterdam Glasgow Cardiff Belfast Oxford Cambridge Bath""".split()
COUNTRIES = """Germany France Spain Portugal Italy Austria Switzerland Norway Sweden Finland Denmark Poland Hungary Greece
Ireland Canada Mexico Brazil Chile Peru Japan Korea India Kenya Ghana Egypt Turkey Australia Vietnam Thailand Iceland
Belgium Estonia Latvia Croatia Slovenia Romania Bulgaria Malta Cyprus Morocco Tunisia Nepal Bolivia Uruguay""".split()
STREETS = """Oak Maple Cedar Pine Elm Mill Church Station Park Lake River Hill Garden Market Bridge Castle Forest Meadow
Sunset Harbor School Mountain Spring Rose Windmill Abbey Canal Chapel Orchard Quarry""".split()
STREET_KINDS = "Street Road Avenue Lane Way Drive Close Square Court".split()
ADJECTIVES = """red blue green black white small large heavy light old new steel wooden glass plastic cotton leather silver golden
portable wireless digital electric folding compact classic modern round square soft hard cold warm dry wet fresh sweet
bright dark quiet fast slow cheap simple double single deluxe premium basic smart mini organic ceramic copper brass woolen
padded foldable adjustable vintage striped matte polished insulated rustic""".split()
THINGS = """lamp desk chair table phone laptop monitor keyboard mouse printer camera kettle toaster blender mixer oven fridge
knife spoon fork plate bowl cup mug bottle jar box bag backpack wallet belt jacket coat shirt sweater scarf hat glove boot
shoe sock bike helmet tent rope ladder hammer drill saw wrench screwdriver nail bolt battery charger cable adapter speaker
headset microphone guitar violin drum piano book notebook pen pencil brush paint canvas mirror clock watch ring necklace
towel pillow blanket mattress curtain carpet vase candle plant pot shovel rake hose bucket sponge soap filter pump valve
sensor switch router tablet scanner projector tripod lens umbrella suitcase stroller puzzle kite skateboard racket ball
cheese bread coffee tea honey butter rice pasta flour sugar salt pepper onion garlic carrot potato tomato apple pear lemon
bean lentil mushroom salmon chicken egg milk cream yogurt oil vinegar""".split()
COMPANY_ENDS = "Ltd Inc GmbH LLC Group Labs Systems Partners Foods Logistics Studio Works Media Energy Trading Motors".split()
# Words for made-up field names ("batch grade", "pilot zone", …).
NOUNS = """account agent alarm amount area asset author badge balance band basket batch bay bin block board body branch brand
budget building bundle button cabin calibre camp capacity carrier case category cell center chamber channel chapter charge
chart class client coach code color column contact container contract counter course cover crew crop currency cycle deal
deck deed delay depot depth desk detail device diagnosis dish distance district division dock document donor door dose
draft driver duration edition editor engine entry episode estate exam exhibit expert factor farm fee field file fleet
flight floor folder force forecast format frame frequency fuel game gate gauge gear genre goal grade grant group guard
guest guide hall handler harvest height holder host hotel house impact index insurer interval issue item job journey judge
jury key kind label landlord language layer leader league length lesson level license limit line link load loan location
lock log lot machine manager margin mark market material meal measure medium meeting member menu merchant method metric
mission mode model module mood motor nation network node note number object occasion offer office operator option order
origin outcome output owner pack page panel parcel part partner party pass patient payment peak period permit phase piece
pilot pitch plan plant platform player plot point policy pool port position post power prize process profile program
project property protocol quality quantity quarter queue quota range rank rate rating ratio reader reason receipt record
referee reference region relay remark rent report request resource result review reward risk role room root route row rule
run sale sample scale scene scheme scope score screen season seat section sector segment seller sender sensor series
server session set shade shape share shelf shift ship shop signal site size skill slot source space species speed sponsor
spot staff stage stand station status step stock stop storage store stream strength string style subject supplier supply
surface survey symbol system table tag target task team tenant term test text theme threshold ticket tier title token tool
topic total tower track trade trail trainer transport treatment trend trial trip tutor type unit update user vehicle
vendor venue version view visitor voice volume voyage wage ward warehouse warning weight winner witness worker yield zone""".split()
QUALIFIERS = """first last next main primary second final total average minimum maximum current previous new old internal
external local global public private assigned planned actual expected issued approved annual daily weekly monthly net gross
home work billing shipping delivery start end due preferred alternate default backup lead senior registered""".split()
FILLER = """the a and of to in is was for on with that it as at be this have from or had by not but what all were when we there
can an your which their if will up about out many then them these so some her would like him into time has look two more
write see number way could people my than water been call who now find long down day did get come made may part over sound
take only little work know place year live back give most very after thing our just name good sentence man think say great
where help through much before line right too mean old any same tell boy follow came want show also around form three small
set put end does another well large must big even such because turn here why ask went men read need land different home us
move try kind hand picture again change off play spell air away animal house point page letter mother answer found study
still learn should world please thanks regards hello dear sincerely best team yesterday today tomorrow morning afternoon
evening week month meeting call email update note question regarding confirm received sent soon already however therefore
because although while during between without within against under above below near behind""".split()
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = "January February March April May June July August September October November December".split()
COLORS = "red blue green black white yellow orange purple brown gray pink silver gold beige navy teal maroon olive".split()
SMALL = "zero one two three four five six seven eight nine ten eleven twelve".split()
LANGUAGES = "English German French Spanish Italian Dutch Polish Turkish Arabic Hindi Korean Japanese Greek Swedish".split()
JOBS = """nurse teacher engineer plumber electrician baker driver lawyer accountant designer architect chef pilot farmer
dentist surgeon librarian translator carpenter mechanic editor analyst developer technician manager consultant
photographer gardener welder receptionist""".split()
NUMBERS = dict(enumerate(SMALL)) | {13: "thirteen", 14: "fourteen", 15: "fifteen", 16: "sixteen", 18: "eighteen", 20: "twenty",
                                    30: "thirty", 40: "forty", 50: "fifty", 60: "sixty", 80: "eighty", 90: "ninety", 100: "a hundred"}
VERBS = """write check send call clean order book prepare print update review test fix plan move paint count sort pack sign read copy
answer visit repair replace measure translate publish compare collect deliver return cancel finish discuss install remove open
close find buy sell draw water feed wash cut build carry file scan save restore rename renew confirm""".split()

EXTRAS = "given stated noted exact known value info text field entry data detail said our this new actual main".split()


def fragments():
    """Beginnings, middles and ends of the training side's words."""
    words = [w.lower() for w in side(FIRST + LAST + CITIES + COUNTRIES + STREETS + ADJECTIVES + THINGS + NOUNS + QUALIFIERS + FILLER + JOBS + VERBS, False)]
    heads = [w[:n] for w in words for n in (1, 2, 3, 4) if n < len(w)]
    middles = [w[i:i + n] for w in words for n in (1, 2, 3) for i in range(1, len(w) - n)]
    tails = [w[-n:] for w in words for n in (2, 3, 4) if n < len(w)]
    return heads, middles, tails


HEADS, MIDDLES, TAILS = fragments()


def coin(r) -> str:
    """A new word of pieces of known ones: any piece may follow any other, so that copying it cannot be done from memory."""
    while True:
        word = r.choice(HEADS) + "".join(r.choice(MIDDLES) for _ in range(r.choice([0, 0, 0, 1, 1, 2]))) + r.choice(TAILS)
        if not is_held_out(word):
            return word
