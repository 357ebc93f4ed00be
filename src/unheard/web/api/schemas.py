"""What is answered, as OpenAPI describes it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


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
    examples: list[str] | None = Field(None, description="Values that are accepted.")
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


class StudyDocument(BaseModel):
    """A study that may be named in place of q."""

    name: str
    q: float
    quiet: str = Field(description="The direction that naming it assumes.")
    words: str


class About(BaseModel):
    """What the page must know before it asks."""

    version: str
    presets: dict[str, float]
    preset_words: dict[str, str]
    studies: dict[str, StudyDocument]
    quiet: list[str]
    methods: dict[str, str]
    notes: dict[str, str]
    examples: dict[str, list[int]]
    limits: dict[str, float]
    options: dict[str, OptionLabels]


class AssumptionDocument(BaseModel):
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


class EvidenceEstimate(BaseModel):
    """What the answer would be with the q and the direction of a study."""

    slug: str
    name: str
    q: float
    quiet: str
    estimate: float
    lower: float
    upper: float


class EstimateDocument(BaseModel):
    """The document of ``unheard estimate --json``."""

    model_config = ConfigDict(extra="allow")

    scale: list[float]
    counts: list[float]
    n: float | None
    n_ratings: float
    assumption: AssumptionDocument
    level: float
    covers: str
    estimates: list[OneEstimate]
    evidence: list[EvidenceEstimate]


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
    assumption: AssumptionDocument
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


class MinimaxDocument(BaseModel):
    """The document of ``unheard minimax --json``."""

    n: int
    m: int
    q: float
    kind: str
    lower: float
    upper: float
    bea: float
    average: float
    lower_bound: float
    bea_is_optimal: bool
    ratings: list[float]
    support: list[dict[str, Any]]
    table: list[list[float]] | None = Field(
        None, description="The optimal answer, by the number of lowest and of highest ratings."
    )


class OrderDocument(BaseModel):
    """The document of ``unheard rank --json``."""

    model_config = ConfigDict(extra="allow")

    k: int | None
    level: float | None
    who: dict[str, Any] | None
    scale: list[float]
    assumption: AssumptionDocument
    words: list[str]
    meanings: list[str]
    messages: list[str]
    rows: list[dict[str, Any]]


class PlanDocument(BaseModel):
    """The document of ``unheard plan --json`` for one histogram."""

    model_config = ConfigDict(extra="allow")

    scale: list[float]
    counts: list[float]
    n: float
    assumption: str
    n_nonrespondents: int
    goal: str
    target: float
    power: float | None
    scenarios: list[dict[str, Any]]


class PlansDocument(BaseModel):
    """The document of ``unheard plan --json`` for a table, the items to call first at the top."""

    model_config = ConfigDict(extra="allow")

    scale: list[float]
    assumption: str
    goal: str
    target: float
    power: float | None
    reached: int
    reachable: int
    unreachable: int
    ask: int
    budget: int | None
    calls: int | None
    messages: list[str]
    rows: list[dict[str, Any]]


class WordDocument(BaseModel):
    """A word, what it stands for (null: no rating), and how often it occurs."""

    word: str
    value: float | None
    count: int
    recognised: bool = True


class WordReadingDocument(BaseModel):
    """A way to read words as ratings, and the options that accept it."""

    labels: str
    scale: str
    words: list[WordDocument]


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
    readings: list[WordReadingDocument] = []


class GuessDocument(BaseModel):
    """What the columns may be."""

    item: list[str]
    rating: str | None
    counts: list[str]
    scale: str | None
    n_column: str | None
    frequency: str | None = None
    doubt: str | None = None


class InspectionDocument(BaseModel):
    """What is in a table."""

    rows: int
    columns: list[ColumnDocument]
    head: list[list[str | None]] = Field(description="A few rows, as text.")
    guess: GuessDocument
    sheet: str | None = Field(description="The sheet or file that was read, if there are any.")
    sheets: list[str] = Field(description="The sheets to choose from.")
    encoding: str | None = Field(description="Of a text file.")
    has_header: bool = Field(description="Whether columns have names, or are called 1, 2, 3, ...")
    notes: list[str] = Field(description="How the file was read.")


class AuditDocument(BaseModel):
    """The document of ``unheard calibrate --json``; with segments or windows, one for each.

    ``messages`` say what was done to rows that could not be used as they were.
    """

    model_config = ConfigDict(extra="allow")

    segments: dict[str, dict[str, Any]] | None = None
    windows: dict[str, dict[str, Any]] | None = None
    source: str | None = None
    g: list[float | None] | None = None
    q: float | None = None
    q_lower: float | None = None
    quiet: str | None = None
    words: str | None = None
    sentences: list[str] | None = None
    warnings: list[str] | None = None
    messages: list[str] | None = None
