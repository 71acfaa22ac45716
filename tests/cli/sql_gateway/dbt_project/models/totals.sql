{{ config(connector_properties={'connector': 'filesystem', 'format': 'json', 'path': 'FOLDER/data/totals'}) }}
SELECT name, SUM(amount) AS total FROM {{ ref('named') }} GROUP BY name
