
"use strict";
/** Where the boxes and arrows of a graph lie, and its chains: operators that follow one another. */
const drawing = (() => {
  const inputsOf = (graph, key) => graph.edges.filter((e) => e.target === key).map((e) => e.source);
  const readersOf = (graph, key) => graph.edges.filter((e) => e.source === key).map((e) => e.target);

  /** Runs of nodes each of which alone reads the one before, with at most one that keeps state; by their last key. */
  function chains(graph) {
    const byKey = new Map(graph.nodes.map((node) => [node.key, node]));
    const next = new Map();
    for (const node of graph.nodes) {
      const readers = readersOf(graph, node.key);
      const reader = byKey.get(readers[0]);
      if (readers.length !== 1 || inputsOf(graph, reader.key).length !== 1) continue;
      if ([node, reader].some((each) => each.mark || each.verdict)) continue;
      next.set(node.key, reader.key);
    }
    const followers = new Set(next.values());
    const found = new Map();
    for (const node of graph.nodes) {
      if (followers.has(node.key)) continue;
      let run = [];
      for (let key = node.key; key !== undefined; key = next.get(key)) {
        const each = byKey.get(key);
        if (each.stateful && run.some((other) => other.stateful)) {
          keep(run);
          run = [];
        }
        run.push(each);
      }
      keep(run);
    }
    function keep(run) {
      if (run.length > 1) found.set(`chain:${run.at(-1).key}`, run);
    }
    return found;
  }

  /** The box of a chain is called by the operator that keeps state, reads or writes a table, or comes first. */
  function chainNode(graph, key, members) {
    const reads = inputsOf(graph, members[0].key).length > 0;
    const writes = readersOf(graph, members.at(-1).key).length === 0;
    const main = members.find((each) => each.stateful) || (!reads && members[0]) || (writes && members.at(-1)) || members[0];
    const tables = [];
    if (!reads && main !== members[0]) tables.push(`${members[0].about} →`);
    if (writes && main !== members.at(-1)) tables.push(`→ ${members.at(-1).about}`);
    return { ...main, key, members, badges: [...tables, ...main.badges, `chain of ${members.length}`] };
  }

  /** Turns the layout over where most left inputs came to lie on the right. */
  function mirror(layout, graph, unit) {
    const sides = graph.nodes.map((node) => inputsOf(graph, node.key).map((key) => layout.node(unit(key))?.x));
    const wrong = sides.filter((xs) => xs.length > 1 && xs[0] > xs.at(-1)).length;
    const right = sides.filter((xs) => xs.length > 1 && xs[0] < xs.at(-1)).length;
    if (wrong <= right) return;
    const { width } = layout.graph();
    for (const key of layout.nodes()) layout.node(key).x = width - layout.node(key).x;
    for (const name of layout.edges()) {
      const edge = layout.edge(name);
      edge.x = width - edge.x;
      for (const point of edge.points) point.x = width - point.x;
    }
  }

  /** How high each row of boxes is, by the middle of the row. */
  function rows(layout) {
    const heights = new Map();
    for (const key of layout.nodes()) {
      const { y, height } = layout.node(key);
      heights.set(Math.round(y), Math.max(height, heights.get(Math.round(y)) || 0));
    }
    return heights;
  }

  /** An arrow that bends between rows only, and goes straight down beside the boxes of a row. */
  function route(layout, name, heights) {
    const from = layout.node(name.v);
    const to = layout.node(name.w);
    const inner = layout.edge(name).points.slice(1, -1);
    const within = (x, box) => Math.min(Math.max(x, box.x - box.width / 2 + 14), box.x + box.width / 2 - 14);
    const half = (y) => (heights.get(Math.round(y)) || 0) / 2;
    const start = within(inner.length ? inner[0].x : to.x, from);
    const end = within(inner.length ? inner.at(-1).x : from.x, to);
    const stops = [[start, from.y + from.height / 2, from.y + half(from.y)]];
    for (const { x, y } of inner) stops.push([x, y - half(y), y + half(y)]);
    stops.push([end, to.y - half(to.y), to.y - to.height / 2]);
    let path = `M${stops[0][0]} ${stops[0][1]}`;
    stops.forEach(([x, top, bottom], i) => {
      if (i) {
        const [before, , above] = stops[i - 1];
        const middle = (above + top) / 2;
        path += ` C${before} ${middle} ${x} ${middle} ${x} ${top}`;
      }
      if (bottom !== top) path += ` L${x} ${bottom}`;
    });
    return path;
  }

  return { inputsOf, readersOf, chains, chainNode, mirror, rows, route };
})();
