
"use strict";
(() => {
  const WIDTH = 560;
  const HEIGHT = 180;
  const LEFT = 58;
  const BOTTOM = 22;
  const first = JSON.parse(document.getElementById("data").textContent);
  const count = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
  const DAY = 86400;
  const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  function drawn(tag, attributes, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  const moment = (batch) => Date.parse(batch.time) + batch.duration_ms;

  /** Lines by name: for each batch what `values` says of it, pairs of a name and a number. */
  function lines(batches, values) {
    const found = new Map();
    for (const batch of batches) {
      for (const [name, value] of values(batch)) {
        if (value === null || !Number.isFinite(value)) continue;
        if (!found.has(name)) found.set(name, []);
        found.get(name).push([moment(batch), value]);
      }
    }
    return found;
  }

  /** Seconds in people's units: 42 s, 7 min, 5 h, 329 d. */
  function duration(seconds) {
    const [name, length] = [["d", DAY], ["h", 3600], ["min", 60], ["s", 1]].find(([, most]) => Math.abs(seconds) >= 2 * most) ?? ["s", 1];
    return `${count.format(Math.abs(seconds / length))} ${name}`;
  }

  function behind(seconds) {
    if (seconds < 0) return `${duration(seconds)} ahead`;
    return seconds > DAY ? `${duration(seconds)} (historical data)` : duration(seconds);
  }

  /** Seconds from the watermark to the clock; null where there is none, and at the end of the input. */
  const behindClock = (batch) => {
    const watermark = Date.parse(`${(batch.watermark ?? "").replace(" ", "T")}Z`);
    return Number.isNaN(watermark) ? null : (moment(batch) - watermark) / 1000;
  };

  function chart(title, unit, found, told = (value) => `${count.format(value)} ${unit}`, tick = (value) => short.format(value)) {
    const points = [...found.values()].flat();
    if (!points.length) return [];
    const times = points.map(([time]) => time);
    const from = Math.min(...times);
    const span = Math.max(Math.max(...times) - from, 1);
    const most = Math.max(...points.map(([, value]) => value), 0) || 1;
    const x = (time) => LEFT + ((WIDTH - LEFT - 8) * (time - from)) / span;
    const y = (value) => HEIGHT - BOTTOM - ((HEIGHT - BOTTOM - 8) * Math.max(value, 0)) / most;
    const svg = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": title });
    for (const part of [0, 0.5, 1]) {
      svg.append(drawn("line", { class: "grid", x1: LEFT, x2: WIDTH - 8, y1: y(part * most), y2: y(part * most) }));
      svg.append(drawn("text", { x: LEFT - 6, y: y(part * most) + 4, "text-anchor": "end" }, tick(part * most)));
    }
    svg.append(drawn("text", { x: LEFT, y: HEIGHT - 4 }, new Date(from).toISOString().slice(11, 19)));
    const end = new Date(from + span).toISOString().slice(11, 19);
    svg.append(drawn("text", { x: WIDTH - 8, y: HEIGHT - 4, "text-anchor": "end" }, end));
    const legend = element("p", { class: "legend" });
    [...found].forEach(([name, line], i) => {
      const path = line.map(([time, value], at) => `${at ? "L" : "M"}${x(time).toFixed(1)} ${y(value).toFixed(1)}`).join("");
      svg.append(drawn("path", { class: `line line-${i % 6}`, d: path }));
      const [time, value] = line.at(-1);
      svg.append(drawn("circle", { class: `dot line-${i % 6}`, cx: x(time), cy: y(value), r: 2.5 }));
      legend.append(element("span", { class: `key line-${i % 6}` }, `${name}: ${told(value)}`));
    });
    return [element("figure", {}, element("figcaption", {}, title), svg, legend)];
  }

  function totals(batches) {
    const sinks = new Map();
    const operators = new Map();
    for (const batch of batches) {
      const sum = sinks.get(batch.sink) ?? { read: 0, written: 0, late: 0 };
      sum.read += batch.rows_read;
      sum.written += batch.rows_written;
      sum.late += batch.rows_dropped;
      sinks.set(batch.sink, { ...sum, watermark: batch.watermark ?? "", batch: batch.batch });
      for (const each of batch.operators) operators.set(`${batch.sink} ${each.name}`, each);
    }
    const row = (tag, cells) => element("tr", {}, ...cells.map((cell) => element(tag, {}, String(cell))));
    const table = (heads, rows) => element("table", {}, row("th", heads), ...rows.map((cells) => row("td", cells)));
    const bySink = [...sinks].map(([name, sum]) => [
      name, sum.batch, count.format(sum.read), count.format(sum.written), count.format(sum.late), sum.watermark,
    ]);
    const byOperator = [...operators].map(([name, each]) => [
      name, each.state_rows === null ? "not counted" : count.format(each.state_rows), count.format(each.memory_bytes),
    ]);
    return [
      table(["sink", "last batch", "rows in", "rows out", "too late", "watermark"], bySink),
      ...(byOperator.length ? [table(["operator", "rows of state", "bytes of state"], byOperator)] : []),
    ];
  }

  /** Why rows do not come out: a list, by sink. */
  function reasons(diagnoses) {
    if (!diagnoses.length) return [];
    const items = diagnoses.map((each) => element(
      "li", {}, element("b", {}, `${each.sink}: `), each.message,
      ...(each.hint ? [element("p", { class: "legend" }, each.hint)] : []),
    ));
    return [element("h2", {}, "What keeps rows back"), element("ul", {}, ...items)];
  }

  const perSecond = (rows, batch) => rows / Math.max(batch.duration_ms / 1000, 0.001);
  const byOperator = (batch, value) => batch.operators.map((each) => [`${batch.sink} ${each.name}`, value(each)]);

  function show({ title, state, batches, diagnoses }) {
    document.getElementById("title").textContent = title;
    document.getElementById("subtitle").textContent = `${state}, ${batches.length ? batches.at(-1).time : "no batch yet"}`;
    document.getElementById("totals").replaceChildren(...totals(batches));
    document.getElementById("reasons").replaceChildren(...reasons(diagnoses));
    document.getElementById("charts").replaceChildren(
      ...chart("Rows in", "rows/s", lines(batches, (b) => [[b.sink, perSecond(b.rows_read, b)]])),
      ...chart("Rows out", "rows/s", lines(batches, (b) => [[b.sink, perSecond(b.rows_written, b)]])),
      ...chart("Time of a batch", "ms", lines(batches, (b) => [[b.sink, b.duration_ms]])),
      ...chart("Watermark behind the clock", "s", lines(batches, (b) => [[b.sink, behindClock(b)]]), behind, duration),
      ...["messages", "files", "bytes"].flatMap((unit) => chart(`Still to be read: ${unit}`, unit, lines(batches, (b) =>
        (b.lag ?? []).filter((each) => each.unit === unit).map((each) => [`${b.sink} ${each.source}`, each.lag])))),
      ...chart("Rows of state written", "rows", lines(batches, (b) => byOperator(b, (each) => each.updated_rows))),
      ...chart("Memory of state", "bytes", lines(batches, (b) => byOperator(b, (each) => each.memory_bytes))),
      ...chart("Rows too late", "rows", lines(batches, (b) => byOperator(b, (each) => each.dropped_rows))),
    );
  }

  async function follow() {
    try {
      show(await (await fetch("/data")).json());
      setTimeout(follow, 1000);
    } catch {
      document.getElementById("subtitle").textContent = "the job has ended, or cannot be reached";
    }
  }

  document.getElementById("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  show(first);
  if (first.live) follow();
})();
