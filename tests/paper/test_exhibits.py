"""The numbers behind the exhibits; pictures are looked at, not tested."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.stats import expectile

from unheard.errors import DataError
from unheard.formulas.bea import bea_a_star, bea_lambda
from unheard.model.estimate import estimate
from unheard.model.example import HOTELS
from unheard.paper import heat_maps, hotel_table, hotels, theorems, tracks
from unheard.paper.exhibit import Exhibit


def quietly(_: float) -> None:
    pass


def well_formed(exhibit: Exhibit) -> None:
    assert exhibit.title
    assert exhibit.claim
    assert "nan" not in exhibit.found.split()
    for rows in exhibit.tables.values():
        assert rows
        # Plain numbers and words: what a CSV or JSON file can hold.
        json.dumps([dict(row) for row in rows], allow_nan=False)
    for picture in exhibit.pictures.values():
        assert picture.caption.endswith(".")
        picture.chart.to_json()


# Hotels


def test_hotels_are_those_of_the_demo() -> None:
    assert hotels.OBSERVED == HOTELS


def test_hotels_make_the_papers_point() -> None:
    seen = {name: np.average(range(1, 6), weights=c) for name, c in hotels.OBSERVED.items()}
    true = {name: np.average(range(1, 6), weights=c) for name, c in hotels.TRUE.items()}
    assert seen["Hotel A"] == seen["Hotel B"]
    assert true["Hotel A"] < seen["Hotel A"] - 0.15
    assert abs(true["Hotel B"] - seen["Hotel B"]) < 0.01


def test_true_ratings_of_hotels_fit_the_assumption() -> None:
    assert all(hotels.Q <= row["participation"] <= 1 for row in hotels.tabulate_ratings())


def test_true_means_of_hotels_lie_in_every_interval() -> None:
    rows = hotels.tabulate_estimates()
    truth = {row["hotel"]: row["estimate"] for row in rows if row["method"] == "truth"}
    assert all(row["lower"] <= truth[row["hotel"]] <= row["upper"] for row in rows)
    methods = {row["method"] for row in rows}
    assert methods == {"average", "spectral", "paa", "bea", "midpoint", "truth"}


def test_hotels_exhibit() -> None:
    well_formed(hotels.make(True, quietly))


# Heat maps


def test_grid_holds_every_pair_once() -> None:
    counts = heat_maps.build_grid(20, 1)
    assert len(counts) == len({tuple(pair) for pair in counts.tolist()}) == 21 * 22 // 2
    assert counts.sum(axis=1).max() == 20


def test_paa_in_closed_form() -> None:
    a, b = heat_maps.build_grid(1000, 100).T
    some = (a > 0) & (b > 0)
    q = 0.3
    low = (a + 2 * q * b)[some] / (a + q * b)[some]
    high = (q * a + 2 * b)[some] / (q * a + b)[some]
    found = heat_maps.apply_method("paa", heat_maps.build_grid(1000, 100), q)[some]
    # Some ten additions and divisions of numbers near one.
    np.testing.assert_allclose(found, (low + high) / 2, rtol=1e-14)


@pytest.mark.parametrize(
    ("method", "way", "other"), [("bea", "falls", "rises"), ("paa", "rises", "falls")]
)
def test_who_grows_conservative_with_q(method: str, way: str, other: str) -> None:
    counts = heat_maps.build_grid(20, 1) if method == "bea" else heat_maps.build_grid(1000, 100)
    rows = heat_maps.measure_distances(method, counts, (0.1, 0.3, 0.5, 0.7, 0.9))
    assert all(row["beyond the average"] == 0 for row in rows)
    assert all(row[way] > 0 and row[other] == 0 for row in rows[1:])


def test_equal_counts_give_the_middle() -> None:
    assert heat_maps.measure_at_equal_counts("bea", 20, 1, heat_maps.BEA_Q) < 1e-15
    assert heat_maps.measure_at_equal_counts("paa", 1000, 50, heat_maps.PAA_Q) < 1e-15


def test_heat_maps_exhibit() -> None:
    exhibit = heat_maps.make(True, quietly)
    well_formed(exhibit)
    assert {row["n_1"] for row in exhibit.tables["paa-values"]} == {300}


# The hotel table


def test_bea_of_a_histogram_is_the_packages() -> None:
    counts = np.array([2000, 1000, 3000, 5000, 9000, 12000, 15820])
    shares = counts / counts.sum()
    lam = float(bea_lambda(hotel_table.PEOPLE, hotel_table.Q))
    ours = hotel_table.compute_bea(shares, int(counts.sum()), lam)
    theirs = estimate(counts, floor=hotel_table.Q, n=hotel_table.PEOPLE, method="bea", level=None)
    assert ours == pytest.approx(theirs.estimate, abs=1e-12)


def fitting_histograms(rows: int) -> NDArray[np.float64]:
    """Random shares whose mean rounds to the published one: mixtures of two random ones."""
    rng = np.random.default_rng(1)
    values = np.arange(1.0, 8)
    found: list[NDArray[np.float64]] = []
    while len(found) < rows:
        low, high = rng.dirichlet(np.full(7, 0.2), size=2)
        wanted = rng.uniform(5.745, 5.755)
        if min(low @ values, high @ values) < wanted < max(low @ values, high @ values):
            share = (wanted - low @ values) / ((high - low) @ values)
            found.append(low + share * (high - low))
    return np.array(found)


@pytest.mark.parametrize("reviews", hotel_table.REVIEWS)
def test_no_histogram_beats_the_extremes_of_bea(reviews: int) -> None:
    lam = float(bea_lambda(hotel_table.PEOPLE, hotel_table.Q))
    least, most = (hotel_table.find_extreme_bea(reviews, largest=x) for x in (False, True))
    assert least.exact
    assert most.exact
    for shares in fitting_histograms(500):
        assert least.bea <= hotel_table.compute_bea(shares, reviews, lam) <= most.bea
    assert most.bea < 5.43
    assert not least.bea - 0.005 <= hotel_table.BEA <= most.bea + 0.005


def test_range_of_paa_is_certified() -> None:
    reached, bound = hotel_table.bracket_largest_paa(
        hotel_table.Known.mean(hotel_table.AVERAGE), 1e-3
    )
    assert 0 <= bound - reached <= 1e-3
    shares = fitting_histograms(500)
    paa = estimate(np.round(shares * 1e9), hotel_table.Q, method="paa", level=None).estimate
    # Rounding to a thousand million ratings moves a mean by less than this.
    assert paa.max() <= bound + 1e-7
    # Random search comes within a few hundredths of the end.
    assert paa.max() > reached - 0.1


def test_a_histogram_reaches_the_largest_paa() -> None:
    # Three ratings and the mean leave one degree of freedom, which a fine grid exhausts.
    known = hotel_table.Known.mean(hotel_table.AVERAGE)
    reached, bound = hotel_table.bracket_largest_paa(known, 1e-4)
    best = 0.0
    for low in range(1, 6):
        for middle in range(low + 1, 7):
            top = 7
            share = np.linspace(0, 1, 2001)
            mean = hotel_table.AVERAGE + hotel_table.ROUNDING
            p_low = (top - mean - share * (top - middle)) / (top - low)
            fits = (p_low >= 0) & (p_low + share <= 1)
            shares = np.zeros((fits.sum(), 7))
            shares[:, low - 1], shares[:, middle - 1] = p_low[fits], share[fits]
            shares[:, -1] = 1 - shares.sum(axis=1)
            if len(shares):
                counts = np.round(np.maximum(shares, 0) * 1e9)
                best = max(
                    best, float(estimate(counts, 0.3, method="paa", level=None).estimate.max())
                )
    # Steps of 1/2000 in a share move PAA by no more than some 0.002.
    assert reached - 3e-3 <= best <= bound + 1e-7


def test_published_totals_contradict_each_other() -> None:
    assert sum(hotel_table.REVIEWS) == hotel_table.PEOPLE


def test_needed_a_gives_the_printed_bea() -> None:
    shares = hotel_table.find_extreme_bea(hotel_table.REVIEWS[0], largest=True).shares
    a = hotel_table.solve_for_a(shares, hotel_table.REVIEWS[0], 6.03)
    lam = np.log(a * hotel_table.Q / (1 - a))
    # a is known to 1e-16, lambda n_o to 1e-16 * 48,000 * 6.
    assert hotel_table.compute_bea(shares, hotel_table.REVIEWS[0], lam) == pytest.approx(
        6.03, abs=1e-9
    )


def test_sampled_objective_is_unbiased() -> None:
    a = float(bea_a_star(hotel_table.PEOPLE, hotel_table.Q)) + np.array([-5e-4, 0, 5e-4])
    draws = 20_000
    means, spreads = hotel_table.sample_objective(a, draws, np.random.default_rng(2))
    # Five standard errors: by chance once in a million.
    assert (np.abs(means - hotel_table.evaluate_objective(a)) < 5 * spreads / np.sqrt(draws)).all()


def made_up_hotel(folder: Path, ratings: int) -> None:
    """Write counts that nobody ever gave."""
    observed = [100, 50, 40, 60, 300, 500, 900, 1500, 2500, 2000][-ratings:]
    rows = [f"{r},{c},{2 * c + r}" for r, c in enumerate(observed, 1)]
    (folder / "hotel.csv").write_text("\n".join(["rating,observed,true", *rows]) + "\n")


def test_hotel_counts_are_joined_as_in_the_paper(tmp_path: Path) -> None:
    made_up_hotel(tmp_path, 10)
    observed, true = hotel_table.read_counts(tmp_path / "hotel.csv")
    assert observed.tolist() == [250, 300, 500, 900, 1500, 2500, 2000]
    assert true[0] == 2 * 250 + 1 + 2 + 3 + 4
    rows = {row["method"]: row["here"] for row in hotel_table.build_table(observed, true)}
    assert rows["average"] == pytest.approx(observed @ np.arange(1, 8) / observed.sum())
    assert rows["truth"] == pytest.approx(true @ np.arange(1, 8) / true.sum())


def test_hotel_counts_of_seven_ratings_stay(tmp_path: Path) -> None:
    made_up_hotel(tmp_path, 7)
    observed, _ = hotel_table.read_counts(tmp_path / "hotel.csv")
    assert observed.tolist() == [60, 300, 500, 900, 1500, 2500, 2000]


@pytest.mark.parametrize(
    "text",
    ["rating,observed\n1,2\n", "rating,observed,true\n1,2,3\n", "rating,observed,true\nx,2,3\n"],
)
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "hotel.csv").write_text(text)
    with pytest.raises(DataError):
        hotel_table.read_counts(tmp_path / "hotel.csv")


def test_hotel_table_exhibit(tmp_path: Path) -> None:
    made_up_hotel(tmp_path, 10)
    exhibit = hotel_table.make(True, quietly, tmp_path)
    well_formed(exhibit)
    assert exhibit.verdict == "corrected"
    assert len(exhibit.tables["table"]) == 4
    possible = {row["name"]: row["possible"] for row in exhibit.tables["ranges"]}
    assert [possible[name] for name in possible if name.startswith("paa")] == [True, True]
    assert [possible[name] for name in possible if name.startswith("bea")] == [False, False]
    beas = [row["bea"] for row in exhibit.tables["searches"]]
    # The searches by Monte Carlo agree on nothing.
    assert max(beas) - min(beas) > 2


# Tracks


@pytest.fixture
def made_up_tracks(tmp_path: Path) -> Path:
    """Write tracks that nobody ever heard; those who like them answer more often."""
    rng = np.random.default_rng(3)
    rows = ["item,population,n1,n2,n3,n4"]
    for item in range(400):
        true = rng.multinomial(120, rng.dirichlet([4, 4, 3, 2]))
        seen = rng.binomial(true, [0.1, 0.2, 0.4, 0.7])
        rows += [
            f"{item},{name},{','.join(map(str, counts))}"
            for name, counts in (("observed", seen), ("true", true))
        ]
    file = tmp_path / tracks.FILE
    file.parent.mkdir()
    file.write_text("\n".join(rows) + "\n")
    return tmp_path


def test_scores_of_tracks(made_up_tracks: Path) -> None:
    read = tracks.read_tracks(made_up_tracks / tracks.FILE)
    rows = tracks.score_methods(read, 1)
    errors = {row["method"]: row["rmse"] for row in rows}
    assert list(errors.values()) == sorted(errors.values())
    averages = read.observed @ np.arange(1, 5) / read.observed.sum(axis=1)
    by_hand = np.sqrt(np.mean((averages - read.means)[read.scored] ** 2))
    assert errors["average"] == pytest.approx(by_hand, rel=1e-12)
    assert errors["pooled, audit of 5%"] < errors["average"]
    assert all(0 <= row["bounds contain the mean"] <= 1 for row in rows)


def test_track_nobody_knew_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "tracks.csv"
    file.write_text("item,population,n1,n2,n3,n4\n7,true,1,2,3,4\n")
    read = tracks.read_tracks(file)
    assert read.observed.tolist() == [[0, 0, 0, 0]]
    assert read.means[0] == 3


def test_tracks_exhibit(made_up_tracks: Path) -> None:
    exhibit = tracks.make(True, quietly, made_up_tracks)
    well_formed(exhibit)
    assert len(exhibit.tables["methods"]) == 10


@pytest.mark.parametrize("folder", [None, "empty"])
def test_tracks_without_data_say_so(tmp_path: Path, folder: str | None) -> None:
    exhibit = tracks.make(True, quietly, None if folder is None else tmp_path)
    assert "--data" in exhibit.found
    assert tracks.FILE.as_posix() in exhibit.found
    assert not exhibit.pictures


def test_scores_of_real_tracks() -> None:
    file = Path(__file__).parents[3] / "shared" / "data" / tracks.FILE
    if not file.exists():
        pytest.skip("the CM100k ratings are not beside this checkout (../shared/data)")
    errors = {
        row["method"]: row["rmse"] for row in tracks.score_methods(tracks.read_tracks(file), 0)
    }
    # As in docs/howto/choose-q.md, to all the digits that were written down.
    assert errors["average"] == pytest.approx(0.623, abs=5e-4)
    assert errors["paa, q = 0.3"] == pytest.approx(0.610, abs=5e-4)
    assert errors["paa, q = 0.1, low ratings respond less"] == pytest.approx(0.318, abs=5e-4)


# Theorems


def test_expectiles_by_bisection() -> None:
    counts = np.array([[3, 0, 4, 1, 9], [0, 0, 5, 0, 0], [1, 0, 0, 0, 1]])
    for level in (0.1, 0.5, 0.9):
        mine = theorems.find_expectile(counts.astype(float), level)
        for row, found in zip(counts, mine, strict=True):
            # SciPy looks for the root by a tolerance of its own.
            assert found == pytest.approx(expectile(np.repeat(range(1, 6), row), level), abs=1e-10)


def test_index_and_scan_agree_where_ratings_tie() -> None:
    counts = np.array([[1, 0, 0, 1], [0, 1, 0, 0], [2, 0, 1, 0], [0, 0, 0, 3], [5, 0, 0, 0.0]])
    for q in (0.1, 0.5, 1.0):
        for mine, theirs in zip(
            theorems.find_ends(counts, q), theorems.find_ends_by_index(counts, q), strict=True
        ):
            np.testing.assert_allclose(mine, theirs, rtol=1e-14)


def test_ends_are_those_of_a_linear_program() -> None:
    counts = theorems.draw_histograms(5, 20, np.random.default_rng(5))
    q, values = 0.3, np.arange(1.0, 6)
    lower, _ = theorems.find_ends(counts, q)
    for row, low in zip(counts, lower, strict=True):
        # People p >= 0 of total 1 with p = s w c, where w lies in [1, 1/q] and s is any scale.
        seen = row > 0
        c = row[seen]
        bounds = [
            np.hstack([np.eye(len(c)), -c[:, None] / q]),
            np.hstack([-np.eye(len(c)), c[:, None]]),
        ]
        found: Any = linprog(
            np.append(values[seen], 0),
            A_ub=np.vstack(bounds),
            b_ub=np.zeros(2 * len(c)),
            A_eq=np.append(np.ones(len(c)), 0)[None, :],
            b_eq=[1],
        )
        # The solver's tolerance is 1e-7.
        assert found.fun == pytest.approx(low, abs=1e-6)


def test_twins_take_part_within_bounds() -> None:
    counts = theorems.draw_histograms(4, 50, np.random.default_rng(6))
    for g in theorems.build_twins(counts, 0.2):
        assert set(np.unique(g)) <= {0.2, 1.0}


def test_double_sum_has_the_reference_value() -> None:
    # The example in the docstring of lower_bound, where it comes from an integral.
    assert theorems.compute_double_sum(20, 0.3, 0.78715981) == pytest.approx(
        0.0773017607, abs=1e-10
    )


def test_a_false_statement_fails() -> None:
    assert not theorems.build_check("", "", "", 0.2, 0.1)["holds"]
    assert theorems.build_check("", "", "", -0.2, 0.0)["largest deviation"] == 0


def test_theorems_exhibit() -> None:
    exhibit = theorems.make(True, quietly)
    well_formed(exhibit)
    assert all(row["holds"] for row in exhibit.tables["checks"])
    assert exhibit.verdict == "agrees"
    rows = exhibit.tables["decay"]
    for q in (0.3, 0.5, 0.8):
        last = [row["by 1/n²"] for row in rows if row["q"] == q][-2:]
        # Between 100 and 200 people a rate of 1/n would double this, and one of 1/n² keeps it.
        assert last[1] / last[0] < 1.1
