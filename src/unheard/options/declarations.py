"""The options themselves; ``questions.py`` says which question takes which."""

from __future__ import annotations

from dataclasses import replace

from unheard.options.choices import METHODS
from unheard.options.option import Option

# The assumption about who responds.

Q = Option(
    name="q",
    kind="ratio",
    metavar="Q",
    label="Participation ratio q",
    help="Participation ratio in (0, 1]: the people who respond least often do so at least Q times "
    "as often as those who respond most often. Or a preset: survey (0.5, people were asked to "
    "respond), reviews (0.3, open review sites) or media (0.1, people choose what they rate). Or a "
    "study, which brings its direction along: rental-video (0.19), usf-online (0.41), cm100k "
    "(0.078), coat (0.35), brightlocal (0.6), vaccination (0.48) or literary-digest (0.46).",
)
FLOOR = Option(
    name="floor",
    kind="number",
    metavar="FLOOR",
    label="Least probability of responding",
    help="Instead of {q}: everybody responds with a probability of at least FLOOR. Requires the "
    "number of people; a response rate below FLOOR refutes it.",
)
QUIET = Option(
    name="quiet",
    kind="choice",
    choices={
        "any": "anyone",
        "low": "people with low ratings",
        "high": "people with high ratings",
        "middle": "people with middle ratings",
    },
    label="Who may respond less often?",
    help="Who may respond less often: people with any rating, with low ones, with high ones, or "
    "with those between the two ends. By default any, or as in the study that {q} names.",
)
PARTICIPATION = Option(
    name="participation",
    kind="pairs",
    metavar="LO:HI,...",
    help="Instead of {q}: bounds on the probability of responding, for each rating.",
)
G = Option(
    name="g",
    kind="numbers",
    metavar="G,...",
    help="Instead of {q}: the probability of responding, for each rating, if it is known.",
)
ASSUMPTION = Option(
    name="assumption",
    kind="assumption",
    metavar="FILE",
    help="Instead of {q}: estimated participation, the JSON that the command calibrate writes.",
)

# The population, the scale and the settings of an answer.

N = Option(
    name="n",
    kind="number",
    metavar="N",
    label="Number of people",
    help="Number of people, non-respondents included. It can only narrow the bounds.",
)
SCALE = Option(
    name="scale",
    kind="scale",
    metavar="SCALE",
    label="Scale",
    help="The values a rating may take: 1:5, 0.5:5:0.5 or 1,2,4. By default 1, 2, ... up to the "
    "number of counts.",
)
METHOD = Option(
    name="method",
    kind="choice",
    choices={method: method for method in METHODS},
    metavar="METHOD",
    label="Method",
    help="Estimator: "
    + ", ".join(METHODS)
    + ". By default pooled for an {assumption} from ten items or more, reweight for a "
    "smaller one and for {g}, otherwise midpoint if {n} is known and paa if it is not.",
)
LEVEL = Option(
    name="level",
    kind="level",
    default=0.95,
    metavar="LEVEL",
    label="Confidence level",
    help="Level of the confidence interval; none to leave it out.",
)
COVERS = Option(
    name="covers",
    kind="choice",
    default="mean",
    choices={"mean": "the mean of the population", "people": "the mean of exactly these people"},
    label="What the confidence interval covers",
    help="What the confidence interval covers: the mean of the population these people come from, "
    "or (requires {n}) the mean of exactly these people.",
)
EFFECTIVE = Option(
    name="effective",
    kind="number",
    metavar="SIZE",
    help="The counts are sums of survey weights with this effective sample size, (sum of "
    "weights)^2 / (sum of squared weights). Assumes that weights are unrelated to the rating.",
)
SQUARED_WEIGHTS = Option(
    name="squared_weights",
    kind="numbers",
    metavar="S1,S2,...",
    help="The counts are sums of survey weights, and these are the sums of their squares, for each "
    "rating. Requires {largest_weight}. Weights may depend on the rating.",
)
LARGEST_WEIGHT = Option(
    name="largest_weight",
    kind="number",
    metavar="W",
    help="The largest weight that any rating could have. Goes with {squared_weights}.",
)

