// The drawing of the graph page. Picking a node shows where it leads; a second click on a name adds what is
// around it. The same graph is always drawn the same way: nodes begin on a spiral in the order of the data,
// and nothing is left to chance. Names are written where they cover nothing, memories only when pointed at.
"use strict";

const place = document.getElementById("drawing");
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const still = window.matchMedia("(prefers-reduced-motion: reduce)");
const KINDS = ["person", "place", "organisation", "thing"];
const FONT = 13;
const COLOURS = ["--s-base", "--muted", "--ink", "--s-session", "--paper", ...KINDS.map((kind) => `--name-${kind}`)];

function look() {
  // A colour is light or dark by the element it is used on, so one is asked.
  const probe = document.body.appendChild(document.createElement("i"));
  const colour = {};
  for (const name of COLOURS) {
    probe.style.color = `var(${name})`;
    colour[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  const written = {
    label: "data(label)",
    color: colour["--ink"],
    "font-family": "system-ui, sans-serif",
    "text-outline-color": colour["--paper"],
    "text-outline-width": 2,
    "text-outline-opacity": 0.8,
  };
  return [
    {
      selector: "node",
      style: { "background-color": colour["--s-base"], width: 8, height: 8, shape: "round-rectangle" },
    },
    {
      selector: "node[kind = 'name']",
      style: {
        shape: "ellipse",
        "background-color": colour["--name-thing"],
        width: "mapData(degree, 1, 20, 13, 34)",
        height: "mapData(degree, 1, 20, 13, 34)",
      },
    },
    ...KINDS.map((kind) => ({
      selector: `node[kind = 'name'][type = '${kind}']`,
      style: { "background-color": colour[`--name-${kind}`] },
    })),
    { selector: "node.start", style: { "border-width": 3, "border-color": colour["--ink"] } },
    { selector: "node:selected", style: { "border-width": 3, "border-color": colour["--s-session"] } },
    { selector: "node[side]", style: { ...written, "font-size": FONT, "font-weight": 600 } },
    { selector: "node[side = 'bottom']", style: { "text-valign": "bottom", "text-margin-y": 3 } },
    { selector: "node[side = 'top']", style: { "text-valign": "top", "text-margin-y": -3 } },
    { selector: "node[side = 'right']", style: { "text-valign": "center", "text-halign": "right", "text-margin-x": 3 } },
    { selector: "node[side = 'left']", style: { "text-valign": "center", "text-halign": "left", "text-margin-x": -3 } },
    {
      selector: "node.pointed, node[kind = 'memory']:selected",
      style: {
        ...written,
        "font-size": 12,
        "text-wrap": "wrap",
        "text-max-width": 220,
        "text-valign": "top",
        "text-margin-y": -4,
        "text-background-color": colour["--paper"],
        "text-background-opacity": 0.95,
        "text-background-padding": 4,
        "z-index": 9,
      },
    },
    {
      selector: "edge",
      style: { width: 1, "line-color": colour["--s-base"], "line-opacity": 0.45, "curve-style": "haystack" },
    },
    {
      selector: "edge[label != 'mentions']",
      style: {
        "curve-style": "bezier",
        "line-color": colour["--s-session"],
        "line-opacity": 0.9,
        "target-arrow-color": colour["--s-session"],
        "target-arrow-shape": "triangle",
        "arrow-scale": 0.8,
        label: "data(label)",
        "font-size": 9,
        color: colour["--muted"],
        "text-rotation": "autorotate",
        "text-background-color": colour["--paper"],
        "text-background-opacity": 1,
      },
    },
  ];
}

function elements(found, first = 0) {
  const degrees = new Map();
  for (const edge of found.edges) {
    for (const end of [edge.source, edge.target]) degrees.set(end, (degrees.get(end) || 0) + 1);
  }
  const spot = (number) => {
    const turn = 2.4 * number;
    return { x: 14 * Math.sqrt(number) * Math.cos(turn), y: 14 * Math.sqrt(number) * Math.sin(turn) };
  };
  return [
    ...found.nodes.map((node, number) => ({
      data: { ...node, degree: degrees.get(node.id) || 1 },
      position: spot(first + number),
    })),
    ...found.edges.map((edge) => ({ data: edge })),
  ];
}

// The layout is as wide as it is high, the place for it is not.
function spread(graph) {
  const box = graph.nodes().boundingBox({ includeLabels: false });
  const wide = (box.h * graph.width()) / graph.height() / (box.w || 1);
  if (wide > 1) graph.nodes().positions((node) => ({ x: node.position("x") * wide, y: node.position("y") }));
  else graph.nodes().positions((node) => ({ x: node.position("x"), y: node.position("y") / wide }));
}

const crosses = (one, other) =>
  one.x1 < other.x2 && other.x1 < one.x2 && one.y1 < other.y2 && other.y1 < one.y2;

// The best connected choose first on which side their name stands; who finds no free place is written small
// nowhere, and named when pointed at.
function written(graph) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `600 ${FONT}px system-ui, sans-serif`;
  const taken = graph.nodes().map((node) => node.boundingBox({ includeLabels: false }));
  const names = graph.nodes("[kind = 'name']").sort((one, other) => other.degree() - one.degree());
  names.forEach((node) => {
    const { x, y } = node.position();
    const reach = node.outerWidth() / 2 + 4;
    const wide = pen.measureText(node.data("label")).width + 4;
    const high = FONT * 1.3;
    const at = (left, top, side) => ({ x1: left, x2: left + wide, y1: top, y2: top + high, side });
    const free = [
      at(x - wide / 2, y + reach - 1, "bottom"),
      at(x + reach, y - high / 2, "right"),
      at(x - wide / 2, y - reach - high + 1, "top"),
      at(x - reach - wide, y - high / 2, "left"),
    ].find((spot) => !taken.some((other) => crosses(spot, other)));
    if (free) taken.push(free);
    node.data("side", free?.side);
    if (!free) node.removeData("side");
  });
}

function arranged(graph, grown) {
  const layout = graph.layout({
    name: "cose",
    animate: false,
    randomize: false,
    fit: false,
    nodeRepulsion: () => 14000,
    idealEdgeLength: () => 55,
    nodeOverlap: 12,
  });
  layout.one("layoutstop", () => {
    spread(graph);
    written(graph);
    const view = { fit: { eles: graph.elements(), padding: 28 } };
    if (grown && !still.matches) graph.animate(view, { duration: 300 });
    else graph.fit(graph.elements(), 28);
  });
  layout.run();
}

async function fetched(url) {
  const answer = await fetch(url, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  return answer.json();
}

function told(what) {
  const place = document.getElementById("picked");
  place.replaceChildren(what);
  place.hidden = false;
}

function picked(node) {
  const link = document.createElement("a");
  link.href = node.data("url");
  link.dir = "auto";
  link.textContent = node.data("label");
  told(link);
}

async function draw() {
  const found = await fetched(place.dataset.url);
  const graph = cytoscape({
    container: place,
    elements: elements(found),
    style: look(),
    minZoom: 0.2,
    maxZoom: 3,
  });
  graph.getElementById(place.dataset.start).addClass("start");
  arranged(graph, false);
  place.classList.add("drawn");
  dark.addEventListener("change", () => graph.style(look()));
  document.addEventListener("theme", () => graph.style(look()));
  graph.on("mouseover", "node", (event) => event.target.addClass("pointed"));
  graph.on("mouseout", "node", (event) => event.target.removeClass("pointed"));
  graph.on("tap", "node", (event) => picked(event.target));
  graph.on("dbltap", "node[kind = 'name']", async (event) => {
    const url = new URL(place.dataset.more, window.location.href);
    url.searchParams.set("entity", event.target.data("label"));
    try {
      const added = elements(await fetched(url), graph.nodes().length);
      graph.add(added.filter((each) => graph.getElementById(each.data.id).empty()));
      arranged(graph, true);
    } catch (error) {
      told(`What is around it could not be added: ${error.message}`);
    }
  });
}

if (place) {
  draw().catch((error) => {
    place.textContent = `The drawing could not be made: ${error.message}`;
  });
}
