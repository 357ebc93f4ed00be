"""What may be asked and what is answered, as OpenAPI describes it.

Values are checked where they are used, so that messages are those of the command line; here only
their types are.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr

Number = StrictInt | StrictFloat
# Every list fails at its first mistake: a client reads one, and could send a million.
Counts = Annotated[list[Number], Field(fail_fast=True, min_length=2, max_length=10_001)]
Shares = Annotated[list[Number], Field(fail_fast=True, max_length=10_001)]
Items = Annotated[list[Counts], Field(fail_fast=True, min_length=1, max_length=100_000)]
Theme = Literal["light", "dark"]
Format = Literal["spec", "svg", "png"]


class Question(BaseModel):
    """What is assumed about who answers, and the settings; see ``unheard estimate --help``."""

    model_config = ConfigDict(extra="forbid")

    q: Number | StrictStr | None = Field(
        None, description="Participation ratio in (0, 1], or a preset: survey, reviews, media."
    )
    floor: Number | None = Field(
        None, description="Instead of q: the least probability to respond; requires n."
    )
    quiet: StrictStr = Field(
        "any", description="Who may respond less often: any, low, high or middle."
    )
    participation: Annotated[list[Shares], Field(fail_fast=True, max_length=10_001)] | None = Field(
        None, description="Instead of q: a pair [lo, hi] for each rating."
    )
    g: Shares | None = Field(None, description="Instead of q: participation of each rating.")
    assumption: dict[str, Any] | None = Field(
        None, description="Instead of q: a document that calibrate returned."
    )
    scale: StrictStr | Shares | None = Field(
        None, description="The values a rating may take: text such as 0.5:5:0.5, or a list."
    )
    level: Number = Field(0.95, description="Level of the confidence interval.")
    covers: StrictStr = Field("mean", description="mean, or people: exactly the n people.")


class EstimateQuestion(Question):
    """One histogram."""

    counts: Counts = Field(description="How often each rating was given, lowest first.")
    n: Number | None = Field(None, description="How many people there are, silent ones included.")
    method: StrictStr | None = Field(None, description="Which estimate, or all.")
    effective: Number | None = Field(
        None, description="The counts are sums of survey weights, with this effective sample size."
    )
    squared_weights: Counts | None = Field(
        None, description="The counts are sums of survey weights, and these those of their squares."
    )
    largest_weight: Number | None = Field(
        None, description="The largest weight that any rating could have."
    )

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"example": {"counts": [120, 30, 45, 200, 605], "q": 0.3}}
    )


class SweepQuestion(Question):
    """One histogram for many q."""

    q: Annotated[list[Number | StrictStr], Field(fail_fast=True, max_length=1_000)] | None = Field(  # type: ignore[assignment]
        None, description="Participation ratios to look at; by default some from 1 to 0.01."
    )
    floor: Annotated[list[Number], Field(fail_fast=True, max_length=1_000)] | None = Field(  # type: ignore[assignment]
        None, description="Instead of q: floors to look at; requires n."
    )
    counts: Counts
    n: Number | None = None
    above: Number | None = Field(None, description="A claim: the mean is above this.")
    below: Number | None = Field(None, description="Instead: the mean is below this.")
    at: Number | None = Field(None, description="For the chart: the q to be marked.")

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"example": {"counts": [120, 30, 45, 200, 605], "above": 3.5}},
    )


class CompareQuestion(Question):
    """Two histograms."""

    a: Counts
    b: Counts
    names: Annotated[list[StrictStr], Field(fail_fast=True, min_length=2, max_length=2)] = Field(
        ["A", "B"]
    )
    n: Annotated[list[Number], Field(fail_fast=True, max_length=2)] | None = Field(
        None, description="How many people there are for each."
    )

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "example": {"a": [5, 10, 35, 120, 30], "b": [30, 25, 45, 80, 20], "q": 0.5}
        },
    )


class RegretQuestion(BaseModel):
    """How wrong a method can be; see ``unheard regret --help``."""

    n: Number | None = Field(20, description="How many people; null for endless people.")
    m: StrictInt | None = Field(None, ge=2, le=101, description="How many ratings; by default 5.")
    scale: StrictStr | Shares | None = None
    q: Number | Annotated[list[Number], Field(fail_fast=True, min_length=1, max_length=200)] = 0.5
    method: (
        StrictStr | Annotated[list[StrictStr], Field(fail_fast=True, min_length=1, max_length=10)]
    ) = "bea"
    kind: StrictStr = "gap"
    quiet: StrictStr = "any"
    p: Shares | None = Field(None, description="With g: not the worst case, but this structure.")
    g: Shares | None = None
    draws: StrictInt | None = Field(None, ge=2, le=10**7, description="Estimate by simulation.")
    seed: StrictInt = Field(0, ge=0, le=2**63)

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"example": {"n": 20, "m": 5, "q": [0.3, 0.5], "method": ["bea", "paa"]}},
    )


class CalibrateQuestion(BaseModel):
    """Counts of an audit: those who answered, and everybody."""

    observed: Counts | Items
    truth: Counts | Items
    paired: bool = Field(True, strict=True)
    scale: StrictStr | Shares | None = None
    level: Number = 0.95

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"example": {"observed": [12, 30, 49, 25], "truth": [400, 330, 230, 60]}},
    )


class TableSettings(BaseModel):
    """What to do with the table in the body: the options of ``unheard rate``.

    Names of columns have commas between them; one that holds a comma is put in double quotes.
    """

    model_config = ConfigDict(extra="forbid")

    item: str | None = Field(None, description="Columns that say what was rated.")
    rating: str | None = Field(None, description="Columns with ratings.")
    counts: str | None = Field(None, description="Instead: columns of counts, lowest first.")
    q: str | None = Field(None, description="Participation ratio in (0, 1], or a preset.")
    floor: str | None = Field(
        None, description="Instead of q: the least probability to respond; requires n."
    )
    q_column: str | None = Field(None, description="Instead: the column with q.")
    quiet: str = "any"
    participation: str | None = Field(None, description="Instead of q: lo:hi for each rating.")
    g: str | None = Field(None, description="Instead of q: participation of each rating.")
    n: str | None = Field(None, description="How many people there are for each item.")
    n_column: str | None = Field(None, description="Instead: the column with that number.")
    scale: str | None = Field(None, description="The values a rating may take, such as 1:5.")
    method: str | None = None
    level: str = Field("0.95", description="Level of the confidence interval, or none.")
    covers: str = "mean"
    strata: str | None = None
    rater: str | None = None
    time: str | None = None
    window: str | None = None
    every: str | None = None
    nulls: str = Field("refuse", description="An empty rating: refuse, drop or nonresponse.")
    off_scale: str = Field("refuse", description="A rating off the scale: refuse or drop.")
    duplicates: str = Field("refuse", description="Somebody who rated twice: refuse or latest.")
    shared: bool = Field(False, description="Rank items with one participation for all of them.")
    min_ratings: int = Field(0, ge=0, description="Leave out items with fewer ratings.")
    sort: str | None = Field(
        None, description="item, or a column of the result; by default the lower confidence limit."
    )


class OrderSettings(TableSettings):
    """What to say about the order as well: the options of ``unheard rank``."""

    k: int | None = Field(None, description="Say who is among the k best.")
    above: float | None = Field(None, description="A claim about each item's mean.")
    below: float | None = None
    who: str | None = Field(None, description="How firmly this item stands among the k best.")


class OrderChartSettings(OrderSettings):
    """The same, drawn."""

    format: Format = "spec"
    theme: Theme = "light"
    top: int = Field(30, ge=1, le=100, description="How many items to draw.")
    width: int | None = Field(None, ge=200, le=4000)


class ReportSettings(OrderSettings):
    """The same, as a page."""

    shared: bool | None = Field(  # type: ignore[assignment]
        None,
        description="Rank items with one participation for all of them; by default where possible.",
    )
    name: str = Field("table.csv", max_length=200, description="What the page calls the table.")
    title: str | None = Field(None, max_length=200)
    command: str | None = Field(
        None, max_length=4_000, description="What the page says repeats it."
    )


class AuditSettings(BaseModel):
    """Which columns of an audit hold what: the options of ``unheard calibrate``."""

    model_config = ConfigDict(extra="forbid")

    item: str | None = None
    rating: str | None = None
    counts: str | None = None
    answered: str | None = None
    population: str | None = None
    observed: str | None = None
    truth: str | None = None
    segment: str | None = None
    unpaired: bool = False
    scale: str | None = None
    level: str = "0.95"
    nulls: str = "refuse"
    off_scale: str = "refuse"
    rater: str | None = None
    duplicates: str = "refuse"


class ChartSettings(BaseModel):
    """How to draw."""

    model_config = ConfigDict(extra="forbid")

    format: Format = Field("spec", description="A Vega-Lite specification, or a picture.")
    theme: Theme = "light"
    width: int | None = Field(None, ge=200, le=4000, description="Width of the drawing area.")


class AuditChartSettings(AuditSettings, ChartSettings):
    """An audit, drawn."""


# What is answered.


class Problem(BaseModel):
    """What is wrong, and what to do about it [RFC 9457]."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    detail: str
    code: str | None = Field(None, description="What kind of problem it is, for programs.")
    argument: str | None = Field(None, description="The field at fault.")
    index: list[int] | None = Field(None, description="Which element of the field.")
    value: str | None = Field(None, description="What was given.")
    examples: list[str] | None = Field(None, description="Values that would do.")
    parts: list[str | dict[str, Any]] | None = Field(
        None, description="The detail as text and references to fields, to be rendered by a client."
    )