# Columns of a table.

ITEM = Option(
    name="item",
    kind="columns",
    metavar="COLUMN,...",
    label="Item",
    help="Column that says what was rated. Several columns together name an item.",
)
RATING = Option(
    name="rating",
    kind="columns",
    metavar="COLUMN,...",
    label="Rating",
    help="Column with the ratings, in a table with a row per rating. Several columns are rated "
    "side by side, each as an attribute.",
)
COUNTS = Option(
    name="counts",
    kind="columns",
    metavar="COLUMN,...",
    label="Counts",
    help="Instead of {rating}: the columns of a table of counts, lowest rating first.",
)
LABELS = Option(
    name="labels",
    kind="labels",
    metavar="LABELS",
    label="Labels",
    help="What ratings that are words stand for: the words, lowest rating first, as in "
    "'Poor,Fair,Good'; each word with its value, as in 'No=0,Yes=1,Not sure=' (no value: no "
    "rating); or auto, to accept the reading that the message about these words shows.",
)
Q_COLUMN = Option(
    name="q_column",
    kind="column",
    metavar="COLUMN",
    help="Instead of {q}: the column with the participation ratio of each item.",
)
Q_TABLE = Option(
    name="q_table",
    kind="table",
    metavar="TABLE",
    help="A second table with q (column q, or {q_column}), by item or by part of the item.",
    surfaces=frozenset(("python", "command")),
)
N_COLUMN = Option(
    name="n_column",
    kind="column",
    metavar="COLUMN",
    label="Number of people",
    help="Instead of {n}: the column with the number of people of each item.",
)
N_TABLE = Option(
    name="n_table",
    kind="table",
    metavar="TABLE",
    help="A second table with the number of people (column n, or {n_column}) by item. Items that "
    "nobody rated are taken from it.",
    surfaces=frozenset(("python", "command")),
)
BAD_N = Option(
    name="bad_n",
    kind="choice",
    default="refuse",
    choices={
        "refuse": "stop and tell me",
        "drop": "treat it as unknown",
        "raise": "raise it to the number of ratings",
    },
    label="Wrong numbers of people",
    help="What to do with an n that is less than the number of ratings, missing, or not the same "
    "in all rows of an item: refuse it; drop it, so that the item is rated without n; or raise it "
    "to its largest value, and at least to the number of ratings.",
)
STRATA = Option(
    name="strata",
    kind="columns",
    metavar="COLUMN,...",
    help="Columns that divide the people of an item into groups of known size ({n_column} or "
    "{n_table}). The result combines the groups.",
)
FREQUENCY = Option(
    name="frequency",
    kind="column",
    metavar="COLUMN",
    label="Ratings per row",
    help="Column that says how many equal ratings a row stands for, as in a table with a row for "
    "each item and rating.",
)
WEIGHT = Option(
    name="weight",
    kind="column",
    metavar="COLUMN",
    help="Column with survey weights, one per rating. The number of people must be unknown.",
)
RATER = Option(
    name="rater",
    kind="column",
    metavar="COLUMN",
    label="Rater",
    help="Column that says who rated. A rater may rate each item once.",
)
TIME = Option(
    name="time", kind="column", metavar="COLUMN", label="Time", help="Column with dates or times."
)
WINDOW = Option(
    name="window",
    kind="text",
    metavar="LENGTH",
    label="Window",
    help="Group ratings by {time}: '30 days', week, month, '3 months', ...",
)
EVERY = Option(
    name="every",
    kind="text",
    metavar="LENGTH",
    help="Start a {window} this often, so that windows overlap.",
)

# Rows that cannot be used as they are.

