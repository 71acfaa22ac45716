{{ config(
  type='streaming',
  connector_properties={'connector': 'filesystem', 'format': 'json', 'path': 'FOLDER/data/expensive'}
) }}
SELECT id, name FROM {{ ref('named') }} WHERE amount > 4
