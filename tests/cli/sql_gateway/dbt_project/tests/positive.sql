SELECT * FROM {{ ref('totals') }} WHERE total <= 0
