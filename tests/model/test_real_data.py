"""Real ratings: the assumption helps where it is right, and n where many responded."""

from __future__ import annotations

import numpy as np
import pytest

import unheard as uh
from benchmarks.crowds import MISSING as MISSING_TRACKS
from benchmarks.crowds import TRACKS, read_tracks
from benchmarks.sections import MISSING, SECTIONS, Q, Sections, Worth
from tests.strategies import Floats


@pytest.fixture(scope="module")
def tracks() -> tuple[Floats, Floats]:
    """Ratings of music tracks: those seen, and everybody's."""
    if not TRACKS.exists():
        pytest.skip(MISSING_TRACKS)
    seen, everybody = read_tracks(10)
    return seen.astype(float), everybody.astype(float)


def error(estimate: Floats, everybody: Floats) -> float:
    truth = everybody @ np.arange(1, 5) / everybody.sum(axis=1)
    return float(np.sqrt(np.mean((estimate - truth) ** 2)))


def test_the_error_halves_when_the_unhappy_are_quiet(tracks: tuple[Floats, Floats]) -> None:
    seen, everybody = tracks
    average = uh.estimate(seen, 0.3, method="average").estimate
    assert round(error(average, everybody), 3) == 0.623
    assert round(error(uh.estimate(seen, 0.3).estimate, everybody), 3) == 0.610
    low = uh.estimate(seen, 0.1, quiet="low").estimate
    assert round(error(low, everybody), 3) == 0.318


@pytest.fixture(scope="module")
def worth() -> Worth:
    """Bounds of course sections with and without n."""
    if not SECTIONS.exists():
        pytest.skip(MISSING)
    return Worth.of(Sections.read())


def test_n_never_widens_and_a_low_response_narrows_nothing(worth: Worth) -> None:
    sections = worth.sections
    assert len(sections.enrolled) == 242_633
    assert (worth.known <= worth.free + 1e-12).all()
    low = sections.response < Q
    assert low.sum() == 61_879
    np.testing.assert_array_equal(worth.known[low], worth.free[low])


def test_n_settles_a_mean_only_where_everybody_responded(worth: Worth) -> None:
    sections = worth.sections
    assert worth.settled_by_n.sum() > 9000
    assert (sections.seen == sections.enrolled)[worth.settled_by_n].all()


def test_n_helps_the_more_the_more_responded(worth: Worth) -> None:
    seen, response = worth.sections.seen, worth.sections.response
    some = (seen >= 11) & (worth.free > 0)
    left, tenth = worth.known[some] / worth.free[some], (response[some] * 10).astype(int)
    by_tenth = [left[tenth == k].mean() for k in range(3, 11)]
    assert by_tenth == sorted(by_tenth, reverse=True)
    assert by_tenth[0] > 0.99
    assert by_tenth[-1] == pytest.approx(0, abs=1e-9)