class Health(BaseModel):
    """Whether the server is there."""

    status: Literal["ok"]
    version: str


class OptionLabels(BaseModel):
    """What the page calls an option and its choices."""

    label: str
    choices: dict[str, str]


class About(BaseModel):
    """What the page must know before it asks."""

    version: str
    presets: dict[str, float]
    preset_words: dict[str, str]
    quiet: list[str]
    methods: dict[str, str]
    notes: dict[str, str]
    examples: dict[str, list[int]]
    limits: dict[str, float]
    options: dict[str, OptionLabels]


class Assumption(BaseModel):
    """What is assumed about who answers."""

    model_config = ConfigDict(extra="allow")

    words: str


class OneEstimate(BaseModel):
    """An estimate with everything that qualifies it."""

    method: str
    estimate: float
    lower: float
    upper: float
    ci_lower: float | None
    ci_upper: float | None
    notes: list[str]


class EstimateDocument(BaseModel):
    """The document of ``unheard estimate --json``."""

    model_config = ConfigDict(extra="allow")

    scale: list[float]
    counts: list[float]
    n: float | None
    n_ratings: float
    assumption: Assumption
    level: float
    covers: str
    estimates: list[OneEstimate]


class SweepRow(BaseModel):
    """The answer at one q."""

    q: float
    estimate: float
    lower: float
    upper: float
    ci_lower: float
    ci_upper: float
    notes: list[str]