NULLS = Option(
    name="nulls",
    kind="choice",
    default="refuse",
    choices={
        "refuse": "stop and tell me",
        "drop": "leave them out",
        "nonresponse": "count them as people who did not respond",
    },
    label="Empty ratings",
    help="What to do with an empty rating: refuse it, drop it, or count it as a person who did not "
    "respond.",
)
OFF_SCALE = Option(
    name="off_scale",
    kind="choice",
    default="refuse",
    choices={"refuse": "stop and tell me", "drop": "leave them out"},
    label="Ratings off the scale",
    help="What to do with a rating that is not on the scale: refuse it or drop it.",
)
DUPLICATES = Option(
    name="duplicates",
    kind="choice",
    default="refuse",
    choices={
        "refuse": "stop and tell me",
        "latest": "keep the latest",
        "latest_or_none": "keep the latest, none if it is unknown",
    },
    label="Repeated ratings",
    help="What to do if a {rater} rated an item twice: refuse, or keep the latest by {time}. If "
    "ratings that differ have the same time or none, it is unknown which is the latest: latest "
    "refuses them, latest_or_none leaves them out.",
)
MAX_DROPPED = Option(
    name="max_dropped",
    kind="number",
    default=0.5,
    metavar="SHARE",
    label="Largest share left out",
    help="Largest share of the ratings of a table that may be left out; if more would be, nothing "
    "is done.",
)
MIN_RATINGS = Option(
    name="min_ratings",
    kind="whole",
    default=0,
    least=0,
    metavar="N",
    help="Leave out items with fewer than N ratings.",
)

# The order of items.

RANKS = Option(
    name="ranks",
    kind="flag",
    default=True,
    help="Compute the rank range of each item.",
)
SHARED = Option(
    name="shared",
    kind="flag",
    default=False,
    label="One participation for all items",
    help="Rank items as rated by one crowd: participation is unknown but the same for all items, "
    "so that it distorts all of them alike.",
)
K = Option(
    name="k", kind="whole", metavar="K", label="Top", help="Say which items are among the K best."
)
ABOVE = Option(
    name="above",
    kind="number",
    metavar="VALUE",
    label="Is the mean above",
    help="A claim to test: the mean is above VALUE. The answer includes the breakdown q, below "
    "which the claim may fail.",
)
BELOW = Option(
    name="below",
    kind="number",
    metavar="VALUE",
    help="Instead of {above}: the mean is below VALUE.",
)
WHO = Option(
    name="who",
    kind="text",
    metavar="ITEM",
    help="Find the breakdown q below which this item may no longer be among the K best. Requires "
    "{k}. If several columns name an item, separate their values by commas.",
    surfaces=frozenset(("command", "rest")),
)
SAMPLING_ERROR = Option(
    name="sampling_error",
    kind="flag",
    default=True,
    help="Compute ranks that allow for sampling error as well.",
    surfaces=frozenset(("python",)),
)
SORT = Option(
    name="sort",
    kind="text",
    metavar="COLUMN",
    help="Order of the rows, best first: item, or any column of the result. By default the lower "
    "confidence limit, so that one good rating does not come first.",
)

# Where a table is read from, and where the result goes.

