{% macro waiting() %}{% if execute %}{% do run_query("SET 'table.dml-sync' = 'true'") %}{% endif %}{% endmacro %}
