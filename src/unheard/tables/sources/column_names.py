"""What columns are usually called, in several languages, by what they hold."""

from __future__ import annotations

import re
from collections.abc import Sequence

from unheard.model.labels import read_stars, recognise
from unheard.text import write_exactly

RATING = re.compile(
    r"(?!.*(id|count)s?$).*((?<!ope)rating|stars|score|satisfaction"
    r"|(?<![a-z])(star|grade|mark|note|answer)s?(?![a-z])"
    r"|sterne?(?![a-z])|bewertung|zufriedenheit|(?<![a-z])(schul)?noten?(?![a-z])"  # German
    r"|[eé]toiles?|[eé]valuation|appr[eé]ciation"  # French
    r"|estrellas?|calificaci[oó]n|puntuaci[oó]n|valoraci[oó]n|(?<![a-z])notas?(?![a-z])"  # Spanish
    r"|stelle(?![a-z])|(?<![a-z])vot[oi](?![a-z])|valutazione|punteggio"  # Italian
    r"|estrelas?|avalia[cç][aã]o|pontua[cç][aã]o"  # Portuguese
    r"|sterren|beoordeling|waardering|(?<![a-z])cijfers?(?![a-z])"  # Dutch
    r"|ocena|betyg|оценка|рейтинг|评分|評価)",
    re.IGNORECASE,
)
"""Names of columns of ratings."""

ITEM = re.compile(
    r"item|name|title|hotel|product|course|lecturer|book|movie|film|track|place|id$"
    r"|artikel|produkt|kurs|veranstaltung|dozent|(?<![a-z])(buch|ort|titel)(?![a-z])"
    r"|produit|cours|h[oô]tel|(?<![a-z])(nom|livre|lieu|titre)(?![a-z])"
    r"|prod[ou][ct]+o|curso|art[ií]culo|nombre|libro|lugar|t[ií]tulo"
    r"|prodotto|corso|(?<![a-z])nome(?![a-z])|luogo|titolo|livro"
    r"|cursus|(?<![a-z])(naam|boek|vak|plaats)(?![a-z])",
    re.IGNORECASE,
)
"""Names of columns of items."""

PERSON = re.compile(
    r"user|guest|rater|reviewer|person|student|customer|respondent|response"
    r"|nutzer|teilnehmer|(?<![a-z])(kunde|gast)(?![a-z])"
    r"|utilisateur|usuari[oa]|utente|usu[aá]rio|client|alumno|gebruiker|(?<![a-z])klant(?![a-z])",
    re.IGNORECASE,
)
"""Names of columns of raters."""

PEOPLE = re.compile(
    r"((n|number|no|anzahl|nombre|n[uú]mero|total|aantal)[ _.]+((of|der|de|di)[ _]+|d')?)?("
    r"n|population|people|guests|visitors|students|customers|enrol+ed|invited|asked|size"
    r"|g[aä]ste|kunden|besucher|teilnehmer|teilnehmende|studierende|eingeladene?|befragte"
    r"|clients|invit[eé]s|visiteurs|[eé]tudiants|inscrits|effectif"
    r"|hu[eé]spedes|clientes|alumnos|inscritos|invitados|visitantes"
    r"|ospiti|clienti|studenti|iscritti|invitati"
    r"|h[oó]spedes|alunos|convidados|gasten|klanten|deelnemers|studenten|bezoekers)",
    re.IGNORECASE,
)
"""Names of columns with the number of people; the whole name must match."""

FREQUENCY = re.compile(
    r"count(_star|_all)?(\(.*\))?|(n|no|num|number|count|cnt|freq|total)[ _.]*(of[ _.]*)?"
    r"(ratings|reviews|votes|responses|answers|people|rows|times)?"
    r"|frequency|times|size|quantity|votes|responses|reviews|ratings"
    r"|(anzahl|nombre|n[uú]mero|cantidad|aantal)([ _.].*)?|h[aä]ufigkeit|effectif"
    r"|fr[eé]quence|frecuencia|frequenza|frequ[eê]ncia|frequentie|conteggio",
    re.IGNORECASE,
)
"""Names of columns that say how many ratings a row stands for; the whole name must match."""

TOTALS = (
    "total", "totals", "grand total", "subtotal", "sum", "average", "avg", "mean", "overall",
    "all", "total:", "sum:", "count", "gesamt", "gesamtergebnis", "gesamtsumme", "insgesamt",
    "summe", "summe:", "durchschnitt", "mittelwert", "total général", "total general",
    "total geral", "total result", "totale complessivo", "eindtotaal", "suma końcowa",
    "moyenne", "somme", "ensemble", "promedio", "media", "suma", "média", "soma", "totale", "somma",
    "totaal", "gemiddelde", "razem", "合计", "总计", "平均", "合計",
)  # fmt: skip
"""What a row is called that adds up or averages the others; pandas calls it All."""

TOTAL_ENDS = (" total", " totals", " subtotal", " average", " ergebnis", " gesamt")
"""How rows are called that sum up those of one item, as Excel calls them."""

COUNT = re.compile(r"(.*?)(\d+(?:\.\d+)?)\D*")
"""How many people gave a rating, which the name states: n1, count_0.5, 5 stars."""


def read_ratings(columns: Sequence[str]) -> list[float]:
    """Read the ratings that names of columns state, as numbers or words; none if they do not."""
    names = [write_plainly(name) for name in columns]
    numbers = [re.findall(r"\d+(?:\.\d+)?", name) for name in names]
    ratings = [float(found[0]) for found in numbers if len(found) == 1]
    may_be_anything = {*map(str.casefold, names)} <= {*"abcde"}
    if not ratings and names and not may_be_anything:
        ratings = _read_words(names) or _read_words(_leave_shared_words_out(names))
    complete = len(ratings) == len({*ratings}) == len(columns)
    return ratings if complete else []


def write_plainly(name: str) -> str:
    """Write the name of a column as people write a rating: stars as their number, no underscores.

    Examples
    --------
    >>> write_plainly("★★★"), write_plainly("strongly_agree")
    ('3', 'strongly agree')
    """
    stars = read_stars(name)
    return name.replace("_", " ") if stars is None else write_exactly(stars[0])


def _read_words(names: Sequence[str]) -> list[float]:
    readings = recognise(dict.fromkeys(names, 1))
    found = [readings[0].labels.read(name)[1] for name in names] if readings else []
    return [rating for rating in found if rating is not None]


def _leave_shared_words_out(names: Sequence[str]) -> list[str]:
    """Leave out the words with which all names begin or end.

    Examples
    --------
    >>> _leave_shared_words_out(["n good count", "n very bad count"])
    ['good', 'very bad']
    """
    words = [name.split() for name in names]
    for at in (0, -1):
        while min(map(len, words)) > 1 and len({one[at].casefold() for one in words}) == 1:
            for one in words:
                del one[at]
    return [" ".join(one) for one in words]