BACKEND = Option(
    name="backend",
    kind="choice",
    choices={"pandas": "pandas", "polars": "Polars", "pyarrow": "PyArrow"},
    help="Kind of frame to return for a file or database. By default pandas if it is installed, "
    "otherwise PyArrow.",
    surfaces=frozenset(("python",)),
)
SHEET = Option(
    name="sheet",
    kind="text",
    metavar="SHEET",
    label="Sheet",
    help="Sheet of a workbook, or file of a zip archive, by name or number. By default the only "
    "one with a table.",
)
ENCODING = Option(
    name="encoding",
    kind="text",
    metavar="NAME",
    label="Encoding",
    help="Encoding of a text file, such as cp1252. By default it is detected.",
)
HEADER = Option(
    name="header",
    kind="text",
    metavar="ROW",
    help="Row of a text file or sheet with the names of the columns, counted from 1; none if there "
    "is none, and columns are called 1, 2, 3, ... By default it is found.",
)
TABLE = Option(name="table", kind="text", metavar="NAME", help="Table of a database to read.").only(
    "python", "command"
)
QUERY = Option(
    name="query",
    kind="text",
    metavar="SELECT",
    help="Instead of {table}: a query whose rows are read.",
).only("python", "command")
ENGINE = Option(
    name="engine",
    kind="choice",
    choices={"duckdb": "DuckDB", "spark": "Spark"},
    help="What reads files. By default DuckDB.",
).only("python", "command")
SPARK_MASTER = Option(
    name="spark_master",
    kind="text",
    metavar="URL",
    help="Where Spark runs, such as 'local[*]'.",
).only("python", "command")
MEMORY = Option(
    name="memory",
    kind="text",
    metavar="AMOUNT",
    help="Most memory to use, such as 1GiB. What does not fit goes to disk.",
).only("python", "command")
OUTPUT = Option(
    name="output",
    kind="file",
    short="o",
    metavar="FILE",
    help="Write all rows to a file: .csv, .tsv, .parquet, .json or .jsonl.",
).only("command")
TO_TABLE = Option(
    name="to_table",
    kind="text",
    metavar="NAME",
    help="Write all rows to a new table of the database.",
).only("command")
INTO = Option(
    name="into",
    kind="file",
    metavar="TARGET",
    help="Add the counts to those kept in a Parquet file, or in a table of a database: "
    "counts.parquet, counts.duckdb, hotels.sqlite#kept, postgresql://me@host/db#kept. Settings "
    "that are not given are those of the first batch.",
).only("python", "command")
BATCH = Option(
    name="batch",
    kind="text",
    metavar="NAME",
    help="With {into}: the name of these rows, which are added once. By default each file is a "
    "batch, known by its contents.",
).only("python", "command")
TOP = Option(
    name="top", kind="whole", default=20, metavar="ROWS", help="Number of rows to show."
).only("command")
JSON = Option(
    name="json",
    kind="flag",
    default=False,
    help="Print one JSON document and nothing else.",
).only("command")
SOURCE = Option(
    name="source",
    kind="text",
    metavar="SOURCE",
    help="Take the counts from a table, which is read as by the command rate; items are then given "
    "by name.",
).only("command")

# Warehouses, reports, pictures.

DIALECT = Option(
    name="dialect",
    kind="text",
    metavar="DIALECT",
    required=True,
    help="Dialect of the warehouse: bigquery, clickhouse, databricks, datafusion, duckdb, mysql, "
    "postgres, redshift, snowflake, spark, sqlite, trino or tsql.",
).only("python", "command")
SQL_TABLE = replace(TABLE, default="ratings", help="Table with the ratings.")
VIEW = Option(
    name="view", kind="text", metavar="NAME", help="Write a statement that creates a view."
).only("python", "command")
DBT = Option(
    name="dbt",
    kind="flag",
    default=False,
    help="Write a model of dbt: {table:stays} is then the model of this name, {table:raw.stays} "
    "the table of a source.",
).only("python", "command")
TEXT_RATINGS = Option(
    name="text_ratings", kind="flag", default=False, help="The ratings are stored as text."
).only("python", "command")
TITLE = Option(name="title", kind="text", metavar="TEXT", help="Title of the report.")
FORMAT = Option(
    name="format",
    kind="choice",
    default="spec",
    choices={"spec": "Vega-Lite", "svg": "SVG", "png": "PNG"},
    help="A Vega-Lite specification, or a picture.",
).only("rest")
THEME = Option(
    name="theme",
    kind="choice",
    default="light",
    choices={"light": "Light", "dark": "Dark"},
    help="Colours of the picture.",
).only("rest")
WIDTH = Option(
    name="width", kind="whole", least=200, most=4000, help="Width of the drawing area, in pixels."
).only("rest")
DRAWN = Option(
    name="top", kind="whole", default=30, most=100, help="Number of items to draw."
).only("rest")
NAME = Option(
    name="name", kind="text", default="table.csv", help="What the report calls the table."
).only("rest")
COMMAND = Option(
    name="command", kind="text", help="The command that the report says repeats it."
).only("rest")

# An audit.

