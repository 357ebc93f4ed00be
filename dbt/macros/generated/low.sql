{#- Written by tools/build_dbt.py: do not edit. -#}
{%- macro low_bounds(item, keys, ranks, d, k) -%}
uh_step_1 AS (
SELECT *, SUM(uh_scale_value * uh_count) OVER (PARTITION BY {{ keys }}) AS uh_average_part,
    SUM((uh_scale_value - uh_scale_lowest)
      * uh_count) OVER (PARTITION BY {{ keys }} ORDER BY uh_rating ROWS BETWEEN UNBOUNDED PRECEDING
      AND CURRENT ROW) AS uh_bound_part,
    SUM(uh_count) OVER (PARTITION BY {{ keys }} ORDER BY uh_rating ROWS BETWEEN UNBOUNDED PRECEDING
      AND CURRENT ROW) AS uh_bound_part_2,
    SUM(uh_count) OVER (PARTITION BY {{ keys }}) AS uh_people, 1 / uh_q - 1 AS uh_room,
    SUM((uh_scale_value - uh_scale_lowest) * uh_count) OVER (PARTITION BY {{ keys }}) AS uh_sum
FROM uh_spread{{ d.fence }}
),
uh_step_2 AS (
SELECT *, uh_average_part / NULLIF(uh_people, 0) AS uh_average_part_2, MIN((uh_sum
      + uh_room * uh_bound_part) / NULLIF(uh_people + uh_room * uh_bound_part_2,
      0)) OVER (PARTITION BY {{ keys }}) AS uh_bound_part_3 FROM uh_step_1{{ d.fence }}
),
uh_step_3 AS (
SELECT *, LEAST(uh_sum / NULLIF(uh_people, 0), uh_bound_part_3) AS uh_bound FROM uh_step_2{{ d.fence }}
),
uh_step_4 AS (
SELECT *, LEAST(GREATEST(LEAST(uh_scale_lowest + uh_bound, uh_scale_highest),
      uh_scale_lowest), GREATEST(LEAST(uh_average_part_2, uh_scale_highest), uh_scale_lowest))
      AS uh_lower, GREATEST(LEAST(uh_scale_lowest + uh_bound, uh_scale_highest),
      uh_scale_lowest, GREATEST(LEAST(uh_average_part_2, uh_scale_highest), uh_scale_lowest))
      AS uh_upper FROM uh_step_3{{ d.fence }}
),
uh_computed AS (
SELECT {{ keys }}, CASE WHEN uh_people > 0 THEN (uh_lower + uh_upper) / 2
      ELSE (uh_scale_lowest + uh_scale_highest) / 2 END AS estimate,
    CASE WHEN uh_people > 0 THEN uh_lower ELSE uh_scale_lowest END AS lower,
    CASE WHEN uh_people > 0 THEN uh_upper ELSE uh_scale_highest END AS upper,
    CASE WHEN uh_people > 0 THEN uh_average_part_2 ELSE NULL END AS average, uh_people AS n_ratings,
    CASE WHEN uh_people > 0 THEN 0 ELSE 1 END AS uh_note_no_ratings, CASE WHEN uh_people
      > 0 THEN CASE WHEN uh_people < 10 THEN 1 ELSE 0 END ELSE 0 END AS uh_note_few_ratings,
    CASE WHEN uh_n_rows - uh_people > 0 THEN 1 ELSE 0 END AS uh_note_rows_dropped
FROM uh_step_4 WHERE uh_end = 'lower' AND uh_place = 1
),
{%- if ranks %}
uh_rated AS (
SELECT * FROM uh_computed
),
uh_ends AS (
/* All ends of intervals, sorted once, give the possible ranks. */
SELECT {{ keys }}, lower AS uh_place, 1 AS uh_is_lower
FROM uh_rated UNION ALL SELECT {{ keys }}, upper AS uh_place, 0 AS uh_is_lower FROM uh_rated
),
uh_placed AS (
/* Counts from the highest end down to each. */
SELECT {{ keys }}, uh_is_lower, COUNT(*) OVER (ORDER BY uh_place DESC,
      uh_is_lower ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS uh_passed,
    COUNT(CASE WHEN uh_is_lower = 1 THEN 1 END) OVER (ORDER BY uh_place DESC,
      uh_is_lower ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS uh_lowers FROM uh_ends
),
uh_ranks AS (
/* The ranks that every item may have. */
SELECT {{ keys }}, MAX(CASE WHEN uh_is_lower = 0 THEN uh_lowers + 1 END) AS best_rank,
    MAX(CASE WHEN uh_is_lower = 1 THEN uh_passed - uh_lowers END) AS worst_rank
FROM uh_placed GROUP BY {{ keys }}
),
uh_rated_with_ranks AS (
SELECT uh_rated.*, uh_ranks.best_rank, uh_ranks.worst_rank
FROM uh_rated LEFT JOIN uh_ranks ON {{ unheard.match_items(item, 'uh_rated', 'uh_ranks') }}
)
SELECT {{ keys }}, CAST(n_ratings AS {{ d.bigint }}) AS n_ratings, CAST(NULL AS {{ d.bigint }}) AS n,
    CAST(average AS {{ d.double }}) AS average, CAST(estimate AS {{ d.double }}) AS estimate,
    CAST(lower AS {{ d.double }}) AS lower, CAST(upper AS {{ d.double }}) AS upper,
    CAST(NULL AS {{ d.double }}) AS ci_lower, CAST(NULL AS {{ d.double }}) AS ci_upper,
    CAST(best_rank AS {{ d.bigint }}) AS best_rank, CAST(worst_rank AS {{ d.bigint }}) AS worst_rank,
    CAST(NULL AS {{ d.bigint }}) AS ci_best_rank, CAST(NULL AS {{ d.bigint }}) AS ci_worst_rank,
    SUBSTRING(CASE WHEN uh_note_no_ratings = 1 THEN ' no_ratings' ELSE '' END
      {{ d.join }} CASE WHEN uh_note_few_ratings = 1 THEN ' few_ratings' ELSE '' END
      {{ d.join }} CASE WHEN uh_note_rows_dropped = 1 THEN ' rows_dropped' ELSE '' END, 2, 400) AS notes
FROM uh_rated_with_ranks
{%- else %}
uh_rated AS (
SELECT * FROM uh_computed
)
SELECT {{ keys }}, CAST(n_ratings AS {{ d.bigint }}) AS n_ratings, CAST(NULL AS {{ d.bigint }}) AS n,
    CAST(average AS {{ d.double }}) AS average, CAST(estimate AS {{ d.double }}) AS estimate,
    CAST(lower AS {{ d.double }}) AS lower, CAST(upper AS {{ d.double }}) AS upper,
    CAST(NULL AS {{ d.double }}) AS ci_lower, CAST(NULL AS {{ d.double }}) AS ci_upper,
    CAST(NULL AS {{ d.bigint }}) AS best_rank, CAST(NULL AS {{ d.bigint }}) AS worst_rank,
    CAST(NULL AS {{ d.bigint }}) AS ci_best_rank, CAST(NULL AS {{ d.bigint }}) AS ci_worst_rank,
    SUBSTRING(CASE WHEN uh_note_no_ratings = 1 THEN ' no_ratings' ELSE '' END
      {{ d.join }} CASE WHEN uh_note_few_ratings = 1 THEN ' few_ratings' ELSE '' END
      {{ d.join }} CASE WHEN uh_note_rows_dropped = 1 THEN ' rows_dropped' ELSE '' END, 2, 400) AS notes
FROM uh_rated
{%- endif %}
{%- endmacro %}

{%- macro low_limits(item, keys, ranks, d, k) -%}
uh_step_1 AS (
SELECT *, SUM(uh_scale_value * uh_count) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_average_part,
    CASE WHEN uh_end = 'lower' THEN uh_scale_value - uh_scale_lowest
      ELSE uh_scale_highest - uh_scale_value END AS uh_below_squares_part,
    SUM((uh_scale_value - uh_scale_lowest) * uh_count) OVER (PARTITION BY {{ keys }},
      uh_end ORDER BY uh_rating ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS uh_bound_part,
    FLOOR((1 + uh_scale_size) / 2) AS uh_middle, 1 / uh_q AS uh_most,
    SUM(uh_count) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_people,
    SUM((uh_scale_value - uh_scale_lowest) * uh_count) OVER (PARTITION BY {{ keys }}, uh_end)
      AS uh_sum FROM uh_spread{{ d.fence }}
),
uh_step_2 AS (
SELECT *, uh_average_part / NULLIF(uh_people, 0) AS uh_average_part_2,
    CASE WHEN uh_end = 'lower' THEN uh_most ELSE 1 END AS uh_below_part,
    SUM(uh_count) OVER (PARTITION BY {{ keys }},
      uh_end ORDER BY uh_rating ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
      AS uh_bound_part_2, MAX(CASE WHEN uh_place <= uh_middle THEN uh_below_squares_part
      ELSE NULL END) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_place_2, uh_most - 1 AS uh_room
FROM uh_step_1{{ d.fence }}
),
uh_step_3 AS (
SELECT *, SUM(uh_count * GREATEST(uh_place_2 - uh_below_squares_part,
      0)) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_below_part_2, SUM(GREATEST(uh_place_2
      - uh_below_squares_part, 0) * (uh_count * GREATEST(uh_place_2 - uh_below_squares_part,
      0))) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_below_sq_part,
    MIN((uh_sum + uh_room * uh_bound_part) / NULLIF(uh_people + uh_room * uh_bound_part_2,
      0)) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_bound_part_3, SUM(uh_below_squares_part
      * uh_count) OVER (PARTITION BY {{ keys }},
      uh_end ORDER BY uh_place ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS uh_bound_part_4,
    SUM(uh_count) OVER (PARTITION BY {{ keys }},
      uh_end ORDER BY uh_place ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS uh_bound_part_5,
    uh_below_part - 1 AS uh_room_2,
    SUM(uh_below_squares_part * uh_count) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_sum_2,
    uh_below_part * uh_below_part AS uh_weight_sq FROM uh_step_2{{ d.fence }}
),
uh_step_4 AS (
SELECT *, SUM(uh_count * GREATEST(uh_below_squares_part - uh_place_2,
      0)) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_above, SUM(GREATEST(uh_below_squares_part
      - uh_place_2, 0) * (uh_count * GREATEST(uh_below_squares_part - uh_place_2,
      0))) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_above_sq,
    uh_below_part * (uh_below_part_2 + uh_place_2) AS uh_below,
    uh_weight_sq * (uh_below_sq_part + uh_place_2 * uh_place_2) AS uh_below_sq,
    LEAST(uh_sum / NULLIF(uh_people, 0), uh_bound_part_3) AS uh_bound, MIN((uh_sum_2
      + uh_room_2 * uh_bound_part_4) / NULLIF(uh_people + uh_room_2 * uh_bound_part_5,
      0)) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_bound_part_6 FROM uh_step_3{{ d.fence }}
),
uh_step_5 AS (
SELECT *, LEAST(uh_sum_2 / NULLIF(uh_people, 0), uh_bound_part_6) AS uh_bound_2,
    1 - 2 * (uh_below_sq * (uh_above * uh_above)) / GREATEST(uh_above_sq * (uh_below * uh_below)
      + uh_below_sq * (uh_above * uh_above), 1e-280) AS uh_lean,
    LEAST(GREATEST(LEAST(uh_scale_lowest + uh_bound, uh_scale_highest), uh_scale_lowest),
      GREATEST(LEAST(uh_average_part_2, uh_scale_highest), uh_scale_lowest)) AS uh_lower,
    LEAST(SQRT(GREATEST(uh_above_sq * (uh_below * uh_below) + uh_below_sq
      * (uh_above * uh_above), 1e-280)) / GREATEST(uh_above * uh_below, 1e-280), uh_widest)
      AS uh_sd, GREATEST(LEAST(uh_scale_lowest + uh_bound, uh_scale_highest),
      uh_scale_lowest, GREATEST(LEAST(uh_average_part_2, uh_scale_highest), uh_scale_lowest))
      AS uh_upper FROM uh_step_4{{ d.fence }}
),
uh_step_6 AS (
SELECT *, uh_above * EXP(- ((uh_z + (uh_c10 + (uh_c11 + uh_c12 * uh_lean) * uh_lean
      + (uh_c20 + (uh_c21 + (uh_c22 + uh_c23 * uh_lean) * uh_lean) * uh_lean + (uh_c30
      + (uh_c31 + (uh_c32 + (uh_c33 + uh_c34 * uh_lean) * uh_lean) * uh_lean) * uh_lean
      + (uh_c40 + (uh_c41 + (uh_c42 + (uh_c43 + (uh_c44 + uh_c45 * uh_lean) * uh_lean) * uh_lean)
      * uh_lean) * uh_lean) * uh_sd) * uh_sd) * uh_sd) * uh_sd) * uh_sd)) - uh_below AS uh_excess,
    SUM(CASE WHEN uh_bound_2 > uh_below_squares_part THEN uh_count ELSE 0
      END) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_mass_part FROM uh_step_5{{ d.fence }}
),
uh_step_7 AS (
SELECT *, CASE WHEN uh_excess > 0 THEN uh_middle ELSE 1 END AS uh_low_part,
    uh_people + uh_room_2 * uh_mass_part AS uh_mass,
    CASE WHEN uh_excess > 0 THEN uh_scale_size ELSE uh_middle END AS uh_next_part FROM uh_step_6{{ d.fence }}
),
uh_step_8 AS (
SELECT *, FLOOR((uh_low_part + uh_next_part) / 2) AS uh_middle_2 FROM uh_step_7{{ d.fence }}
),
uh_step_9 AS (
SELECT *, MAX(CASE WHEN uh_place <= uh_middle_2 THEN uh_below_squares_part ELSE NULL
      END) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_place_3 FROM uh_step_8{{ d.fence }}
),
uh_step_10 AS (
SELECT *, SUM(uh_count * GREATEST(uh_place_3 - uh_below_squares_part,
      0)) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_below_part_3, SUM(GREATEST(uh_place_3
      - uh_below_squares_part, 0) * (uh_count * GREATEST(uh_place_3 - uh_below_squares_part,
      0))) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_below_sq_part_2 FROM uh_step_9{{ d.fence }}
),
uh_step_11 AS (
SELECT *, SUM(uh_count * GREATEST(uh_below_squares_part - uh_place_3,
      0)) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_above_2, SUM(GREATEST(uh_below_squares_part
      - uh_place_3, 0) * (uh_count * GREATEST(uh_below_squares_part - uh_place_3,
      0))) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_above_sq_2,
    uh_below_part * (uh_below_part_3 + uh_place_3) AS uh_below_2,
    uh_weight_sq * (uh_below_sq_part_2 + uh_place_3 * uh_place_3) AS uh_below_sq_2 FROM uh_step_10{{ d.fence }}
),
uh_step_12 AS (
SELECT *, 1 - 2 * (uh_below_sq_2 * (uh_above_2 * uh_above_2))
      / GREATEST(uh_above_sq_2 * (uh_below_2 * uh_below_2) + uh_below_sq_2
      * (uh_above_2 * uh_above_2), 1e-280) AS uh_lean_2, LEAST(SQRT(GREATEST(uh_above_sq_2
      * (uh_below_2 * uh_below_2) + uh_below_sq_2 * (uh_above_2 * uh_above_2), 1e-280))
      / GREATEST(uh_above_2 * uh_below_2, 1e-280), uh_widest) AS uh_sd_2 FROM uh_step_11{{ d.fence }}
),
uh_step_13 AS (
SELECT *, uh_above_2 * EXP(- ((uh_z + (uh_c10 + (uh_c11 + uh_c12 * uh_lean_2) * uh_lean_2
      + (uh_c20 + (uh_c21 + (uh_c22 + uh_c23 * uh_lean_2) * uh_lean_2) * uh_lean_2
      + (uh_c30 + (uh_c31 + (uh_c32 + (uh_c33 + uh_c34 * uh_lean_2) * uh_lean_2) * uh_lean_2)
      * uh_lean_2 + (uh_c40 + (uh_c41 + (uh_c42 + (uh_c43 + (uh_c44 + uh_c45 * uh_lean_2)
      * uh_lean_2) * uh_lean_2) * uh_lean_2) * uh_lean_2) * uh_sd_2) * uh_sd_2) * uh_sd_2)
      * uh_sd_2) * uh_sd_2)) - uh_below_2 AS uh_excess_2 FROM uh_step_12{{ d.fence }}
),
uh_step_14 AS (
SELECT *, CASE WHEN uh_excess_2 > 0 THEN uh_middle_2 ELSE uh_low_part END AS uh_low_part_2,
    CASE WHEN uh_excess_2 > 0 THEN uh_next_part ELSE uh_middle_2 END AS uh_next_part_2
FROM uh_step_13{{ d.fence }}
),
uh_step_15 AS (
SELECT *, FLOOR((uh_low_part_2 + uh_next_part_2) / 2) AS uh_middle_3 FROM uh_step_14{{ d.fence }}
),
uh_step_16 AS (
SELECT *, MAX(CASE WHEN uh_place <= uh_middle_3 THEN uh_below_squares_part ELSE NULL
      END) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_place_4 FROM uh_step_15{{ d.fence }}
),
uh_step_17 AS (
SELECT *, SUM(uh_count * GREATEST(uh_place_4 - uh_below_squares_part,
      0)) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_below_part_4, SUM(GREATEST(uh_place_4
      - uh_below_squares_part, 0) * (uh_count * GREATEST(uh_place_4 - uh_below_squares_part,
      0))) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_below_sq_part_3 FROM uh_step_16{{ d.fence }}
),
uh_step_18 AS (
SELECT *, SUM(uh_count * GREATEST(uh_below_squares_part - uh_place_4,
      0)) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_above_3, SUM(GREATEST(uh_below_squares_part
      - uh_place_4, 0) * (uh_count * GREATEST(uh_below_squares_part - uh_place_4,
      0))) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_above_sq_3,
    uh_below_part * (uh_below_part_4 + uh_place_4) AS uh_below_3,
    uh_weight_sq * (uh_below_sq_part_3 + uh_place_4 * uh_place_4) AS uh_below_sq_3 FROM uh_step_17{{ d.fence }}
),
uh_step_19 AS (
SELECT *, 1 - 2 * (uh_below_sq_3 * (uh_above_3 * uh_above_3))
      / GREATEST(uh_above_sq_3 * (uh_below_3 * uh_below_3) + uh_below_sq_3
      * (uh_above_3 * uh_above_3), 1e-280) AS uh_lean_3, LEAST(SQRT(GREATEST(uh_above_sq_3
      * (uh_below_3 * uh_below_3) + uh_below_sq_3 * (uh_above_3 * uh_above_3), 1e-280))
      / GREATEST(uh_above_3 * uh_below_3, 1e-280), uh_widest) AS uh_sd_3 FROM uh_step_18{{ d.fence }}
),
uh_step_20 AS (
SELECT *, uh_above_3 * EXP(- ((uh_z + (uh_c10 + (uh_c11 + uh_c12 * uh_lean_3) * uh_lean_3
      + (uh_c20 + (uh_c21 + (uh_c22 + uh_c23 * uh_lean_3) * uh_lean_3) * uh_lean_3
      + (uh_c30 + (uh_c31 + (uh_c32 + (uh_c33 + uh_c34 * uh_lean_3) * uh_lean_3) * uh_lean_3)
      * uh_lean_3 + (uh_c40 + (uh_c41 + (uh_c42 + (uh_c43 + (uh_c44 + uh_c45 * uh_lean_3)
      * uh_lean_3) * uh_lean_3) * uh_lean_3) * uh_lean_3) * uh_sd_3) * uh_sd_3) * uh_sd_3)
      * uh_sd_3) * uh_sd_3)) - uh_below_3 AS uh_excess_3 FROM uh_step_19{{ d.fence }}
),
uh_step_21 AS (
SELECT *, CASE WHEN uh_excess_3 > 0 THEN uh_middle_3 ELSE uh_low_part_2 END AS uh_low_part_3,
    CASE WHEN uh_excess_3 > 0 THEN uh_next_part_2 ELSE uh_middle_3 END AS uh_next_part_3
FROM uh_step_20{{ d.fence }}
),
uh_step_22 AS (
SELECT *, FLOOR((uh_low_part_3 + uh_next_part_3) / 2) AS uh_middle_4 FROM uh_step_21{{ d.fence }}
),
uh_step_23 AS (
SELECT *, MAX(CASE WHEN uh_place <= uh_middle_4 THEN uh_below_squares_part ELSE NULL
      END) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_place_5 FROM uh_step_22{{ d.fence }}
),
uh_step_24 AS (
SELECT *, SUM(uh_count * GREATEST(uh_place_5 - uh_below_squares_part,
      0)) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_below_part_5, SUM(GREATEST(uh_place_5
      - uh_below_squares_part, 0) * (uh_count * GREATEST(uh_place_5 - uh_below_squares_part,
      0))) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_below_sq_part_4 FROM uh_step_23{{ d.fence }}
),
uh_step_25 AS (
SELECT *, SUM(uh_count * GREATEST(uh_below_squares_part - uh_place_5,
      0)) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_above_4, SUM(GREATEST(uh_below_squares_part
      - uh_place_5, 0) * (uh_count * GREATEST(uh_below_squares_part - uh_place_5,
      0))) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_above_sq_4,
    uh_below_part * (uh_below_part_5 + uh_place_5) AS uh_below_4,
    uh_weight_sq * (uh_below_sq_part_4 + uh_place_5 * uh_place_5) AS uh_below_sq_4 FROM uh_step_24{{ d.fence }}
),
uh_step_26 AS (
SELECT *, 1 - 2 * (uh_below_sq_4 * (uh_above_4 * uh_above_4))
      / GREATEST(uh_above_sq_4 * (uh_below_4 * uh_below_4) + uh_below_sq_4
      * (uh_above_4 * uh_above_4), 1e-280) AS uh_lean_4, LEAST(SQRT(GREATEST(uh_above_sq_4
      * (uh_below_4 * uh_below_4) + uh_below_sq_4 * (uh_above_4 * uh_above_4), 1e-280))
      / GREATEST(uh_above_4 * uh_below_4, 1e-280), uh_widest) AS uh_sd_4 FROM uh_step_25{{ d.fence }}
),
uh_step_27 AS (
SELECT *, uh_above_4 * EXP(- ((uh_z + (uh_c10 + (uh_c11 + uh_c12 * uh_lean_4) * uh_lean_4
      + (uh_c20 + (uh_c21 + (uh_c22 + uh_c23 * uh_lean_4) * uh_lean_4) * uh_lean_4
      + (uh_c30 + (uh_c31 + (uh_c32 + (uh_c33 + uh_c34 * uh_lean_4) * uh_lean_4) * uh_lean_4)
      * uh_lean_4 + (uh_c40 + (uh_c41 + (uh_c42 + (uh_c43 + (uh_c44 + uh_c45 * uh_lean_4)
      * uh_lean_4) * uh_lean_4) * uh_lean_4) * uh_lean_4) * uh_sd_4) * uh_sd_4) * uh_sd_4)
      * uh_sd_4) * uh_sd_4)) - uh_below_4 AS uh_excess_4 FROM uh_step_26{{ d.fence }}
),
uh_step_28 AS (
SELECT *, MAX(CASE WHEN uh_place <= CASE WHEN uh_excess_4 > 0 THEN uh_middle_4
      ELSE uh_low_part_3 END THEN uh_below_squares_part ELSE NULL
      END) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_low, MAX(CASE WHEN uh_place
      <= CASE WHEN uh_excess_4 > 0 THEN uh_next_part_3 ELSE uh_middle_4
      END THEN uh_below_squares_part ELSE NULL END) OVER (PARTITION BY {{ keys }}, uh_end)
      AS uh_next FROM uh_step_27{{ d.fence }}
),
uh_step_29 AS (
SELECT *, SUM(CASE WHEN uh_below_squares_part > uh_low THEN uh_count ELSE 0
      END) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_above_count,
    SUM(GREATEST(uh_below_squares_part - uh_next, 0) * (uh_count
      * GREATEST(uh_below_squares_part - uh_next, 0))) OVER (PARTITION BY {{ keys }}, uh_end)
      AS uh_above_squares, SUM(uh_count * GREATEST(uh_below_squares_part - uh_next,
      0)) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_above_sum,
    SUM(CASE WHEN uh_below_squares_part > uh_low THEN 0 ELSE uh_count
      END) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_below_count_part,
    SUM(GREATEST(uh_low - uh_below_squares_part, 0) * (uh_count
      * GREATEST(uh_low - uh_below_squares_part, 0))) OVER (PARTITION BY {{ keys }}, uh_end)
      AS uh_below_squares_part_2, SUM(uh_count * GREATEST(uh_low - uh_below_squares_part,
      0)) OVER (PARTITION BY {{ keys }}, uh_end) AS uh_below_sum_part,
    GREATEST(LEAST(uh_next, uh_bound_2 * uh_mass / NULLIF(uh_mass + uh_below_part, 0)), uh_low)
      AS uh_high FROM uh_step_28{{ d.fence }}
),
uh_step_30 AS (
SELECT *, uh_below_count_part + 1 AS uh_below_count,
    uh_below_squares_part_2 + uh_low * uh_low AS uh_below_squares,
    uh_below_sum_part + uh_low AS uh_below_sum FROM uh_step_29{{ d.fence }}
),
uh_step_31 AS (
SELECT *, uh_above_sum + (uh_next - uh_high) * uh_above_count AS uh_above_5,
    uh_above_squares + (uh_next - uh_high) * (2 * uh_above_sum + (uh_next - uh_high)
      * uh_above_count) AS uh_above_sq_5,
    uh_below_part * (uh_below_sum + (uh_high - uh_low) * uh_below_count) AS uh_below_5,
    uh_weight_sq * (uh_below_squares + (uh_high - uh_low) * (2 * uh_below_sum + (uh_high - uh_low)
      * uh_below_count)) AS uh_below_sq_5 FROM uh_step_30{{ d.fence }}
),
uh_step_32 AS (
SELECT *, 1 - 2 * (uh_below_sq_5 * (uh_above_5 * uh_above_5))
      / GREATEST(uh_above_sq_5 * (uh_below_5 * uh_below_5) + uh_below_sq_5
      * (uh_above_5 * uh_above_5), 1e-280) AS uh_lean_5, LEAST(SQRT(GREATEST(uh_above_sq_5
      * (uh_below_5 * uh_below_5) + uh_below_sq_5 * (uh_above_5 * uh_above_5), 1e-280))
      / GREATEST(uh_above_5 * uh_below_5, 1e-280), uh_widest) AS uh_sd_5 FROM uh_step_31{{ d.fence }}
),
uh_step_33 AS (
SELECT *, uh_above_5 * EXP(- ((uh_z + (uh_c10 + (uh_c11 + uh_c12 * uh_lean_5) * uh_lean_5
      + (uh_c20 + (uh_c21 + (uh_c22 + uh_c23 * uh_lean_5) * uh_lean_5) * uh_lean_5
      + (uh_c30 + (uh_c31 + (uh_c32 + (uh_c33 + uh_c34 * uh_lean_5) * uh_lean_5) * uh_lean_5)
      * uh_lean_5 + (uh_c40 + (uh_c41 + (uh_c42 + (uh_c43 + (uh_c44 + uh_c45 * uh_lean_5)
      * uh_lean_5) * uh_lean_5) * uh_lean_5) * uh_lean_5) * uh_sd_5) * uh_sd_5) * uh_sd_5)
      * uh_sd_5) * uh_sd_5)) - uh_below_5 AS uh_excess_5 FROM uh_step_32{{ d.fence }}
),
uh_step_34 AS (
SELECT *, GREATEST(uh_high + uh_excess_5 / NULLIF(uh_mass + uh_below_part, 0), uh_low
      + 0.02e0 * (uh_high - uh_low)) AS uh_t1 FROM uh_step_33{{ d.fence }}
),
uh_step_35 AS (
SELECT *, uh_above_sum + (uh_next - uh_t1) * uh_above_count AS uh_above_6,
    uh_above_squares + (uh_next - uh_t1) * (2 * uh_above_sum + (uh_next - uh_t1)
      * uh_above_count) AS uh_above_sq_6,
    uh_below_part * (uh_below_sum + (uh_t1 - uh_low) * uh_below_count) AS uh_below_6,
    uh_weight_sq * (uh_below_squares + (uh_t1 - uh_low) * (2 * uh_below_sum + (uh_t1 - uh_low)
      * uh_below_count)) AS uh_below_sq_6 FROM uh_step_34{{ d.fence }}
),
uh_step_36 AS (
SELECT *, 1 - 2 * (uh_below_sq_6 * (uh_above_6 * uh_above_6))
      / GREATEST(uh_above_sq_6 * (uh_below_6 * uh_below_6) + uh_below_sq_6
      * (uh_above_6 * uh_above_6), 1e-280) AS uh_lean_6, LEAST(SQRT(GREATEST(uh_above_sq_6
      * (uh_below_6 * uh_below_6) + uh_below_sq_6 * (uh_above_6 * uh_above_6), 1e-280))
      / GREATEST(uh_above_6 * uh_below_6, 1e-280), uh_widest) AS uh_sd_6 FROM uh_step_35{{ d.fence }}
),
uh_step_37 AS (
SELECT *, uh_above_6 * EXP(- ((uh_z + (uh_c10 + (uh_c11 + uh_c12 * uh_lean_6) * uh_lean_6
      + (uh_c20 + (uh_c21 + (uh_c22 + uh_c23 * uh_lean_6) * uh_lean_6) * uh_lean_6
      + (uh_c30 + (uh_c31 + (uh_c32 + (uh_c33 + uh_c34 * uh_lean_6) * uh_lean_6) * uh_lean_6)
      * uh_lean_6 + (uh_c40 + (uh_c41 + (uh_c42 + (uh_c43 + (uh_c44 + uh_c45 * uh_lean_6)
      * uh_lean_6) * uh_lean_6) * uh_lean_6) * uh_lean_6) * uh_sd_6) * uh_sd_6) * uh_sd_6)
      * uh_sd_6) * uh_sd_6)) - uh_below_6 AS uh_excess_6, 20 / NULLIF(uh_people, 0) AS uh_longest
FROM uh_step_36{{ d.fence }}
),
uh_step_38 AS (
SELECT *, LEAST(GREATEST(uh_t1 + uh_excess_6 * CASE WHEN (uh_t1 - uh_high)
      * (uh_excess_5 - uh_excess_6) > 0 THEN LEAST((uh_t1 - uh_high)
      / NULLIF(uh_excess_5 - uh_excess_6, 0), uh_longest) ELSE 0 END, uh_low + 0.02e0
      * (uh_t1 - uh_low)), uh_high) AS uh_t2 FROM uh_step_37{{ d.fence }}
),
uh_step_39 AS (
SELECT *, uh_above_sum + (uh_next - uh_t2) * uh_above_count AS uh_above_7,
    uh_above_squares + (uh_next - uh_t2) * (2 * uh_above_sum + (uh_next - uh_t2)
      * uh_above_count) AS uh_above_sq_7,
    uh_below_part * (uh_below_sum + (uh_t2 - uh_low) * uh_below_count) AS uh_below_7,
    uh_weight_sq * (uh_below_squares + (uh_t2 - uh_low) * (2 * uh_below_sum + (uh_t2 - uh_low)
      * uh_below_count)) AS uh_below_sq_7 FROM uh_step_38{{ d.fence }}
),
uh_step_40 AS (
SELECT *, 1 - 2 * (uh_below_sq_7 * (uh_above_7 * uh_above_7))
      / GREATEST(uh_above_sq_7 * (uh_below_7 * uh_below_7) + uh_below_sq_7
      * (uh_above_7 * uh_above_7), 1e-280) AS uh_lean_7, LEAST(SQRT(GREATEST(uh_above_sq_7
      * (uh_below_7 * uh_below_7) + uh_below_sq_7 * (uh_above_7 * uh_above_7), 1e-280))
      / GREATEST(uh_above_7 * uh_below_7, 1e-280), uh_widest) AS uh_sd_7 FROM uh_step_39{{ d.fence }}
),
uh_step_41 AS (
SELECT *, uh_above_7 * EXP(- ((uh_z + (uh_c10 + (uh_c11 + uh_c12 * uh_lean_7) * uh_lean_7
      + (uh_c20 + (uh_c21 + (uh_c22 + uh_c23 * uh_lean_7) * uh_lean_7) * uh_lean_7
      + (uh_c30 + (uh_c31 + (uh_c32 + (uh_c33 + uh_c34 * uh_lean_7) * uh_lean_7) * uh_lean_7)
      * uh_lean_7 + (uh_c40 + (uh_c41 + (uh_c42 + (uh_c43 + (uh_c44 + uh_c45 * uh_lean_7)
      * uh_lean_7) * uh_lean_7) * uh_lean_7) * uh_lean_7) * uh_sd_7) * uh_sd_7) * uh_sd_7)
      * uh_sd_7) * uh_sd_7)) - uh_below_7 AS uh_excess_7 FROM uh_step_40{{ d.fence }}
),
uh_step_42 AS (
SELECT *, LEAST(GREATEST(uh_t2 + uh_excess_7 * CASE WHEN (uh_t2 - uh_t1)
      * (uh_excess_6 - uh_excess_7) > 0 THEN LEAST((uh_t2 - uh_t1)
      / NULLIF(uh_excess_6 - uh_excess_7, 0), uh_longest) ELSE 0 END, uh_low + 0.02e0
      * (uh_t2 - uh_low)), uh_high) AS uh_t3 FROM uh_step_41{{ d.fence }}
),
uh_step_43 AS (
SELECT *, uh_above_sum + (uh_next - uh_t3) * uh_above_count AS uh_above_8,
    uh_above_squares + (uh_next - uh_t3) * (2 * uh_above_sum + (uh_next - uh_t3)
      * uh_above_count) AS uh_above_sq_8,
    uh_below_part * (uh_below_sum + (uh_t3 - uh_low) * uh_below_count) AS uh_below_8,
    uh_weight_sq * (uh_below_squares + (uh_t3 - uh_low) * (2 * uh_below_sum + (uh_t3 - uh_low)
      * uh_below_count)) AS uh_below_sq_8 FROM uh_step_42{{ d.fence }}
),
uh_step_44 AS (
SELECT *, 1 - 2 * (uh_below_sq_8 * (uh_above_8 * uh_above_8))
      / GREATEST(uh_above_sq_8 * (uh_below_8 * uh_below_8) + uh_below_sq_8
      * (uh_above_8 * uh_above_8), 1e-280) AS uh_lean_8, LEAST(SQRT(GREATEST(uh_above_sq_8
      * (uh_below_8 * uh_below_8) + uh_below_sq_8 * (uh_above_8 * uh_above_8), 1e-280))
      / GREATEST(uh_above_8 * uh_below_8, 1e-280), uh_widest) AS uh_sd_8 FROM uh_step_43{{ d.fence }}
),
uh_step_45 AS (
SELECT *, uh_above_8 * EXP(- ((uh_z + (uh_c10 + (uh_c11 + uh_c12 * uh_lean_8) * uh_lean_8
      + (uh_c20 + (uh_c21 + (uh_c22 + uh_c23 * uh_lean_8) * uh_lean_8) * uh_lean_8
      + (uh_c30 + (uh_c31 + (uh_c32 + (uh_c33 + uh_c34 * uh_lean_8) * uh_lean_8) * uh_lean_8)
      * uh_lean_8 + (uh_c40 + (uh_c41 + (uh_c42 + (uh_c43 + (uh_c44 + uh_c45 * uh_lean_8)
      * uh_lean_8) * uh_lean_8) * uh_lean_8) * uh_lean_8) * uh_sd_8) * uh_sd_8) * uh_sd_8)
      * uh_sd_8) * uh_sd_8)) - uh_below_8 AS uh_excess_8 FROM uh_step_44{{ d.fence }}
),
uh_step_46 AS (
SELECT *, LEAST(GREATEST(uh_t3 + uh_excess_8 * CASE WHEN (uh_t3 - uh_t2)
      * (uh_excess_7 - uh_excess_8) > 0 THEN LEAST((uh_t3 - uh_t2)
      / NULLIF(uh_excess_7 - uh_excess_8, 0), uh_longest) ELSE 0 END, uh_low + 0.02e0
      * (uh_t3 - uh_low)), uh_high) AS uh_t4 FROM uh_step_45{{ d.fence }}
),
uh_step_47 AS (
SELECT *, uh_above_sum + (uh_next - uh_t4) * uh_above_count AS uh_above_9,
    uh_above_squares + (uh_next - uh_t4) * (2 * uh_above_sum + (uh_next - uh_t4)
      * uh_above_count) AS uh_above_sq_9,
    uh_below_part * (uh_below_sum + (uh_t4 - uh_low) * uh_below_count) AS uh_below_9,
    uh_weight_sq * (uh_below_squares + (uh_t4 - uh_low) * (2 * uh_below_sum + (uh_t4 - uh_low)
      * uh_below_count)) AS uh_below_sq_9 FROM uh_step_46{{ d.fence }}
),
uh_step_48 AS (
SELECT *, 1 - 2 * (uh_below_sq_9 * (uh_above_9 * uh_above_9))
      / GREATEST(uh_above_sq_9 * (uh_below_9 * uh_below_9) + uh_below_sq_9
      * (uh_above_9 * uh_above_9), 1e-280) AS uh_lean_9, LEAST(SQRT(GREATEST(uh_above_sq_9
      * (uh_below_9 * uh_below_9) + uh_below_sq_9 * (uh_above_9 * uh_above_9), 1e-280))
      / GREATEST(uh_above_9 * uh_below_9, 1e-280), uh_widest) AS uh_sd_9 FROM uh_step_47{{ d.fence }}
),
uh_step_49 AS (
SELECT *, uh_above_9 * EXP(- ((uh_z + (uh_c10 + (uh_c11 + uh_c12 * uh_lean_9) * uh_lean_9
      + (uh_c20 + (uh_c21 + (uh_c22 + uh_c23 * uh_lean_9) * uh_lean_9) * uh_lean_9
      + (uh_c30 + (uh_c31 + (uh_c32 + (uh_c33 + uh_c34 * uh_lean_9) * uh_lean_9) * uh_lean_9)
      * uh_lean_9 + (uh_c40 + (uh_c41 + (uh_c42 + (uh_c43 + (uh_c44 + uh_c45 * uh_lean_9)
      * uh_lean_9) * uh_lean_9) * uh_lean_9) * uh_lean_9) * uh_sd_9) * uh_sd_9) * uh_sd_9)
      * uh_sd_9) * uh_sd_9)) - uh_below_9 AS uh_excess_9 FROM uh_step_48{{ d.fence }}
),
uh_step_50 AS (
SELECT *, LEAST(GREATEST(uh_t4 + uh_excess_9 * CASE WHEN (uh_t4 - uh_t3)
      * (uh_excess_8 - uh_excess_9) > 0 THEN LEAST((uh_t4 - uh_t3)
      / NULLIF(uh_excess_8 - uh_excess_9, 0), uh_longest) ELSE 0 END, uh_low + 0.02e0
      * (uh_t4 - uh_low)), uh_high) AS uh_t5 FROM uh_step_49{{ d.fence }}
),
uh_step_51 AS (
SELECT *, uh_above_sum + (uh_next - uh_t5) * uh_above_count AS uh_above_10,
    uh_above_squares + (uh_next - uh_t5) * (2 * uh_above_sum + (uh_next - uh_t5)
      * uh_above_count) AS uh_above_sq_10,
    uh_below_part * (uh_below_sum + (uh_t5 - uh_low) * uh_below_count) AS uh_below_10,
    uh_weight_sq * (uh_below_squares + (uh_t5 - uh_low) * (2 * uh_below_sum + (uh_t5 - uh_low)
      * uh_below_count)) AS uh_below_sq_10 FROM uh_step_50{{ d.fence }}
),
uh_step_52 AS (
SELECT *, 1 - 2 * (uh_below_sq_10 * (uh_above_10 * uh_above_10))
      / GREATEST(uh_above_sq_10 * (uh_below_10 * uh_below_10) + uh_below_sq_10
      * (uh_above_10 * uh_above_10), 1e-280) AS uh_lean_10, LEAST(SQRT(GREATEST(uh_above_sq_10
      * (uh_below_10 * uh_below_10) + uh_below_sq_10 * (uh_above_10 * uh_above_10), 1e-280))
      / GREATEST(uh_above_10 * uh_below_10, 1e-280), uh_widest) AS uh_sd_10 FROM uh_step_51{{ d.fence }}
),
uh_step_53 AS (
SELECT *, uh_above_10 * EXP(- ((uh_z + (uh_c10 + (uh_c11 + uh_c12 * uh_lean_10) * uh_lean_10
      + (uh_c20 + (uh_c21 + (uh_c22 + uh_c23 * uh_lean_10) * uh_lean_10) * uh_lean_10
      + (uh_c30 + (uh_c31 + (uh_c32 + (uh_c33 + uh_c34 * uh_lean_10) * uh_lean_10) * uh_lean_10)
      * uh_lean_10 + (uh_c40 + (uh_c41 + (uh_c42 + (uh_c43 + (uh_c44 + uh_c45 * uh_lean_10)
      * uh_lean_10) * uh_lean_10) * uh_lean_10) * uh_lean_10) * uh_sd_10) * uh_sd_10) * uh_sd_10)
      * uh_sd_10) * uh_sd_10)) - uh_below_10 AS uh_excess_10 FROM uh_step_52{{ d.fence }}
),
uh_step_54 AS (
SELECT *, CASE WHEN uh_sum_2 > 0 THEN LEAST(GREATEST(uh_t5 + uh_excess_10 * CASE WHEN (uh_t5
      - uh_t4) * (uh_excess_9 - uh_excess_10) > 0 THEN LEAST((uh_t5 - uh_t4)
      / NULLIF(uh_excess_9 - uh_excess_10, 0), uh_longest) ELSE 0 END, uh_low + 0.02e0
      * (uh_t5 - uh_low)), uh_high) ELSE 0 END AS uh_limit FROM uh_step_53{{ d.fence }}
),
uh_step_55 AS (
SELECT *, MAX(CASE WHEN uh_end = 'lower' THEN uh_limit END) OVER (PARTITION BY {{ keys }})
      AS uh_lower_limit, MAX(CASE WHEN uh_end = 'upper' THEN uh_limit
      END) OVER (PARTITION BY {{ keys }}) AS uh_upper_limit FROM uh_step_54{{ d.fence }}
),
uh_computed AS (
SELECT {{ keys }}, CASE WHEN uh_people > 0 THEN (uh_lower + uh_upper) / 2
      ELSE (uh_scale_lowest + uh_scale_highest) / 2 END AS estimate,
    CASE WHEN uh_people > 0 THEN uh_lower ELSE uh_scale_lowest END AS lower,
    CASE WHEN uh_people > 0 THEN uh_upper ELSE uh_scale_highest END AS upper,
    CASE WHEN uh_people > 0 THEN LEAST(uh_scale_lowest + uh_lower_limit, uh_lower)
      ELSE uh_scale_lowest END AS ci_lower, CASE WHEN uh_people > 0 THEN GREATEST(uh_scale_highest
      - uh_upper_limit, uh_upper) ELSE uh_scale_highest END AS ci_upper,
    CASE WHEN uh_people > 0 THEN uh_average_part_2 ELSE NULL END AS average, uh_people AS n_ratings,
    CASE WHEN uh_people > 0 THEN 0 ELSE 1 END AS uh_note_no_ratings, CASE WHEN uh_people
      > 0 THEN CASE WHEN uh_people < 10 THEN 1 ELSE 0 END ELSE 0 END AS uh_note_few_ratings,
    CASE WHEN uh_n_rows - uh_people > 0 THEN 1 ELSE 0 END AS uh_note_rows_dropped
FROM uh_step_55 WHERE uh_end = 'lower' AND uh_place = 1
),
{%- if ranks %}
uh_rated AS (
SELECT * FROM uh_computed
),
uh_ends AS (
/* All ends of intervals, sorted once, give the possible ranks. */
SELECT {{ keys }}, lower AS uh_place, 1 AS uh_is_lower
FROM uh_rated UNION ALL SELECT {{ keys }}, upper AS uh_place, 0 AS uh_is_lower FROM uh_rated
),
uh_placed AS (
/* Counts from the highest end down to each. */
SELECT {{ keys }}, uh_is_lower, COUNT(*) OVER (ORDER BY uh_place DESC,
      uh_is_lower ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS uh_passed,
    COUNT(CASE WHEN uh_is_lower = 1 THEN 1 END) OVER (ORDER BY uh_place DESC,
      uh_is_lower ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS uh_lowers FROM uh_ends
),
uh_ranks AS (
/* The ranks that every item may have. */
SELECT {{ keys }}, MAX(CASE WHEN uh_is_lower = 0 THEN uh_lowers + 1 END) AS best_rank,
    MAX(CASE WHEN uh_is_lower = 1 THEN uh_passed - uh_lowers END) AS worst_rank
FROM uh_placed GROUP BY {{ keys }}
),
uh_rated_with_ranks AS (
SELECT uh_rated.*, uh_ranks.best_rank, uh_ranks.worst_rank
FROM uh_rated LEFT JOIN uh_ranks ON {{ unheard.match_items(item, 'uh_rated', 'uh_ranks') }}
)
SELECT {{ keys }}, CAST(n_ratings AS {{ d.bigint }}) AS n_ratings, CAST(NULL AS {{ d.bigint }}) AS n,
    CAST(average AS {{ d.double }}) AS average, CAST(estimate AS {{ d.double }}) AS estimate,
    CAST(lower AS {{ d.double }}) AS lower, CAST(upper AS {{ d.double }}) AS upper,
    CAST(ci_lower AS {{ d.double }}) AS ci_lower, CAST(ci_upper AS {{ d.double }}) AS ci_upper,
    CAST(best_rank AS {{ d.bigint }}) AS best_rank, CAST(worst_rank AS {{ d.bigint }}) AS worst_rank,
    CAST(NULL AS {{ d.bigint }}) AS ci_best_rank, CAST(NULL AS {{ d.bigint }}) AS ci_worst_rank,
    SUBSTRING(CASE WHEN uh_note_no_ratings = 1 THEN ' no_ratings' ELSE '' END
      {{ d.join }} CASE WHEN uh_note_few_ratings = 1 THEN ' few_ratings' ELSE '' END
      {{ d.join }} CASE WHEN uh_note_rows_dropped = 1 THEN ' rows_dropped' ELSE '' END, 2, 400) AS notes
FROM uh_rated_with_ranks
{%- else %}
uh_rated AS (
SELECT * FROM uh_computed
)
SELECT {{ keys }}, CAST(n_ratings AS {{ d.bigint }}) AS n_ratings, CAST(NULL AS {{ d.bigint }}) AS n,
    CAST(average AS {{ d.double }}) AS average, CAST(estimate AS {{ d.double }}) AS estimate,
    CAST(lower AS {{ d.double }}) AS lower, CAST(upper AS {{ d.double }}) AS upper,
    CAST(ci_lower AS {{ d.double }}) AS ci_lower, CAST(ci_upper AS {{ d.double }}) AS ci_upper,
    CAST(NULL AS {{ d.bigint }}) AS best_rank, CAST(NULL AS {{ d.bigint }}) AS worst_rank,
    CAST(NULL AS {{ d.bigint }}) AS ci_best_rank, CAST(NULL AS {{ d.bigint }}) AS ci_worst_rank,
    SUBSTRING(CASE WHEN uh_note_no_ratings = 1 THEN ' no_ratings' ELSE '' END
      {{ d.join }} CASE WHEN uh_note_few_ratings = 1 THEN ' few_ratings' ELSE '' END
      {{ d.join }} CASE WHEN uh_note_rows_dropped = 1 THEN ' rows_dropped' ELSE '' END, 2, 400) AS notes
FROM uh_rated
{%- endif %}
{%- endmacro %}
