"""Studies of participation: their figures, their names, and what naming one assumes."""

import json
from functools import partial
from pathlib import Path

import duckdb
import pandas as pd
import pytest

import unheard as uh
from unheard.formulas.boxes import QUIET
from unheard.model.parsing import parse_value
from unheard.model.studies import BESIDE_RESULTS, EVIDENCE, NAMED_Q, PRESETS, STUDIES, Study
from unheard.options import declarations
from unheard.web.api.histograms import quick_estimate

USF = Path(__file__).parents[3] / "shared" / "data" / "usf" / "sections.csv.gz"
COUNTS = [120, 30, 45, 200, 605]
NAMED = list(STUDIES.values())


def usf_ratios(first: int, last: int) -> list[float]:
    """Online over paper participation by rating, each pair with one weight on both sides."""
    ratings = [f"overall_{r}" for r in range(1, 6)]
    sums = ", ".join(f"sum({name}) AS {name}" for name in ratings)
    both = ", ".join(
        f"sum(least(o.n, p.n) * o.{name} / o.n) / sum(least(o.n, p.n) * p.{name} / p.n)"
        for name in ratings
    )
    side = f"""SELECT instructor_id AS who, regexp_extract(course, '^[^-]*-[^-]*') AS what,
        sum(enrolled) AS n, {sums} FROM '{USF}'
        WHERE {" + ".join(ratings)} BETWEEN 1 AND enrolled AND term // 100 BETWEEN"""
    (row,) = (
        duckdb.connect()
        .execute(
            f"""WITH p AS ({side} {first} AND 2012 GROUP BY ALL),
        o AS ({side} 2013 AND {last} GROUP BY ALL)
        SELECT {both}, count(*) FROM p JOIN o USING (who, what)"""
        )
        .fetchall()
    )
    return [float(value) for value in row]


# Figures.


@pytest.mark.skipif(not USF.exists(), reason=f"{USF} is not there")
def test_usf_figures_are_those_of_the_data() -> None:
    *ratios, pairs = usf_ratios(2011, 2014)
    study = STUDIES["usf-online"]
    assert pairs == 5199
    assert f"{pairs:,.0f} pairs of 2011 to 2014" in study.source
    assert [ratio / max(ratios) for ratio in ratios] == pytest.approx(study.g, abs=5e-5)
    assert ratios == pytest.approx([1.485, 1.154, 0.854, 0.736, 0.615], abs=5e-4)


@pytest.mark.skipif(not USF.exists(), reason=f"{USF} is not there")
@pytest.mark.parametrize(("first", "last", "q"), [(2012, 2013, 0.50), (2005, 2024, 0.29)])
def test_usf_depends_on_the_years_as_documented(first: int, last: int, q: float) -> None:
    *ratios, _ = usf_ratios(first, last)
    assert ratios == sorted(ratios, reverse=True)
    assert min(ratios) / max(ratios) == pytest.approx(q, abs=0.005)


@pytest.mark.parametrize("study", NAMED, ids=lambda one: one.slug)
def test_figures_agree(study: Study) -> None:
    assert study.q == pytest.approx(min(study.g) / max(study.g), abs=5e-5)
    assert all(0 < share <= 1 for share in study.g)
    rising = list(study.g) == sorted(study.g)
    assert study.quiet == ("low" if rising else "high")
    assert rising or list(study.g) == sorted(study.g, reverse=True)
    assert study.direction == (study.quiet if study.rated else "any")


def test_rental_video() -> None:
    study = STUDIES["rental-video"]
    assert (study.g, study.q, study.direction) == ((0.06, 0.23, 0.32), 0.1875, "low")


# Names.


def test_names_are_words_of_their_own() -> None:
    slugs = [one.slug for one in EVIDENCE if one.slug]
    assert len({*slugs}) == len(slugs) == len(STUDIES)
    assert not {*slugs} & {*PRESETS}
    assert NAMED_Q.keys() == {*slugs, *PRESETS}
    for slug in slugs:
        assert slug == slug.lower()
        assert "," not in slug  # a sweep takes several
        assert f"{slug} " in declarations.Q.help


def test_one_study_for_each_direction_is_shown_beside_results() -> None:
    assert [one.slug for one in BESIDE_RESULTS] == ["rental-video", "usf-online"]
    assert {*(one.quiet for one in BESIDE_RESULTS)} <= {*QUIET}
    assert all(one.rated and not one.chosen for one in BESIDE_RESULTS)


# What naming a study assumes.


