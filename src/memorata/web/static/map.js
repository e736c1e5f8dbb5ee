// Moving about on the map: the wheel and two buttons zoom, dragging moves. Dots keep their size by themselves.
"use strict";

const map = document.getElementById("map");

if (map) {
  const whole = map.getAttribute("viewBox");
  const box = () => map.getAttribute("viewBox").split(" ").map(Number);
  const show = (x, y, width, height) => {
    const wide = Math.min(360, Math.max(1, width));
    const high = (wide * height) / width;
    map.setAttribute("viewBox", [x, y, wide, high].map((each) => each.toFixed(4)).join(" "));
  };

  const zoom = (factor, atX = 0.5, atY = 0.5) => {
    const [x, y, width, height] = box();
    const wide = Math.min(360, Math.max(1, width * factor));
    const high = (wide * height) / width;
    show(x + (width - wide) * atX, y + (height - high) * atY, wide, high);
  };

  document.getElementById("zoom").hidden = false;
  document.getElementById("zoom").addEventListener("click", (event) => {
    const factor = Number(event.target.dataset.zoom);
    if (event.target.dataset.zoom === undefined) return;
    if (factor === 0) map.setAttribute("viewBox", whole);
    else zoom(factor);
  });

  map.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const frame = map.getBoundingClientRect();
      const atX = (event.clientX - frame.left) / frame.width;
      zoom(event.deltaY < 0 ? 0.8 : 1.25, atX, (event.clientY - frame.top) / frame.height);
    },
    { passive: false },
  );

  let from = null;
  map.addEventListener("pointerdown", (event) => {
    if (!event.target.closest("a")) from = { x: event.clientX, y: event.clientY, box: box() };
  });
  window.addEventListener("pointermove", (event) => {
    if (!from) return;
    const frame = map.getBoundingClientRect();
    const [x, y, width, height] = from.box;
    const moved = [(event.clientX - from.x) / frame.width, (event.clientY - from.y) / frame.height];
    show(x - moved[0] * width, y - moved[1] * height, width, height);
  });
  window.addEventListener("pointerup", () => {
    from = null;
  });
}
