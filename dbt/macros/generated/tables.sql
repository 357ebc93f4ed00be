{#- Written by tools/build_dbt.py: do not edit. -#}

{% macro level_numbers() %}{{ return({
  "0.8": {
    "k1": "1.2815515655446004e0",
    "k2": "0.001518",
    "k3": "0.609132",
    "k4": "0.000876",
    "k5": "0.114936",
    "k6": "-0.015823",
    "k7": "0.102039",
    "k8": "-0.000111",
    "k9": "0.016272",
    "k10": "0.13964",
    "k11": "0.032758",
    "k12": "0.00352",
    "k13": "-0.000792",
    "k14": "-0.001474",
    "k15": "-0.021024",
    "k16": "-0.001346",
    "k17": "-0.007639",
    "k18": "-0.004118",
    "k19": "0.000493",
    "k20": "1.4142135623730951e0",
    "k21": "1.3527717270477064e0",
    "k22": "2.705543454095413e0",
    "k23": "1.6448536269514722e0"
  },
  "0.9": {
    "k1": "1.6448536269514722e0",
    "k2": "0.003357",
    "k3": "0.788465",
    "k4": "0.001407",
    "k5": "0.175532",
    "k6": "-0.033052",
    "k7": "0.137657",
    "k8": "0.00082",
    "k9": "0.0357",
    "k10": "0.235482",
    "k11": "0.064886",
    "k12": "0.001892",
    "k13": "-0.00418",
    "k14": "-0.004885",
    "k15": "-0.04301",
    "k16": "-0.018056",
    "k17": "-0.015791",
    "k18": "-0.002526",
    "k19": "0.001739",
    "k20": "1.4142135623730951e0",
    "k21": "1.9207294103470627e0",
    "k22": "3.8414588206941254e0",
    "k23": "1.959963984540054e0"
  },
  "0.95": {
    "k1": "1.959963984540054e0",
    "k2": "0.006415",
    "k3": "0.98089",
    "k4": "0.001614",
    "k5": "0.240926",
    "k6": "-0.060522",
    "k7": "0.174115",
    "k8": "0.004338",
    "k9": "0.068811",
    "k10": "0.371011",
    "k11": "0.107839",
    "k12": "-0.00655",
    "k13": "-0.010153",
    "k14": "-0.013712",
    "k15": "-0.083635",
    "k16": "-0.047101",
    "k17": "-0.023453",
    "k18": "0.002164",
    "k19": "0.00345",
    "k20": "1.4142135623730951e0",
    "k21": "2.5119430936574436e0",
    "k22": "5.023886187314887e0",
    "k23": "2.241402727604945e0"
  },
  "0.99": {
    "k1": "2.5758293035489004e0",
    "k2": "0.017728",
    "k3": "1.455451",
    "k4": "-0.000445",
    "k5": "0.407584",
    "k6": "-0.15333",
    "k7": "0.274311",
    "k8": "0.023441",
    "k9": "0.203302",
    "k10": "0.829775",
    "k11": "0.229692",
    "k12": "-0.059262",
    "k13": "-0.032136",
    "k14": "-0.061945",
    "k15": "-0.257899",
    "k16": "-0.156858",
    "k17": "-0.032091",
    "k18": "0.02477",
    "k19": "0.008219",
    "k20": "1.4142135623730951e0",
    "k21": "3.939719288311209e0",
    "k22": "7.879438576622418e0",
    "k23": "2.8070337683438042e0"
  }
}) }}{% endmacro %}

{% macro level_columns() %}{{ return({
  "uh_z": "k1",
  "uh_c10": "k2",
  "uh_c11": "k3",
  "uh_c12": "k4",
  "uh_c20": "k5",
  "uh_c21": "k6",
  "uh_c22": "k7",
  "uh_c23": "k8",
  "uh_c30": "k9",
  "uh_c31": "k10",
  "uh_c32": "k11",
  "uh_c33": "k12",
  "uh_c34": "k13",
  "uh_c40": "k14",
  "uh_c41": "k15",
  "uh_c42": "k16",
  "uh_c43": "k17",
  "uh_c44": "k18",
  "uh_c45": "k19",
  "uh_widest": "k20"
}) }}{% endmacro %}

{% macro ends() %}{{ return({
  "any_bounds": [
    "lower",
    "upper"
  ],
  "any_limits": [
    "lower",
    "upper"
  ],
  "any_with_n_bounds": [
    "lower",
    "upper"
  ],
  "any_with_n_limits": [
    "lower",
    "upper"
  ],
  "low_bounds": [
    "lower"
  ],
  "low_limits": [
    "lower",
    "upper"
  ],
  "low_with_n_bounds": [
    "lower"
  ],
  "low_with_n_limits": [
    "lower",
    "upper"
  ],
  "high_bounds": [
    "lower"
  ],
  "high_limits": [
    "lower",
    "upper"
  ],
  "high_with_n_bounds": [
    "lower"
  ],
  "high_with_n_limits": [
    "lower",
    "upper"
  ],
  "middle_bounds": [
    "lower",
    "upper"
  ],
  "middle_limits": [
    "lower",
    "upper"
  ],
  "middle_with_n_bounds": [
    "lower",
    "upper"
  ],
  "middle_with_n_limits": [
    "lower",
    "upper"
  ]
}) }}{% endmacro %}

{% macro values_of_q() %}{{ return({
  "survey": [
    0.5,
    "any"
  ],
  "reviews": [
    0.3,
    "any"
  ],
  "media": [
    0.1,
    "any"
  ],
  "cm100k": [
    0.0782,
    "low"
  ],
  "coat": [
    0.3517,
    "low"
  ],
  "brightlocal": [
    0.597,
    "low"
  ],
  "rental-video": [
    0.1875,
    "low"
  ],
  "vaccination": [
    0.4833,
    "any"
  ],
  "literary-digest": [
    0.4609,
    "any"
  ],
  "usf-online": [
    0.4141,
    "high"
  ]
}) }}{% endmacro %}

{% macro limits() %}{{ return({
  "ratings": 17,
  "count": 9007199254740992,
  "columns": [
    "n_ratings",
    "n",
    "average",
    "estimate",
    "lower",
    "upper",
    "ci_lower",
    "ci_upper",
    "best_rank",
    "worst_rank",
    "ci_best_rank",
    "ci_worst_rank",
    "notes"
  ]
}) }}{% endmacro %}

{% macro bigquery__dialect() %}{{ return({
  "double": "FLOAT64",
  "bigint": "INT64",
  "join": "||",
  "fence": ""
}) }}{% endmacro %}

{% macro duckdb__dialect() %}{{ return({
  "double": "DOUBLE",
  "bigint": "BIGINT",
  "join": "||",
  "fence": ""
}) }}{% endmacro %}

{% macro postgres__dialect() %}{{ return({
  "double": "DOUBLE PRECISION",
  "bigint": "BIGINT",
  "join": "||",
  "fence": "\nOFFSET 0"
}) }}{% endmacro %}

{% macro redshift__dialect() %}{{ return({
  "double": "DOUBLE PRECISION",
  "bigint": "BIGINT",
  "join": "||",
  "fence": ""
}) }}{% endmacro %}

{% macro snowflake__dialect() %}{{ return({
  "double": "DOUBLE",
  "bigint": "BIGINT",
  "join": "||",
  "fence": ""
}) }}{% endmacro %}

{% macro sqlserver__dialect() %}{{ return({
  "double": "FLOAT",
  "bigint": "BIGINT",
  "join": "+",
  "fence": ""
}) }}{% endmacro %}

{% macro trino__dialect() %}{{ return({
  "double": "DOUBLE",
  "bigint": "BIGINT",
  "join": "||",
  "fence": ""
}) }}{% endmacro %}