@pytest.mark.parametrize("study", NAMED, ids=lambda one: one.slug)
def test_a_study_brings_its_direction(study: Study) -> None:
    named = uh.estimate(COUNTS, q=study.slug)
    plain = uh.estimate(COUNTS, q=study.q, quiet=study.direction)
    assert (named.estimate, named.lower, named.upper) == (plain.estimate, plain.lower, plain.upper)
    words = named.question.words
    assert words.startswith(plain.question.words)
    assert f"as in {study.name} ({study.source}), where {study.who} respond less often." in words
    assert named.to_dict()["assumption"]["study"] == study.slug  # type: ignore[index]


def test_a_stated_direction_replaces_that_of_the_study() -> None:
    for quiet in QUIET:
        found = uh.estimate(COUNTS, q="usf-online", quiet=quiet)
        assert found.question.assumption.kind == quiet
        own = "the direction is not taken from it" in found.question.words
        assert own == (quiet != "high")


def test_a_preset_has_no_direction() -> None:
    found = uh.estimate(COUNTS, q="reviews")
    assert found.question.assumption.kind == "any"
    assert "as in" not in found.question.words


def test_another_q_is_not_that_of_the_study() -> None:
    question = uh.build_question(COUNTS, "usf-online")
    assert "USF" not in question.at(0.9).words
    assert "USF" not in question.assumption.words("q")


@pytest.mark.parametrize(
    ("given", "near"), [("usf", "usf-online"), ("rental_video", "rental-video"), ("coats", "coat")]
)
def test_a_name_nearby_is_suggested(given: str, near: str) -> None:
    with pytest.raises(uh.AssumptionError, match=rf"got '{given}'\. Did you mean {near}\?"):
        uh.estimate(COUNTS, q=given)


def test_all_names_are_listed_if_none_is_near() -> None:
    with pytest.raises(uh.AssumptionError) as raised:
        uh.estimate(COUNTS, q="zzz")
    for name in NAMED_Q:
        assert f"{name} (" in str(raised.value)


# Beside results.


def test_evidence_beside_an_estimate() -> None:
    result = uh.estimate(COUNTS, q=0.3, n=2400)
    evidence = result.to_dict()["evidence"]
    assert isinstance(evidence, list)
    for row, study in zip(evidence, BESIDE_RESULTS, strict=True):
        own = uh.estimate(COUNTS, q=study.slug, n=2400)
        assert row == {
            "slug": study.slug,
            "name": study.name,
            "q": study.q,
            "quiet": study.direction,
            "estimate": own.estimate,
            "lower": own.lower,
            "upper": own.upper,
        }
        assert study.slug in result.summary()
    assert max(map(len, result.summary().splitlines())) <= 80
    assert "guarantee" not in result.summary()


def test_where_there_is_no_evidence_to_show() -> None:
    named = uh.estimate(COUNTS, q="usf-online").to_dict()["evidence"]
    assert [row["slug"] for row in named] == ["rental-video"]  # type: ignore[attr-defined]
    for result in (
        uh.estimate([0] * 5, q=0.3),
        uh.estimate(COUNTS, g=[0.1, 0.2, 0.3, 0.4, 0.5]),
    ):
        assert result.to_dict()["evidence"] == []
        assert "With q as in" not in result.summary()


# Every surface.


def test_tables_take_a_study() -> None:
    frame = pd.DataFrame({"item": ["a"] * 3, "stars": [1, 4, 5]})
    named = uh.rate(frame, item="item", rating="stars", q="usf-online")
    plain = uh.rate(frame, item="item", rating="stars", q=0.4141, quiet="high")
    for column in ("estimate", "lower", "upper"):
        assert named[column].tolist() == plain[column].tolist()
    with pytest.raises(uh.AssumptionError, match=r"Did you mean usf-online\?"):
        uh.rate(frame, item="item", rating="stars", q="usf")


def test_sql_sweeps_and_comparisons_take_a_study() -> None:
    write = partial(uh.write_sql, dialect="duckdb", item="item", rating="stars")
    plain = write(q=0.4141, quiet="high")
    assert write(q="usf-online").splitlines()[-20:] == plain.splitlines()[-20:]
    assert uh.sweep(COUNTS, q=["usf-online", "reviews"]).q.tolist() == [0.4141, 0.3]
    assert uh.compare(COUNTS, COUNTS, q="rental-video").question.assumption.kind == "low"
    assert parse_value(declarations.Q, " coat ") == "coat"


def test_rest_takes_a_study() -> None:
    body = json.dumps({"counts": COUNTS, "q": "usf-online"}).encode()
    answer = quick_estimate(body)
    assert answer is not None
    document = json.loads(answer.content)
    assert (document["assumption"]["kind"], document["assumption"]["q"]) == ("high", 0.4141)
    assert [row["slug"] for row in document["evidence"]] == ["rental-video"]
