{{ config(materialized='view') }}
SELECT o.id, c.name, o.amount
FROM {{ source('shop', 'orders') }} o
JOIN {{ ref('customers') }} c ON o.customer = c.id