class SweepDocument(BaseModel):
    """The document of ``unheard sweep --json``."""

    model_config = ConfigDict(extra="allow")

    scale: list[float]
    counts: list[float]
    method: str
    rows: list[SweepRow]
    claim: dict[str, float | None] | None
    words: list[str]


class DifferenceDocument(BaseModel):
    """The mean of A less the mean of B."""

    estimate: float
    lower: float
    upper: float
    ci_lower: float
    ci_upper: float
    breakdown_q: float | None
    ci_breakdown_q: float | None


class ComparisonDocument(BaseModel):
    """The document of ``unheard compare --json``."""

    model_config = ConfigDict(extra="allow")

    scale: list[float]
    a: dict[str, Any]
    b: dict[str, Any]
    assumption: Assumption
    leader: Literal["a", "b"] | None
    separate: DifferenceDocument
    shared: DifferenceDocument
    words: list[str]


class RegretDocument(BaseModel):
    """The document of ``unheard regret --json``."""

    model_config = ConfigDict(extra="allow")

    method: str
    kind: str
    n: int | None
    m: int
    q: float
    regret: float
    p: list[float]
    g: list[float]
    lower_bound: float
    how: str


class OrderDocument(BaseModel):
    """The document of ``unheard rank --json``."""

    model_config = ConfigDict(extra="allow")

    k: int | None
    level: float | None
    who: dict[str, Any] | None
    scale: list[float]
    assumption: Assumption
    words: list[str]
    meanings: list[str]
    messages: list[str]
    rows: list[dict[str, Any]]


class ColumnDocument(BaseModel):
    """A column of a table."""

    name: str
    kind: str
    distinct: int
    missing: int
    least: float | None
    greatest: float | None
    low: float | None
    high: float | None
    examples: list[str]


class GuessDocument(BaseModel):
    """What the columns may be."""

    item: list[str]
    rating: str | None
    counts: list[str]
    scale: str | None
    n_column: str | None


class InspectionDocument(BaseModel):
    """What is in a table."""

    rows: int
    columns: list[ColumnDocument]
    guess: GuessDocument


class AuditDocument(BaseModel):
    """The document of ``unheard calibrate --json``; with segments, one for each."""

    model_config = ConfigDict(extra="allow")

    segments: dict[str, dict[str, Any]] | None = None
    g: list[float | None] | None = None
    q: float | None = None
    quiet: str | None = None
    words: str | None = None
