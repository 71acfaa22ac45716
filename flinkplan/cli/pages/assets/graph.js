
"use strict";
(() => {
  const graph = JSON.parse(document.getElementById("graph").textContent);
  const byKey = new Map(graph.nodes.map((node) => [node.key, node]));
  const inputsOf = (key) => graph.edges.filter((e) => e.target === key).map((e) => e.source);
  const readersOf = (key) => graph.edges.filter((e) => e.source === key).map((e) => e.target);
  const canvas = document.getElementById("canvas");
  const room = document.getElementById("room");
  const view = document.getElementById("view");
  const edges = document.getElementById("edges");
  const details = document.getElementById("details");
  const boxes = new Map();
  const folded = new Set();
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

  function drawn(tag, attributes, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(name, value);
    if (text) made.textContent = text;
    return made;
  }

  function box(node) {
    const made = element(
      "button",
      {
        class: node.stateful ? "node stateful" : "node",
        "data-mark": node.mark,
        "aria-label": [node.name, `node ${node.id}`, node.mark, node.verdict, ...node.badges].filter(Boolean).join(", "),
      },
      element("span", { class: "id" }, node.id),
      element("span", { class: "name" }, node.name),
      element("span", { class: "about" }, node.about),
      ...(node.mark ? [element("span", { class: "badge" }, node.mark)] : []),
      ...(node.verdict ? [element("span", { class: "badge verdict", "data-verdict": node.verdict }, node.verdict)] : []),
      ...node.badges.map((badge) => element("span", { class: "badge" }, badge)),
    );
    made.addEventListener("click", () => choose(node.key));
    made.addEventListener("keydown", (event) => walk(event, node.key));
    return made;
  }

  function fold(node) {
    if (!inputsOf(node.key).length) return null;
    const made = element("button", { class: "fold", "aria-label": `Hide what ${node.name} ${node.id} reads` }, "−");
    made.addEventListener("click", () => {
      if (!folded.delete(node.key)) folded.add(node.key);
      made.textContent = folded.has(node.key) ? "+" : "−";
      made.setAttribute("aria-expanded", String(!folded.has(node.key)));
      arrange();
    });
    made.setAttribute("aria-expanded", "true");
    return made;
  }

  /** The nodes that some sink reaches without passing what is folded. */
  function shown() {
    const seen = new Set();
    const queue = graph.nodes.filter((node) => !readersOf(node.key).length).map((node) => node.key);
    while (queue.length) {
      const key = queue.pop();
      if (seen.has(key)) continue;
      seen.add(key);
      if (!folded.has(key)) queue.push(...inputsOf(key));
    }
    return seen;
  }

  function arrange() {
    const visible = shown();
    const layout = new dagre.graphlib.Graph({ multigraph: true });
    layout.setGraph({ rankdir: "TB", nodesep: 36, ranksep: 44, marginx: 24, marginy: 24 });
    layout.setDefaultEdgeLabel(() => ({}));
    for (const [key, { body }] of boxes) {
      body.hidden = !visible.has(key);
      if (visible.has(key)) layout.setNode(key, { width: body.offsetWidth, height: body.offsetHeight });
    }
    graph.edges.forEach((edge, i) => {
      if (visible.has(edge.source) && visible.has(edge.target) && !folded.has(edge.target)) {
        layout.setEdge(edge.source, edge.target, { width: edge.text.length * 7, height: 14, labelpos: "r" }, String(i));
      }
    });
    dagre.layout(layout);
    mirror(layout);
    for (const [key, { body, handle }] of boxes) {
      if (handle) handle.hidden = !visible.has(key);
      if (!visible.has(key)) continue;
      const at = layout.node(key);
      body.style.left = `${at.x - at.width / 2}px`;
      body.style.top = `${at.y - at.height / 2}px`;
      if (handle) {
        handle.style.left = `${at.x - 11}px`;
        handle.style.top = `${at.y - at.height / 2 - 12}px`;
      }
    }
    edges.querySelectorAll(":scope > :not(defs)").forEach((old) => old.remove());
    for (const name of layout.edges()) {
      const edge = graph.edges[Number(name.name)];
      const { points, x, y } = layout.edge(name);
      const path = points.map((p, i) => `${i ? "L" : "M"}${p.x} ${p.y}`).join(" ");
      edges.append(drawn("path", { class: "edge", d: path, "data-mark": edge.mark, "marker-end": "url(#arrow)" }));
      if (edge.text) edges.append(drawn("text", { x, y, "text-anchor": "middle" }, edge.text));
    }
    const { width, height } = layout.graph();
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    edges.setAttribute("width", width);
    edges.setAttribute("height", height);
    zoom(scale);
  }

  /** Turns the layout over where most left inputs came to lie on the right. */
  function mirror(layout) {
    const sides = graph.nodes.map((node) => inputsOf(node.key).map((key) => layout.node(key)?.x));
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

  function section(part) {
    const heads = part.heads.length ? element("tr", {}, ...part.heads.map((head) => element("th", {}, head))) : null;
    const rows = part.rows.map((row) => element("tr", {}, ...row.map((cell) => element("td", {}, cell))));
    return [
      element("h3", { "data-verdict": part.mark }, part.head),
      part.text === null ? null : element("p", { class: "text" }, part.text),
      rows.length ? element("table", {}, ...(heads ? [heads] : []), ...rows) : null,
    ].filter(Boolean);
  }

  function choose(key) {
    chosen = key;
    for (const [other, { body }] of boxes) {
      if (other === key) body.setAttribute("aria-current", "true");
      else body.removeAttribute("aria-current");
    }
    const node = byKey.get(key);
    details.replaceChildren(
      element("h2", {}, node ? `${node.name} ${node.id}` : graph.title),
      ...(node ? node.sections : graph.sections).flatMap(section),
    );
    mark(node ? node.places : []);
  }

  /** Arrow keys go along the edges, and from one node to the next on its level; Escape leaves the node. */
  function walk(event, key) {
    const left = boxes.get(key).body.offsetLeft;
    const beside = [...boxes].filter(([, { body }]) => !body.hidden && body.offsetTop === boxes.get(key).body.offsetTop);
    const byPlace = (a, b) => a[1].body.offsetLeft - b[1].body.offsetLeft;
    const next = {
      ArrowUp: () => inputsOf(key).find((other) => !boxes.get(other).body.hidden),
      ArrowDown: () => readersOf(key)[0],
      ArrowLeft: () => beside.filter(([, { body }]) => body.offsetLeft < left).sort(byPlace).at(-1)?.[0],
      ArrowRight: () => beside.filter(([, { body }]) => body.offsetLeft > left).sort(byPlace)[0]?.[0],
    }[event.key]?.();
    if (event.key === "Escape") choose(null);
    if (!next) return;
    event.preventDefault();
    boxes.get(next).body.focus();
    choose(next);
  }

  /** The SQL, with the places marked that an operator comes from; those within others are marked with them. */
  function mark(places) {
    if (graph.sql === null) return;
    const signs = Array.from(graph.sql);
    const parts = [];
    let end = 0;
    for (const [from, to] of [...places].sort((a, b) => a[0] - b[0] || b[1] - a[1])) {
      if (to <= end) continue;
      const start = Math.max(from, end);
      parts.push(signs.slice(end, start).join(""), element("mark", {}, signs.slice(start, to).join("")));
      end = to;
    }
    const pre = document.querySelector("#sql pre");
    pre.replaceChildren(...parts, signs.slice(end).join(""));
    pre.querySelector("mark")?.scrollIntoView({ block: "nearest" });
  }

  function search() {
    const words = document.getElementById("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const [key, { body, text }] of boxes) {
      const matches = words.every((word) => text.includes(word));
      body.classList.toggle("faint", words.length > 0 && !matches);
      found += matches;
      if (matches && words.length && found === 1) boxes.get(key).body.scrollIntoView({ block: "center", inline: "center" });
    }
    document.getElementById("found").textContent = words.length ? `${found} of ${boxes.size}` : "";
  }

  function zoom(to) {
    scale = Math.min(Math.max(to, 0.2), 2);
    canvas.style.transform = `scale(${scale})`;
    room.style.width = `${canvas.offsetWidth * scale}px`;
    room.style.height = `${canvas.offsetHeight * scale}px`;
  }

  function fit() {
    zoom(Math.min(1, view.clientWidth / canvas.offsetWidth, view.clientHeight / canvas.offsetHeight));
  }

  document.getElementById("title").textContent = graph.title;
  const subtitle = document.getElementById("subtitle");
  if (graph.verdict) {
    subtitle.append(element("span", { class: "verdict", "data-verdict": graph.verdict }, graph.verdict), " ");
  }
  subtitle.append(graph.subtitle);
  for (const node of graph.nodes) {
    const words = [node.name, node.id, node.about, node.mark, node.verdict, ...node.badges];
    for (const part of node.sections) words.push(part.head, part.text, ...part.rows.flat());
    const made = { body: box(node), handle: fold(node), text: words.filter(Boolean).join(" ").toLowerCase() };
    boxes.set(node.key, made);
    canvas.append(made.body, ...(made.handle ? [made.handle] : []));
  }
  document.getElementById("sql").hidden = graph.sql === null;
  document.getElementById("search").addEventListener("input", search);
  document.getElementById("smaller").addEventListener("click", () => zoom(scale / 1.25));
  document.getElementById("larger").addEventListener("click", () => zoom(scale * 1.25));
  document.getElementById("fit").addEventListener("click", fit);
  document.getElementById("theme").addEventListener("click", () => {
    const dark = getComputedStyle(document.documentElement).colorScheme === "dark" ||
      (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
    document.documentElement.dataset.theme = dark ? "light" : "dark";
  });
  arrange();
  choose(null);
  fit();
})();
