
"use strict";
(() => {
  const graph = JSON.parse(document.getElementById("graph").textContent);
  const byKey = new Map(graph.nodes.map((node) => [node.key, node]));
  const { inputsOf, readersOf } = drawing;
  const canvas = document.getElementById("canvas");
  const room = document.getElementById("room");
  const view = document.getElementById("view");
  const edges = document.getElementById("edges");
  const details = document.getElementById("details");
  const map = document.getElementById("map");
  const level = document.getElementById("level");
  const boxes = new Map();
  const folded = new Set();
  const opened = new Set();
  const chains = drawing.chains(graph);
  const chainOf = new Map([...chains].flatMap(([key, members]) => members.map((member) => [member.key, key])));
  const MANY = 40;
  const READABLE = 0.55;
  let drawn = [];
  let scale = 1;
  let chosen = null;

  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value);
    }
    made.append(...children.filter((child) => child !== null));
    return made;
  }

  function shape(tag, attributes, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(name, value);
    if (text) made.textContent = text;
    return made;
  }

  function box(node) {
    const kinds = ["node", ...(node.stateful ? ["stateful"] : []), ...(node.members ? ["chain"] : [])];
    const made = element(
      "button",
      {
        class: kinds.join(" "),
        "data-mark": node.mark,
        "aria-label": [node.name, `node ${node.id}`, node.mark, node.verdict, ...node.badges].filter(Boolean).join(", "),
      },
      element("span", { class: "id" }, node.id),
      element("span", { class: "name" }, node.name),
      element("span", { class: "about" }, node.about),
      ...(node.mark ? [element("span", { class: "badge" }, node.mark)] : []),
      ...(node.verdict ? [element("span", { class: "badge verdict", "data-verdict": node.verdict }, node.verdict)] : []),
      ...node.badges.map((badge) => element("span", { class: "badge" }, badge)),
      ...(node.reason ? [element("span", { class: "why" }, node.reason)] : []),
    );
    made.addEventListener("click", () => choose(node.key));
    made.addEventListener("keydown", (event) => walk(event, node.key));
    return made;
  }

  /** What hides the inputs of a node, or of the first one of a chain. */
  function fold(node) {
    const first = node.members ? node.members[0] : node;
    if (!inputsOf(graph, first.key).length) return null;
    const made = element("button", { class: "fold", "aria-label": `Hide what ${first.name} ${first.id} reads` }, "−");
    made.addEventListener("click", () => {
      if (!folded.delete(first.key)) folded.add(first.key);
      made.textContent = folded.has(first.key) ? "+" : "−";
      made.setAttribute("aria-expanded", String(!folded.has(first.key)));
      arrange();
    });
    made.setAttribute("aria-expanded", "true");
    return made;
  }

  /** The nodes that some sink reaches without passing what is folded. */
  function shown() {
    const seen = new Set();
    const queue = graph.nodes.filter((node) => !readersOf(graph, node.key).length).map((node) => node.key);
    while (queue.length) {
      const key = queue.pop();
      if (seen.has(key)) continue;
      seen.add(key);
      if (!folded.has(key)) queue.push(...inputsOf(graph, key));
    }
    return seen;
  }

  /** The box in which a node is seen: its own, or that of its chain. */
  function unit(key) {
    const chain = chainOf.get(key);
    return chain !== undefined && level.value === "chains" && !opened.has(chain) ? chain : key;
  }

  function arrange() {
    const keys = shown();
    const visible = new Set([...keys].map(unit));
    const layout = new dagre.graphlib.Graph({ multigraph: true });
    layout.setGraph({ rankdir: "TB", nodesep: 36, edgesep: 18, ranksep: 44, marginx: 24, marginy: 24 });
    layout.setDefaultEdgeLabel(() => ({}));
    for (const [key, { node, body, handle }] of boxes) {
      body.hidden = !visible.has(key);
      if (handle) handle.hidden = body.hidden;
      if (node.members) attach([body, handle], !body.hidden);
      if (!body.hidden) layout.setNode(key, { width: body.offsetWidth, height: body.offsetHeight });
    }
    drawn = [];
    graph.edges.forEach((edge, i) => {
      const [source, target] = [unit(edge.source), unit(edge.target)];
      if (source === target || !keys.has(edge.source) || !keys.has(edge.target) || folded.has(edge.target)) return;
      layout.setEdge(source, target, { width: edge.text.length * 7, height: 14, labelpos: "r" }, String(i));
      drawn.push({ source, target });
    });
    dagre.layout(layout);
    drawing.mirror(layout, graph, unit);
    for (const key of layout.nodes()) {
      const { body, handle } = boxes.get(key);
      const at = layout.node(key);
      body.style.left = `${at.x - at.width / 2}px`;
      body.style.top = `${at.y - at.height / 2}px`;
      if (!handle) continue;
      handle.style.left = `${at.x - 11}px`;
      handle.style.top = `${at.y - at.height / 2 - 12}px`;
    }
    const { width, height } = layout.graph();
    drawEdges(layout);
    drawMap(layout);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    edges.setAttribute("width", width);
    edges.setAttribute("height", height);
    zoom(scale);
  }

  function drawEdges(layout) {
    const heights = drawing.rows(layout);
    edges.querySelectorAll(":scope > :not(defs)").forEach((old) => old.remove());
    for (const name of layout.edges()) {
      const edge = graph.edges[Number(name.name)];
      const { x, y } = layout.edge(name);
      const path = drawing.route(layout, name, heights);
      edges.append(shape("path", { class: "edge", d: path, "data-mark": edge.mark, "marker-end": "url(#arrow)" }));
      if (edge.text) edges.append(shape("text", { x, y, "text-anchor": "middle" }, edge.text));
    }
  }

  /** The whole graph, small, with what is seen of it. */
  function drawMap(layout) {
    const { width, height } = layout.graph();
    map.setAttribute("viewBox", `0 0 ${width} ${height}`);
    map.replaceChildren(
      ...layout.nodes().map((key) => {
        const { x, y, width: w, height: h } = layout.node(key);
        const node = boxes.get(key).node;
        const box = { x: x - w / 2, y: y - h / 2, width: w, height: h, "data-mark": node.mark, "data-verdict": node.verdict };
        return shape("rect", { ...box, class: node.stateful ? "stateful" : "plain" });
      }),
      shape("rect", { class: "seen" }),
    );
    look();
  }

  function look() {
    const seen = map.querySelector(".seen");
    if (!seen) return;
    const fits = room.offsetWidth <= view.clientWidth + 1 && room.offsetHeight <= view.clientHeight + 1;
    map.style.display = fits ? "none" : "block";
    seen.setAttribute("x", view.scrollLeft / scale);
    seen.setAttribute("y", view.scrollTop / scale);
    seen.setAttribute("width", Math.min(view.clientWidth / scale, canvas.offsetWidth));
    seen.setAttribute("height", Math.min(view.clientHeight / scale, canvas.offsetHeight));
  }

  /** Shows the part of the graph that lies where the map is pointed at. */
  function go(event) {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(map.getScreenCTM().inverse());
    view.scrollLeft = at.x * scale - view.clientWidth / 2;
    view.scrollTop = at.y * scale - view.clientHeight / 2;
  }

  /** The columns that one is computed from, or that are computed from it, itself among them. */
  function reached(from, follow) {
    const all = new Map([[from.join(" "), { at: from, how: "" }]]);
    const pending = [from];
    while (pending.length) {
      for (const { at, how } of follow(pending.pop())) {
        if (all.has(at.join(" "))) continue;
        all.set(at.join(" "), { at, how });
        pending.push(at);
      }
    }
    return [...all.values()];
  }

  const below = ([key, index]) => graph.uses
    .filter((use) => use.target === key && use.column === index)
    .map((use) => ({ at: [use.source, use.source_column], how: use.how }));
  const above = ([key, index]) => graph.uses
    .filter((use) => use.source === key && use.source_column === index)
    .map((use) => ({ at: [use.target, use.column], how: use.how }));

  /** Shows from which columns a column comes, and which come from it; the other operators become faint. */
  function showWay(key, index) {
    const columns = (at) => graph.nodes.find((node) => node.key === at).sections.find((part) => part.lists_columns);
    const name = (at) => columns(at[0])?.rows[at[1]]?.[0] ?? "";
    const list = (head, found) => {
      const rows = found.slice(1).map(({ at, how }) => {
        const node = graph.nodes.find((each) => each.key === at[0]);
        const go = element("button", {}, `${node.name} ${node.id}`);
        go.addEventListener("click", () => show(unit(at[0])));
        return element("tr", {}, element("td", {}, go), element("td", {}, name(at)), element("td", {}, how));
      });
      return rows.length ? [element("h3", {}, head), element("table", {}, ...rows)] : [];
    };
    const [sources, targets] = [reached([key, index], below), reached([key, index], above)];
    const on = new Set([...sources, ...targets].map(({ at }) => unit(at[0])));
    for (const [other, { body }] of boxes) body.classList.toggle("faint", !on.has(other));
    const back = element("button", {}, "Back");
    back.addEventListener("click", () => choose(unit(key)));
    details.replaceChildren(
      element("h2", {}, `The way of ${name([key, index])}`), back,
      ...list("Comes from", sources), ...list("Becomes", targets),
    );
  }

  function columnRow(key, row, index) {
    const way = element("button", { class: "column" }, row[0]);
    way.addEventListener("click", () => showWay(key, index));
    return element("tr", {}, element("td", {}, way), ...row.slice(1).map((cell) => element("td", {}, cell)));
  }

  function section(part, key) {
    const heads = part.heads.length ? element("tr", {}, ...part.heads.map((head) => element("th", {}, head))) : null;
    const hasWays = part.lists_columns && graph.uses.length > 0;
    const rows = part.rows.map((row, index) => hasWays
      ? columnRow(key, row, index)
      : element("tr", {}, ...row.map((cell) => element("td", {}, cell))));
    return [
      element("h3", { "data-verdict": part.mark }, part.head),
      part.text === null ? null : element("p", { class: "text" }, part.text),
      rows.length ? element("table", {}, ...(heads ? [heads] : []), ...rows) : null,
    ].filter(Boolean);
  }

  /** The operators of a chain, each with its description, and what shows them one by one. */
  function chainSections(key) {
    const open = element("button", {}, "Show one by one");
    open.addEventListener("click", () => {
      opened.add(key);
      arrange();
      show(chains.get(key)[0].key);
    });
    const members = chains.get(key).map((member) => section({ ...member.sections[0], head: `${member.name} ${member.id}` }, member.key));
    return [open, ...members.flat()];
  }

  function closeChain(key) {
    const chain = chainOf.get(key);
    if (chain === undefined || level.value !== "chains" || !opened.has(chain)) return [];
    const close = element("button", {}, "Show as a chain");
    close.addEventListener("click", () => {
      opened.delete(chain);
      arrange();
      show(chain);
    });
    return [close];
  }

  function choose(key) {
    chosen = key;
    for (const [other, { body }] of boxes) {
      if (other === key) body.setAttribute("aria-current", "true");
      else body.removeAttribute("aria-current");
    }
    const node = key === null ? null : boxes.get(key).node;
    const name = node && (node.members ? node.members.map((each) => each.name).join(" → ") : `${node.name} ${node.id}`);
    const parts = node?.members ? chainSections(key) : (node ? node.sections : graph.sections).flatMap((part) => section(part, key));
    for (const { body } of boxes.values()) body.classList.remove("faint");
    if (document.getElementById("search").value) search();
    details.replaceChildren(element("h2", {}, name ?? graph.title), ...(node ? closeChain(key) : []), ...parts);
    mark(node ? (node.members || [node]).flatMap((each) => each.places) : []);
  }

  function show(key) {
    boxes.get(key).body.scrollIntoView({ block: "center", inline: "center" });
    choose(key);
  }

  /** Arrow keys go along the edges, and from one node to the next on its level; Escape leaves the node. */
  function walk(event, key) {
    const left = boxes.get(key).body.offsetLeft;
    const beside = [...boxes].filter(([, { body }]) => !body.hidden && body.offsetTop === boxes.get(key).body.offsetTop);
    const byPlace = (a, b) => a[1].body.offsetLeft - b[1].body.offsetLeft;
    const next = {
      ArrowUp: () => drawn.find((edge) => edge.target === key)?.source,
      ArrowDown: () => drawn.find((edge) => edge.source === key)?.target,
      ArrowLeft: () => beside.filter(([, { body }]) => body.offsetLeft < left).sort(byPlace).at(-1)?.[0],
      ArrowRight: () => beside.filter(([, { body }]) => body.offsetLeft > left).sort(byPlace)[0]?.[0],
    }[event.key]?.();
    if (event.key === "Escape") choose(null);
    if (!next) return;
    event.preventDefault();
    boxes.get(next).body.focus();
    choose(next);
  }

  /** The SQL in its colours, with the places marked that an operator comes from; places within others are one. */
  function mark(places) {
    if (graph.sql === null) return;
    const signs = Array.from(graph.sql);
    const pre = document.querySelector("#sql pre");
    pre.replaceChildren();
    let end = 0;
    for (const [from, to] of [...places].sort((a, b) => a[0] - b[0] || b[1] - a[1])) {
      if (to <= end) continue;
      const start = Math.max(from, end);
      pre.append(...coloured(signs, end, start), element("mark", {}, ...coloured(signs, start, to)));
      end = to;
    }
    pre.append(...coloured(signs, end, signs.length));
    const first = pre.querySelector("mark");
    const sql = document.getElementById("sql");
    if (first) sql.scrollTop = first.offsetTop - sql.clientHeight / 4;  // and the page itself stays
  }

  function coloured(signs, from, to) {
    const parts = [];
    let end = from;
    for (const [start, stop, kind] of graph.colours) {
      if (stop <= from || start >= to) continue;
      const [first, last] = [Math.max(start, from), Math.min(stop, to)];
      parts.push(signs.slice(end, first).join(""), element("span", { class: kind }, signs.slice(first, last).join("")));
      end = last;
    }
    parts.push(signs.slice(end, to).join(""));
    return parts;
  }

  function search() {
    const words = document.getElementById("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (text) => words.every((word) => text.includes(word));
    const found = graph.nodes.filter((node) => matches(boxes.get(node.key).text));
    const hits = new Set(found.flatMap((node) => [node.key, chainOf.get(node.key)]));
    for (const [key, { body }] of boxes) body.classList.toggle("faint", words.length > 0 && !hits.has(key));
    const first = found.map((node) => boxes.get(unit(node.key)).body).find((body) => !body.hidden);
    if (words.length) first?.scrollIntoView({ block: "center", inline: "center" });
    document.getElementById("found").textContent = words.length ? `${found.length} of ${graph.nodes.length}` : "";
  }

  /** Zooms, so that the middle of what is seen stays there. */
  function zoom(to) {
    const next = Math.min(Math.max(to, 0.05), 2);
    const x = (view.scrollLeft + view.clientWidth / 2) / scale;
    const y = (view.scrollTop + view.clientHeight / 2) / scale;
    scale = next;
    canvas.style.transform = `scale(${scale})`;
    room.style.width = `${canvas.offsetWidth * scale}px`;
    room.style.height = `${canvas.offsetHeight * scale}px`;
    view.scrollLeft = x * scale - view.clientWidth / 2;
    view.scrollTop = y * scale - view.clientHeight / 2;
    look();
  }

  const byWidth = () => Math.min(1, view.clientWidth / canvas.offsetWidth);
  const whole = () => Math.min(byWidth(), view.clientHeight / canvas.offsetHeight);

  /** All of it where that can be read; else its width, or the part around its first source. */
  function begin() {
    zoom(whole() >= READABLE ? whole() : Math.max(byWidth(), READABLE));
    const first = [...boxes.values()].filter(({ body }) => !body.hidden).sort((a, b) => a.body.offsetTop - b.body.offsetTop)[0];
    if (first) view.scrollLeft = (first.body.offsetLeft + first.body.offsetWidth / 2) * scale - view.clientWidth / 2;
    view.scrollTop = 0;
    look();
  }

  function add(node) {
    const members = node.members || [node];
    const words = members.flatMap((each) => [each.name, each.id, each.about, each.mark, each.verdict, ...each.badges]);
    for (const part of members.flatMap((each) => each.sections)) words.push(part.head, part.text, ...part.rows.flat());
    const text = words.filter(Boolean).join(" ").toLowerCase();
    const made = { node, body: box(node), handle: fold(node), text };
    boxes.set(node.key, made);
    if (!node.members) attach([made.body, made.handle], true);
  }

  /** Has elements on the canvas, or not. */
  function attach(parts, wanted) {
    for (const part of parts) {
      if (part && part.isConnected !== wanted) wanted ? canvas.append(part) : part.remove();
    }
  }

  document.querySelectorAll(".tools, #stage, #details").forEach((each) => (each.hidden = false));
  const subtitle = document.getElementById("subtitle");
  subtitle.replaceChildren();
  if (graph.verdict) {
    subtitle.append(element("span", { class: "verdict", "data-verdict": graph.verdict }, graph.verdict), " ");
  }
  subtitle.append(graph.subtitle);
  document.getElementById("title").textContent = graph.title;
  graph.nodes.forEach(add);
  for (const [key, members] of chains) add(drawing.chainNode(graph, key, members));
  level.value = graph.nodes.length > MANY ? "chains" : "all";
  document.getElementById("levels").hidden = !chains.size;
  level.addEventListener("change", () => {
    opened.clear();
    arrange();
    begin();
    choose(null);
  });
  document.getElementById("search").addEventListener("input", search);
  document.getElementById("smaller").addEventListener("click", () => zoom(scale / 1.25));
  document.getElementById("larger").addEventListener("click", () => zoom(scale * 1.25));
  document.getElementById("fit").addEventListener("click", () => zoom(whole()));
  document.getElementById("width").addEventListener("click", () => zoom(byWidth()));
  document.getElementById("theme").addEventListener("click", () => {
    const dark = getComputedStyle(document.documentElement).colorScheme === "dark" ||
      (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
    document.documentElement.dataset.theme = dark ? "light" : "dark";
  });
  view.addEventListener("scroll", look);
  addEventListener("resize", look);
  map.addEventListener("pointerdown", (event) => {
    map.setPointerCapture(event.pointerId);
    go(event);
  });
  map.addEventListener("pointermove", (event) => event.buttons && go(event));
  /** Lays the graph out once the page has a size: in a frame that is folded away it has none. */
  function start() {
    if (!view.clientWidth || !view.clientHeight) return false;
    arrange();
    begin();
    choose(null);
    return true;
  }

  if (!start()) new ResizeObserver((_, observer) => start() && observer.disconnect()).observe(view);
})();
