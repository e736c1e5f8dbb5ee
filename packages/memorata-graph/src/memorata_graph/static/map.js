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
    names();
  };

  // Names are as large as elsewhere on the page, however close one looks; those that would cover another are
  // left out: of dots the larger goes first, of countries the wider.
  const names = () => {
    const [left, , width, height] = box();
    const unit = Math.max(width / map.clientWidth, height / map.clientHeight);
    const edge = left + (width + map.clientWidth * unit) / 2;
    const taken = [];
    const put = (text, size, x, y, anchor) => {
      text.setAttribute("font-size", (size * unit).toFixed(4));
      text.setAttribute("x", x);
      text.setAttribute("text-anchor", anchor);
      const half = (text.textContent.length * size * unit * 0.64) / 2;
      const middle = x + { start: half, middle: 0, end: -half }[anchor];
      const spot = [middle - half, y - size * unit, middle + half, y + size * unit * 0.3];
      const free = !taken.some((t) => spot[0] < t[2] && t[0] < spot[2] && spot[1] < t[3] && t[1] < spot[3]);
      text.setAttribute("visibility", free ? "visible" : "hidden");
      if (free) taken.push(spot);
    };
    for (const text of map.querySelectorAll(".names text")) {
      text.dataset.x ??= text.getAttribute("x");
      const reach = (Number(text.dataset.size) / 2 + 4) * unit;
      const [x, y] = [Number(text.dataset.x), Number(text.getAttribute("y"))];
      if (x + reach + text.textContent.length * 12.5 * unit * 0.64 < edge) put(text, 12.5, x + reach, y, "start");
      else put(text, 12.5, x - reach, y, "end");
    }
    for (const text of map.querySelectorAll(".countries text")) {
      const wide = text.textContent.length * 11 * unit * 0.56;
      if (Number(text.dataset.width) * 1.3 < wide) text.setAttribute("visibility", "hidden");
      else put(text, 11, Number(text.getAttribute("x")), Number(text.getAttribute("y")), "middle");
    }
  };
  window.addEventListener("resize", names);
  names();

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
    if (factor === 0) show(...whole.split(" ").map(Number));
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