ANSWERED = Option(
    name="answered",
    kind="column",
    metavar="COLUMN",
    help="For a row per person: the column that says whether they responded, as 1 and 0 or yes and "
    "no. {rating} is what they think.",
).only("command", "rest")
POPULATION = Option(
    name="population",
    kind="column",
    metavar="COLUMN",
    help="For rows of two populations: the column that tells them apart, with the values observed "
    "and true.",
).only("command", "rest")
OBSERVED = Option(
    name="observed",
    kind="columns",
    metavar="COLUMN,...",
    help="For a row per item: the columns with counts of respondents, lowest rating first.",
).only("command", "rest")
TRUTH = Option(
    name="truth",
    kind="columns",
    metavar="COLUMN,...",
    help="With {observed}: the columns with counts of everybody.",
).only("command", "rest")
SEGMENT = Option(
    name="segment",
    kind="columns",
    metavar="COLUMN,...",
    help="Estimate participation separately for each segment that these columns define.",
).only("command", "rest")
UNPAIRED = Option(
    name="unpaired",
    kind="flag",
    default=False,
    help="The truth comes from other people, drawn at random. Only ratios of participation are "
    "then known.",
).only("command", "rest")
WAVE = Option(
    name="wave",
    kind="column",
    metavar="COLUMN",
    label="Number of the request",
    help="Instead of an audit: the column with the number of the request that each response "
    "followed, 1 for the first and 2 for the first reminder. {n} is the number of people asked.",
).only("command", "rest")
REMINDER = Option(
    name="reminder",
    kind="columns",
    metavar="DATE,...",
    help="Instead of {wave}: the dates of the reminders, as in 2024-05-13, with {time} for the "
    "dates of the responses.",
).only("command", "rest")
ACROSS_ITEMS = Option(
    name="across_items",
    kind="flag",
    default=False,
    label="Learn from response rates",
    help="Instead of an audit: suggest participation from the response rates of many items. "
    "Requires {n_column} or {n_table}.",
).only("command", "rest")
BY_EXPERIENCE = Option(
    name="by_experience",
    kind="flag",
    default=False,
    help="Tell each rater's first rating from later ones, by {rater} and {time}: a column "
    "experience with the values first and later.",
)
RESPONSE_RATE = Option(
    name="response_rate",
    kind="flag",
    default=False,
    help="Instead of an audit: what the response rate rules out, for counts with {n} or a table.",
).only("command")
EVIDENCE = Option(
    name="evidence",
    kind="flag",
    default=False,
    help="Show what studies have found, and the presets.",
).only("command")

# A follow-up.

GOAL_WIDTH = Option(
    name="width",
    kind="number",
    metavar="W",
    help="Goal: a confidence interval no wider than W.",
)
GOAL_ABOVE = replace(ABOVE, label="", help="Goal: settle whether the mean is above VALUE.")
GOAL_BELOW = replace(BELOW, help="Goal: settle whether the mean is below VALUE.")
POWER = Option(
    name="power",
    kind="number",
    default=0.8,
    metavar="P",
    help="Probability with which the responses settle {above} or {below}.",
)
NONRESPONDENTS = Option(
    name="nonrespondents",
    kind="numbers",
    metavar="COUNTS",
    help="Your own guess at the ratings of the non-respondents, as counts or shares separated by "
    "commas. By default whatever the assumption allows.",
)
PLAN_COVERS = replace(
    COVERS,
    default=None,
    help="What the confidence interval covers: the mean of the population these people come from "
    "(the default for counts), or the mean of exactly these people (the default for a table).",
)
PLAN_TABLE_COVERS = replace(
    COVERS,
    default="people",
    help="What the confidence interval covers: the mean of the population these people come from, "
    "or the mean of exactly these people.",
)
BUDGET = Option(
    name="budget",
    kind="whole",
    least=0,
    metavar="CALLS",
    help="Number of calls available for a table: they go to the items that reach the goal with the "
    "fewest, as many as each of them needs.",
)
FOLLOW_UP = Option(
    name="follow_up",
    kind="numbers",
    metavar="COUNTS",
    help="Instead of a goal: the responses in hand, as counts separated by commas, of people drawn "
    "at random from the non-respondents.",
).only("command")
ASKED = Option(
    name="asked",
    kind="whole",
    metavar="K",
    help="Number of people drawn for {follow_up}, if not all of them responded. The assumption "
    "then applies to them.",
).only("command")

