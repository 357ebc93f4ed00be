{#-
  A query with one row for every item: its estimate, bounds, confidence interval and rank range.
  README.md explains the arguments, and `unheard rate` the columns of the result.
-#}
{% macro rate(relation, item, rating=none, counts=none, q=none, q_column=none, quiet=none,
              n_column=none, n_table=none, scale=none, level=0.95, ranks=true) %}
{%- set asked = unheard.read_arguments(item, rating, counts, q, q_column, quiet, n_column, n_table,
                                       scale, level) -%}
{%- set d = adapter.dispatch('dialect', 'unheard')() -%}
{%- set k = unheard.level_numbers()[asked.level | string] if asked.level is not none else none -%}
{%- set keys = asked.item | join(', ') -%}
{%- set size = asked.scale | length -%}
-- A rating for every item, with an allowance for the people who did not respond.
-- Assumption: {{ unheard.describe_assumption(asked) }}
WITH uh_counts AS (
/* How often each rating was given, uh_count_1 the lowest. */
{%- if asked.counts %}
{{ unheard.add_up(asked, relation) }}
{%- else %}
SELECT {{ keys }}
  {%- for value in asked.scale %},
    COUNT(CASE WHEN {{ rating }} = {{ value }} THEN 1 END) AS uh_count_{{ loop.index }}
  {%- endfor %},
    COUNT(*) AS uh_n_rows
{%- endif %}
{%- if n_column is not none and n_table is none %},
    CASE WHEN MIN({{ n_column }}) = MAX({{ n_column }}) AND COUNT({{ n_column }}) = COUNT(*)
      THEN MIN({{ n_column }}) END AS uh_n
{%- endif %}
{%- if q_column is not none %},
    CASE WHEN MIN({{ q_column }}) > 0 AND MAX({{ q_column }}) <= 1
      AND COUNT({{ q_column }}) = COUNT(*) THEN MIN({{ q_column }}) ELSE 1e-9 END AS uh_q
{%- endif %}
FROM {{ relation }}
WHERE {{ unheard.is_named(asked.item) }}
GROUP BY {{ keys }}
),
uh_people AS (
/* The counts with the number of people. */
{%- set item_source = 'uh_counts' if n_table is none else 'uh_listed' %}
SELECT
  {%- for name in asked.item %}
    {{ item_source }}.{{ name }} AS {{ name }},
  {%- endfor %}
  {%- for place in range(1, size + 1) %}
    CAST(COALESCE(uh_counts.uh_count_{{ place }}, 0) AS {{ d.double }}) AS uh_count_{{ place }},
  {%- endfor %}
    CAST(COALESCE(uh_counts.uh_n_rows, 0) AS {{ d.double }}) AS uh_n_rows
{%- if n_column is not none %},
    CAST({{ item_source }}.uh_n AS {{ d.double }}) AS uh_n
{%- endif %},
    CAST({{ 'uh_counts.uh_q' if q_column is not none else asked.q }} AS {{ d.double }}) AS uh_q
{%- if n_table is none %}
FROM uh_counts
{%- else %}
FROM (SELECT {{ keys }}, {{ n_column }} AS uh_n FROM {{ n_table }}
  WHERE {{ unheard.is_named(asked.item) }}) AS uh_listed
LEFT JOIN uh_counts ON {{ unheard.match_items(asked.item, 'uh_listed', 'uh_counts') }}
{%- endif %}
),
uh_scale AS (
/* Both ends of the scale, a row for each. */
{%- for end in unheard.ends()[asked.formula] %}
  {%- set outer = loop %}
  {%- for place in range(1, size + 1) %}
    {%- set rating_at = place if end == 'lower' else size + 1 - place %}
SELECT '{{ end }}' AS uh_end, {{ place }} AS uh_place, {{ rating_at }} AS uh_rating,
    CAST({{ asked.scale[rating_at - 1] }} AS {{ d.double }}) AS uh_scale_value
    {%- if not (outer.last and loop.last) %}
UNION ALL
    {%- endif %}
  {%- endfor %}
{%- endfor %}
),
uh_spread AS (
SELECT
  {%- for name in asked.item %}
    uh_people.{{ name }} AS {{ name }},
  {%- endfor %}
    uh_people.uh_n_rows, uh_people.uh_q,
{%- if n_column is not none %}
    uh_people.uh_n, CASE WHEN uh_people.uh_n >= {% for place in range(1, size + 1) -%}
      {{ ' + ' if not loop.first }}uh_people.uh_count_{{ place }}
    {%- endfor %}
      AND uh_people.uh_n <= {{ unheard.limits().count }} AND uh_people.uh_n = FLOOR(uh_people.uh_n)
      THEN 0 ELSE 1 END AS uh_n_wrong,
{%- endif %}
    uh_scale.uh_end, uh_scale.uh_place, uh_scale.uh_rating, uh_scale.uh_scale_value,
    CASE uh_scale.uh_rating
  {%- for place in range(1, size + 1) %}
      WHEN {{ place }} THEN uh_people.uh_count_{{ place }}
  {%- endfor %}
    END AS uh_count,
    CAST({{ asked.scale | first }} AS {{ d.double }}) AS uh_scale_lowest,
    CAST({{ asked.scale | last }} AS {{ d.double }}) AS uh_scale_highest,
    CAST({{ size }} AS {{ d.double }}) AS uh_scale_size
{%- if asked.level is not none %}
  {%- for name, number in unheard.level_columns().items() %},
    CAST({{ k[number] }} AS {{ d.double }}) AS {{ name }}
  {%- endfor %}
{%- endif %}
FROM uh_people
CROSS JOIN uh_scale{{ d.fence }}
),
{{ context['unheard'][asked.formula](asked.item, keys, ranks, d, k) }}
{%- endmacro %}

{#- Counts that are already made, added up; a row counts as dropped if one of them is no count. -#}
{% macro add_up(asked, relation) -%}
{%- set wrong = [] -%}
{%- for name in asked.counts -%}
  {%- do wrong.append('(' ~ name ~ ' IS NULL OR ' ~ name ~ ' < 0 OR ' ~ name ~ ' <> FLOOR(' ~ name
                      ~ ') OR ' ~ name ~ ' > ' ~ unheard.limits().count ~ ')') -%}
{%- endfor -%}
SELECT {{ asked.item | join(', ') }}
{%- for name in asked.counts %},
    SUM(CASE WHEN {{ wrong[loop.index0] }} THEN 0 ELSE {{ name }} END) AS uh_count_{{ loop.index }}
{%- endfor %},
    COUNT(CASE WHEN {{ wrong | join(' OR ') }} THEN 1 END)
  {%- for name in asked.counts %}
      + SUM(CASE WHEN {{ wrong[loop.index0] }} THEN 0 ELSE {{ name }} END)
  {%- endfor %} AS uh_n_rows
{%- endmacro %}

{#- The condition that a row names its item. -#}
{% macro is_named(item) -%}
{{ item | join(' IS NOT NULL AND ') }} IS NOT NULL
{%- endmacro %}

{#- The condition that two tables have a row of the same item. -#}
{% macro match_items(item, one, other) -%}
{%- for name in item -%}
  {{ one }}.{{ name }} = {{ other }}.{{ name }}{{ ' AND ' if not loop.last }}
{%- endfor -%}
{%- endmacro %}

{% macro describe_assumption(asked) -%}
{%- set ratio = 'q' if asked.q is none else asked.q -%}
people with {{ asked.quiet }} ratings may respond less often than others,
-- but at least {{ ratio }} times as often as those who respond most often.
{%- endmacro %}
