"""Ratings that are words: what is recognised, and what is stated."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import unheard as uh
from unheard.model.label_scales import list_word_scales
from unheard.model.labels import LabelMap, parse_labels, read_labels, recognise
from unheard.model.scale import Scale


def read(*words: str) -> list[tuple[str, list[float | None]]]:
    """The scale and the values of these words, for each way to read them."""
    readings = recognise(dict.fromkeys(words, 2))
    return [(one.labels.scale.write(), [one.labels.read(w)[1] for w in words]) for one in readings]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["Agree", "STRONGLY  disagree", "neither agree nor disagree"], ("1:5", [4, 1, 3])),
        (["Very satisfied", "Dissatisfied", "Neutral"], ("1:5", [5, 2, 3])),
        (["Slightly agree", "Strongly agree", "neutral"], ("1:7", [5, 7, 4])),
        (["never", "Always", "often"], ("1:5", [1, 5, 4])),
        (["Stimme eher zu", "teils/teils", "Keine Angabe"], ("1:5", [4, 3, None])),
        (["Pas d\u2019accord", "Tout \u00e0 fait d'accord", "Neutre"], ("1:5", [2, 5, 3])),
        (["\u975e\u5e38\u540c\u610f", "\u4e00\u822c"], ("1:5", [5, 3])),
        (["Yes", "No", "N/A"], ("0,1", [1, 0, None])),
        (["A", "F", "B", "C"], ("0:4", [4, 0, 3, 2])),
        (["4 stars", "1 star", "5 stars"], ("1:5", [4, 1, 5])),
        (["4.5 stars", "1 star"], ("1:5:0.5", [4.5, 1])),
        (["\u2605\u2605\u2605\u2605\u2606", "\u2605\u2606\u2606\u2606\u2606"], ("1:5", [4, 1])),
        (["\u2b50\ufe0f\u2b50\ufe0f", "\u2b50\ufe0f"], ("1:5", [2, 1])),
        (["4/5", "2/5"], ("1:5", [4, 2])),
        (["8 out of 10", "0 out of 10"], ("0:10", [8, 0])),
        (["80%", "35 %"], ("0:100", [80, 35])),
        (["1 - Strongly disagree", "2", "5 - Strongly agree"], ("1:5", [1, 2, 5])),
        (["Not so likely", "Very likely", "Extremely likely"], ("1:5", [2, 4, 5])),
        (["Slightly useful", "Moderately useful", "Extremely useful"], ("1:5", [2, 3, 5])),
        (["zufrieden", "sehr zufrieden", "neutral", "k.A."], ("1:5", [4, 5, 3, None])),
        (["De acuerdo", "En desacuerdo", "indeciso", "No s\u00e9"], ("1:5", [4, 2, 3, None])),
        (["1", "3", "5", "N/A"], ("1:5", [None, None, None, None])),
    ],
    ids=lambda one: one[0] if isinstance(one, list) else "",
)
def test_words_are_recognised(words: list[str], found: tuple[str, list[float | None]]) -> None:
    assert read(*words) == [found]


@pytest.mark.parametrize(
    "words",
    [
        ["Strongly disagree", "Disagree", "Agree", "Strongly agree"],  # was there a middle?
        ["poor", "good"],
        ["A", "B", "C"],
    ],
)
def test_what_fits_several_scales_is_left_to_people(words: list[str]) -> None:
    found = read(*words)
    assert len(found) > 1
    assert len({(scale, *values) for scale, values in found}) == len(found)


@pytest.mark.parametrize(
    "words",
    [
        ["Hilton", "Ritz"],
        ["3", "4"],
        ["3,5", "4"],
        ["N/A"],
        ["8/10", "3/5"],
        ["5", "7", "good"],
        ["Agree", "Disagree", "No clue"],
        ["A", "A-", "B+", "W", "I"],
        ["3", "N/A", "x", "y"],
    ],
)
def test_what_is_no_rating_is_not_made_one(words: list[str]) -> None:
    assert read(*words) == []


def test_words_that_are_not_recognised_are_shown() -> None:
    (found,) = recognise({"Yes": 20, "No": 17, "Maybe": 1200, "yes ": 3000})
    assert (
        found.describe()
        == "No = 0 (17\u00d7), yes = 1 (3,020\u00d7), not recognised: Maybe (1,200\u00d7)"
    )
    assert found.write() == "No=0,yes=1,Maybe=?"
    (numbers,) = recognise({"4": 9, "5": 8, "N/A": 2, "-": 1, "five": 1})
    assert numbers.write() == "N/A=,-=,five=?"


def test_variants_of_a_word_are_one() -> None:
    words = {"agree ": 3, "Agree": 4, "AGREE.": 2, "Strongly  agree": 1, "disagree": 1}
    reading = next(one for one in recognise(words) if one.labels.scale.m == 5)
    assert "Agree = 4 (9\u00d7), Strongly agree = 5 (1\u00d7)" in reading.describe()
    assert read_labels(reading.write(), None) == reading.labels


@pytest.mark.parametrize("words", [["4/10", "8.5/10"], ["0%", "55 %"], ["\u2605\u00bd", "\u00bd"]])
def test_what_is_typed_has_the_scale_of_what_is_recognised(words: list[str]) -> None:
    (reading,) = recognise(dict.fromkeys(words, 2))
    labels = reading.labels
    assert f"on the scale {labels.scale.describe()}" in reading.describe()
    assert not labels.tells_scale
    typed = read_labels(reading.write(), labels.scale)
    assert isinstance(typed, LabelMap)
    assert (dict(typed.values), typed.scale) == (dict(labels.values), labels.scale)


def test_ordered_words_have_an_order_of_their_own() -> None:
    (found,) = recognise({"mid": 3, "low": 1}, ("low", "mid", "high"))
    assert dict(found.labels.values) == {"low": 1, "mid": 2, "high": 3}


def test_every_known_scale_is_read_as_it_is_written() -> None:
    for scale in list_word_scales():
        assert len({way for step in scale.steps for way in step}) == sum(map(len, scale.steps))
        words = [step[0] for step in scale.steps]
        assert (Scale(scale.values).write(), list(scale.values)) in read(*words), words


WORDS = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=5).filter(
    lambda word: "=" not in word and word.strip(".!") and word != "auto"
)


@given(st.lists(WORDS, min_size=2, max_size=5, unique_by=lambda word: word.casefold()))
def test_labels_are_written_as_they_are_read(words: list[str]) -> None:
    try:
        stated = read_labels(words, None)
    except uh.OptionError:
        return  # alike but for what makes no difference
    assert isinstance(stated, LabelMap)
    assert stated.scale == Scale.points(len(words))
    again = read_labels(parse_labels(stated.write()), None)
    assert again == stated


@pytest.mark.parametrize(
    ("given_labels", "scale", "words"),
    [
        ("Bad,Good", "1:5", "labels has 2 words for a scale of 5 values"),
        ("Bad,bad", None, "must name each word once"),
        ("Bad=1,Good", None, "states a value for some words, and none for 'Good'"),
        ("Bad=1,Good=x", None, "must give 'Good' a number; got 'x'"),
        ("Bad=1,Good=7", "1:5", "gives a word the value 7, which is not on the scale 1 to 5"),
        ("Bad=9", None, "gives a word the value 9, which is not on the scale 1 to 5"),
        ("Bad", None, "must name at least two words"),
        (7, None, "must be words, or words with values"),
    ],
)
def test_labels_that_cannot_be(given_labels: Any, scale: str | None, words: str) -> None:
    with pytest.raises(uh.OptionError, match=words):
        read_labels(given_labels, None if scale is None else Scale.parse(scale))
