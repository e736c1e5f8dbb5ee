// The drawing of the graph page. Picking a node shows where it leads; a second click on a name adds what is
// around it.
"use strict";

const place = document.getElementById("drawing");
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const still = window.matchMedia("(prefers-reduced-motion: reduce)");

function look() {
  // A colour is light or dark by the element it is used on, so one is asked.
  const probe = document.body.appendChild(document.createElement("i"));
  const colours = {};
  for (const name of ["--s-base", "--muted", "--accent", "--ink", "--s-session", "--paper"]) {
    probe.style.color = `var(${name})`;
    colours[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  const colour = (name) => colours[name];
  return [
    {
      selector: "node",
      style: {
        "background-color": colour("--s-base"),
        width: 9,
        height: 9,
        label: "data(label)",
        color: colour("--muted"),
        "font-size": 9,
        "font-family": "system-ui, sans-serif",
        "text-wrap": "ellipsis",
        "text-max-width": 90,
        "text-valign": "bottom",
        "text-margin-y": 3,
        "min-zoomed-font-size": 7,
      },
    },
    {
      selector: "node[kind = 'name']",
      style: {
        "background-color": colour("--accent"),
        width: "mapData(degree, 1, 20, 14, 36)",
        height: "mapData(degree, 1, 20, 14, 36)",
        color: colour("--ink"),
        "font-size": 13,
        "font-weight": 600,
      },
    },
    { selector: "node[kind = 'memory']", style: { shape: "round-rectangle" } },
    { selector: "node.start", style: { "border-width": 3, "border-color": colour("--ink") } },
    { selector: "node:selected", style: { "border-width": 3, "border-color": colour("--s-session") } },
    {
      selector: "edge",
      style: { width: 1, "line-color": colour("--s-base"), "line-opacity": 0.45, "curve-style": "haystack" },
    },
    {
      selector: "edge[label != 'mentions']",
      style: {
        "curve-style": "bezier",
        "line-color": colour("--s-session"),
        "target-arrow-color": colour("--s-session"),
        "target-arrow-shape": "triangle",
        "arrow-scale": 0.8,
        label: "data(label)",
        "font-size": 8,
        color: colour("--muted"),
        "text-rotation": "autorotate",
        "text-background-color": colour("--paper"),
        "text-background-opacity": 1,
      },
    },
  ];
}

function elements(found) {
  const degrees = new Map();
  for (const edge of found.edges) {
    for (const end of [edge.source, edge.target]) degrees.set(end, (degrees.get(end) || 0) + 1);
  }
  return [
    ...found.nodes.map((node) => ({ data: { ...node, degree: degrees.get(node.id) || 1 } })),
    ...found.edges.map((edge) => ({ data: edge })),
  ];
}

function arranged(graph, fresh) {
  graph
    .layout({
      name: "cose",
      animate: !fresh && !still.matches,
      randomize: fresh,
      nodeRepulsion: () => 9000,
      idealEdgeLength: () => 60,
      padding: 24,
    })
    .run();
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
  arranged(graph, true);
  place.classList.add("drawn");
  dark.addEventListener("change", () => graph.style(look()));
  document.addEventListener("theme", () => graph.style(look()));
  graph.on("tap", "node", (event) => picked(event.target));
  graph.on("dbltap", "node[kind = 'name']", async (event) => {
    const url = new URL(place.dataset.more, window.location.href);
    url.searchParams.set("entity", event.target.data("label"));
    try {
      const more = elements(await fetched(url)).filter((each) => graph.getElementById(each.data.id).empty());
      graph.add(more);
      arranged(graph, false);
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
