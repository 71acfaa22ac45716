"""``flinkplan init``."""

from __future__ import annotations

from pathlib import Path

import click

_SQL = """\
-- A pipeline: tables, then one INSERT (or EXECUTE STATEMENT SET BEGIN ... END).
--
--   flinkplan compile {name} -o plan.json      the plan, to be kept in git
--   flinkplan explain plan.json                its operators, states and TTLs
--   flinkplan execute plan.json --var DATA=data --var OUT=out

-- How long state is kept after its last use; a plan can say it for each state: flinkplan ttl plan.json
SET 'table.exec.state.ttl' = '1 d';

CREATE TABLE orders (
  order_id   BIGINT,
  product    STRING,
  amount     DECIMAL(10, 2),
  order_time TIMESTAMP(3),
  -- rows may come up to five seconds late
  WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${{DATA}}/orders',   -- ${{...}} is replaced when the plan runs, so no path lands in git
  'format' = 'json'
);

CREATE TABLE sales_per_hour (
  product      STRING,
  window_start TIMESTAMP(3),
  orders       BIGINT,
  amount       DECIMAL(38, 2)
) WITH (
  'connector' = 'filesystem',
  'path' = '${{OUT}}/sales_per_hour',
  'format' = 'json'
);

INSERT INTO sales_per_hour
SELECT product, window_start, COUNT(*), SUM(amount)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '1' HOUR))
GROUP BY product, window_start, window_end;
"""

_DATA = """\
{"order_id": 1, "product": "tea", "amount": 4.50, "order_time": "2024-01-01 10:05:00"}
{"order_id": 2, "product": "cake", "amount": 3.20, "order_time": "2024-01-01 10:40:00"}
{"order_id": 3, "product": "tea", "amount": 9.00, "order_time": "2024-01-01 10:59:59"}
{"order_id": 4, "product": "tea", "amount": 4.50, "order_time": "2024-01-01 11:20:00"}
"""


@click.command(short_help="Write a commented pipeline to start from.")
@click.argument("folder", default=".", type=click.Path(file_okay=False))
def command(folder: str) -> None:
    """Write a commented pipeline.sql with a little data into FOLDER (here, unless given)."""
    from ..plan.document import write_text
    from ..plan.errors import PlanError

    target = Path(folder)
    files = {target / "pipeline.sql": _SQL.format(name="pipeline.sql"), target / "data/orders/orders.json": _DATA}
    for file in files:
        if file.exists():
            raise PlanError("the file exists already", where=str(file), hint="name another folder")
    for file, text in files.items():
        write_text(file, text)
        click.echo(f"wrote {file}", err=True)
    click.echo(f"next: flinkplan compile {target / 'pipeline.sql'} -o {target / 'plan.json'}", err=True)
