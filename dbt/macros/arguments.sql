{#- The arguments of `rate`, checked: a dictionary of what is asked. -#}
{% macro read_arguments(item, rating, counts, q, q_column, quiet, n_column, n_table, scale, level) %}
{%- set items = unheard.read_names('item', item) -%}
{%- if (rating is none) == (counts is none) -%}
  {{ unheard.refuse('give either rating or counts. Name the rating column of a table with a row '
                    ~ 'per rating, or the columns of a table of counts') }}
{%- endif -%}
{%- set counted = [] if counts is none else unheard.read_names('counts', counts) -%}
{%- set ratio = unheard.read_q(q, q_column) -%}
{%- set direction = ratio[1] if quiet is none else quiet -%}
{%- if direction not in ['any', 'low', 'high', 'middle'] -%}
  {{ unheard.refuse("quiet must be 'any', 'low', 'high' or 'middle'; got " ~ unheard.show(direction)
                    ~ '. Choose who may respond less often') }}
{%- endif -%}
{%- set values = unheard.read_scale(scale, counted) -%}
{%- if direction == 'middle' and values | length < 3 -%}
  {{ unheard.refuse("quiet='middle' requires a scale of three values or more; got "
                    ~ unheard.show(values) ~ ". Use quiet='any'") }}
{%- endif -%}
{%- if n_table is not none and n_column is none -%}
  {{ unheard.refuse('n_table requires n_column. Name the column with the number of people') }}
{%- endif -%}
{%- if level is not none and level | string not in unheard.level_numbers() -%}
  {{ unheard.refuse('level must be ' ~ unheard.level_numbers() | join(', ') ~ ' or none; got '
                    ~ unheard.show(level) ~ '. For another level, write the model with: unheard '
                    ~ 'sql --dbt') }}
{%- endif -%}
{%- set formula = direction ~ ('' if n_column is none else '_with_n')
                  ~ ('_bounds' if level is none else '_limits') -%}
{{ return({'item': items, 'counts': counted, 'q': ratio[0], 'quiet': direction, 'scale': values,
           'level': level, 'formula': formula}) }}
{% endmacro %}

{#- The names of one column or of several. -#}
{% macro read_names(argument, given) %}
{%- set names = [given] if given is string else given -%}
{%- if names is not iterable or names is mapping or not names -%}
  {{ unheard.refuse(argument ~ ' must be the name of a column or a list of names; got '
                    ~ unheard.show(given) ~ ". Use names such as 'hotel'") }}
{%- endif -%}
{%- for name in names -%}
  {%- if name is not string or not name -%}
    {{ unheard.refuse(argument ~ ' must name columns; got ' ~ unheard.show(name)
                      ~ ". Use names such as 'hotel'") }}
  {%- elif name | lower | replace('"', '') in unheard.limits().columns and argument == 'item' -%}
    {{ unheard.refuse('a column of the result has the name of this column; got '
                      ~ unheard.show(name) ~ '. Rename the column in a model before') }}
  {%- elif (name | lower)[:3] == 'uh_' -%}
    {{ unheard.refuse("the column's name begins with uh_, which is reserved for the query; got "
                      ~ unheard.show(name) ~ '. Rename the column in a model before') }}
  {%- endif -%}
{%- endfor -%}
{{ return(names | list) }}
{% endmacro %}

{#- q and the direction that goes with it: of a preset or a study its own. -#}
{% macro read_q(q, q_column) %}
{%- if q is not none and q_column is not none -%}
  {{ unheard.refuse('q and q_column cannot be combined. Give one of them') }}
{%- elif q_column is not none -%}
  {{ return([none, 'any']) }}
{%- elif q is none -%}
  {{ unheard.refuse('an assumption about who responds is required. Give q (0.5 suits surveys that '
                    ~ 'people are asked to fill in, 0.3 open review sites, 0.1 media that people '
                    ~ 'choose themselves) or q_column') }}
{%- elif q is string -%}
  {%- if q not in unheard.values_of_q() -%}
    {{ unheard.refuse('q must be a number or the name of a preset or study; got '
                      ~ unheard.show(q) ~ '. Use a number, ' ~ unheard.values_of_q() | join(', ')
                      ~ '; name a column of the table with q_column') }}
  {%- endif -%}
  {{ return(unheard.values_of_q()[q]) }}
{%- elif q is boolean or q is not number or not 0 < q <= 1 -%}
  {{ unheard.refuse('q must be in (0, 1]; got ' ~ unheard.show(q) ~ '. With 0.3, the people who '
                    ~ 'respond least often do so at least 0.3 times as often as those who respond '
                    ~ 'most often') }}
{%- endif -%}
{{ return([q, 'any']) }}
{% endmacro %}

{#- The values that a rating may take: ascending numbers. -#}
{% macro read_scale(scale, counted) %}
{%- if scale is none -%}
  {%- set values = range(1, (counted | length or 5) + 1) | list -%}
{%- elif scale is string or scale is mapping or scale is not iterable -%}
  {{ unheard.refuse('scale must be a list of numbers; got ' ~ unheard.show(scale)
                    ~ '. Use ascending values such as [1, 2, 3, 4, 5]') }}
{%- else -%}
  {%- set values = scale | list -%}
{%- endif -%}
{%- set most = unheard.limits().ratings -%}
{%- if values | length < 2 -%}
  {{ unheard.refuse('scale must have at least two values; got ' ~ unheard.show(values)
                    ~ '. Use ascending values such as [1, 2, 3, 4, 5]') }}
{%- elif values | length > most -%}
  {{ unheard.refuse('scale must have at most ' ~ most ~ ' values; got ' ~ values | length
                    ~ '. For a longer scale, write the model with: unheard sql --dbt') }}
{%- elif counted and counted | length != values | length -%}
  {{ unheard.refuse('counts has ' ~ counted | length ~ ' columns for a scale of '
                    ~ values | length ~ ' values. Name one column for each value of the scale, '
                    ~ 'lowest first') }}
{%- endif -%}
{%- for value in values -%}
  {%- if value is boolean or value is not number -%}
    {{ unheard.refuse('scale[' ~ loop.index0 ~ '] must be a number; got ' ~ unheard.show(value)
                      ~ '. Use ascending values such as [1, 2, 3, 4, 5]') }}
  {%- elif not loop.first and not value > loop.previtem -%}
    {{ unheard.refuse('scale[' ~ loop.index0 ~ '] must be above the value before it, which is '
                      ~ loop.previtem ~ '; got ' ~ value
                      ~ '. Use ascending values such as [1, 2, 3, 4, 5]') }}
  {%- endif -%}
{%- endfor -%}
{{ return(values) }}
{% endmacro %}

{% macro show(value) %}{{ return("'" ~ value ~ "'" if value is string else value) }}{% endmacro %}

{#- What is wrong, what was given, what to do. -#}
{% macro refuse(message) %}
{{ exceptions.raise_compiler_error('unheard.rate: ' ~ message ~ '.') }}
{% endmacro %}

{% macro default__dialect() %}
{{ unheard.refuse('the adapter ' ~ target.type ~ ' is not supported. Write the model with: unheard '
                  ~ 'sql --dbt') }}
{% endmacro %}