# Research: regret and minimax.

REGRET_N = replace(N, required=True, label="", help="Number of people; inf for infinitely many.")
RATINGS = Option(
    name="m",
    kind="whole",
    least=2,
    most=101,
    metavar="M",
    help="Number of ratings, 1 to M. By default 5.",
)
REGRET_Q = replace(
    Q,
    kind="ratios",
    required=True,
    help="Least participation: one number, several separated by commas, or FIRST:LAST:STEP.",
)
REGRET_METHODS = replace(
    METHOD,
    kind="names",
    required=True,
    metavar="METHOD,...",
    help="One or several of " + ", ".join(METHODS) + ".",
)
KIND = Option(
    name="kind",
    kind="choice",
    default="gap",
    choices={"gap": "gap", "excess": "excess"},
    help="Kind of regret. gap: the squared distance to the mean of all N ratings, given or not; "
    "excess: the squared distance to the mean of the population, minus what remains if everybody "
    "responds.",
)
P = Option(
    name="p",
    kind="numbers",
    metavar="P,...",
    help="With {g}: the shares of the ratings, to evaluate this structure instead of the "
    "worst case.",
)
REGRET_G = replace(G, help="With {p}: the probability of responding, for each rating.")
DRAWS = Option(
    name="draws",
    kind="whole",
    least=2,
    most=10**7,
    metavar="DRAWS",
    help="Estimate by simulation, for any number of people and ratings.",
)
SEED = Option(
    name="seed",
    kind="whole",
    default=0,
    least=0,
    most=2**63,
    metavar="SEED",
    help="Seed of the simulation.",
)
OPTIMUM = Option(
    name="table", kind="flag", default=False, help="Show the optimal aggregator as well."
).only("command", "rest")

# The server and the paper.

HOST = Option(
    name="host", kind="text", default="127.0.0.1", metavar="HOST", help="Address to listen on."
).only("command")
PORT = Option(
    name="port",
    kind="whole",
    default=8080,
    least=0,
    most=65535,
    metavar="PORT",
    help="Port to listen on; 0 for any free one.",
).only("command")
BROWSER = Option(
    name="browser", kind="flag", default=True, help="Open the page in a browser."
).only("command")
PUBLIC = Option(
    name="public",
    kind="flag",
    default=False,
    help="Allow a HOST that other machines reach. Requests must then carry a token.",
).only("command")
TOKEN = Option(
    name="token",
    kind="text",
    metavar="TOKEN",
    help="The token, 16 characters or more; generated if {public} is given without one. Better "
    "kept in the environment variable UNHEARD_TOKEN.",
).only("command")
MAX_UPLOAD = Option(
    name="max_upload",
    kind="whole",
    default=64,
    metavar="MIB",
    help="Largest table accepted, in MiB.",
).only("command")
MAX_SECONDS = Option(
    name="max_seconds",
    kind="number",
    default=30,
    metavar="SECONDS",
    help="Longest time to spend on one request.",
).only("command")
PATIENCE = Option(
    name="patience",
    kind="number",
    default=15,
    metavar="SECONDS",
    help="Longest time to wait for the rest of a request.",
).only("command")
ONLY = Option(
    name="only",
    kind="names",
    metavar="NAME,...",
    help="Make these alone: hotels, example, regret_over_q, asymptotic, heat_maps, methods_over_q, "
    "regret_over_n, hotel_table, tracks, theorems.",
).only("command")
FAST = Option(
    name="fast",
    kind="flag",
    default=False,
    help="Coarser numbers, in at most a minute and a half.",
).only("command")
DATA = Option(
    name="data",
    kind="file",
    metavar="DIR",
    help="Folder with public rating data (cm100k/item_histograms.csv).",
).only("command")
FOLDER = replace(OUTPUT, default="paper", metavar="DIR", help="Folder to write to.")
