/* Draws the scenes of a page as SVG: hover for numbers, drag to zoom, switch entries. */
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const MARGIN = { left: 60, right: 16, top: 10, bottom: 28 };
  const NARROW = 560, NEAR = 36, CLICK = 6;

  const make = (name, attributes, parent, space = SVG) => {
    const made = space ? document.createElementNS(space, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (parent) parent.append(made);
    return made;
  };
  const html = (name, attributes, parent) => make(name, attributes, parent, null);
  const painted = (colors) => {
    const [light, dark] = colors || ["#000000", "#ffffff"];
    return `--light:${light};--dark:${dark}`;
  };

  const SUPER = [..."⁰¹²³⁴⁵⁶⁷⁸⁹"];
  const power = (k) => "10" + (k < 0 ? "⁻" : "") + [...String(Math.abs(k))].map((d) => SUPER[d]).join("");
  const show = (value, axis, digits = 4) => {
    const tick = (axis.ticks || []).find((each) => each[0] === value);
    if (tick) return tick[1];
    if (axis.percent) return `${(100 * value).toFixed(digits > 3 ? 1 : 0)} %`.replace("-", "−");
    const size = Math.abs(value);
    if (size && (size < 1e-3 || size >= 1e5)) {
      const [head, tail] = value.toExponential(Math.max(digits - 2, 0)).split("e");
      const times = Number(head) === 1 ? "" : `${Number(head)}·`;
      return (times + power(Number(tail))).replace("-", "−");
    }
    return String(Number(value.toPrecision(digits))).replace("-", "−");
  };

  class Scale {
    constructor(axis, ends, low, high) {
      this.axis = axis;
      this.log = Boolean(axis.log);
      this.linear = axis.linear;
      [this.a, this.b] = ends.map((v) => this.bend(v));
      [this.low, this.high] = [low, high];
    }
    bend(value) {
      if (!this.linear) return this.log ? Math.log10(value) : value;
      const [edge, part] = this.linear, size = Math.abs(value);
      return size <= edge ? (value / edge) * part : Math.sign(value) * (part + Math.log10(size / edge));
    }
    unbend(bent) {
      if (!this.linear) return this.log ? 10 ** bent : bent;
      const [edge, part] = this.linear, size = Math.abs(bent);
      return size <= part ? (bent / part) * edge : Math.sign(bent) * edge * 10 ** (size - part);
    }
    place(value) {
      return this.low + ((this.bend(value) - this.a) / (this.b - this.a)) * (this.high - this.low);
    }
    value(pixel) {
      return this.unbend(this.a + ((pixel - this.low) / (this.high - this.low)) * (this.b - this.a));
    }
    has(value) { return value !== null && value !== undefined && (!this.log || value > 0); }
    within(value) {
      const pixel = this.place(value), slack = 0.5;
      return pixel >= Math.min(this.low, this.high) - slack && pixel <= Math.max(this.low, this.high) + slack;
    }
    ticks() {
      const fixed = this.axis.ticks || [], inside = fixed.filter((tick) => this.within(tick[0]));
      const words = fixed.some((tick) => Number.isNaN(parseFloat(tick[1].replace("−", "-"))));
      if (fixed.length && (inside.length > 1 || words)) return fixed;
      const [from, to] = [Math.min(this.a, this.b), Math.max(this.a, this.b)];
      const room = Math.max(2, Math.abs(this.high - this.low) / (this.low < this.high ? 80 : 46));
      const values = this.log && to - from > 0.7 ? decades(from, to, room) : even(this.unbend(from), this.unbend(to), room);
      return values.map((value) => [value, show(value, this.axis, 3)]);
    }
  }
  const decades = (from, to, room) => {
    const inside = (v) => Math.log10(v) >= from - 1e-9 && Math.log10(v) <= to + 1e-9;
    const step = Math.max(1, Math.ceil((to - from) / room));
    for (const leads of [[1], [1, 3], [1, 2, 5], [1, 2, 3, 4, 5, 6, 7, 8, 9]]) {
      const found = [];
      for (let k = Math.floor(from); k <= to; k += 1) {
        if (k % step === 0) found.push(...leads.map((lead) => Number(`${lead}e${k}`)).filter(inside));
      }
      if (found.length > Math.min(3, room - 1)) return found;
    }
    return even(10 ** from, 10 ** to, room);
  };
  const even = (from, to, room) => {
    const rough = (to - from) / room, size = 10 ** Math.floor(Math.log10(rough));
    const step = size * [1, 2, 5, 10].find((lead) => lead * size >= rough * 0.999);
    const found = [];
    for (let k = Math.ceil(from / step - 1e-9); k * step <= to + step * 1e-9; k += 1) {
      found.push(Number((k * step).toPrecision(12)));
    }
    return found;
  };

  const circle = (r) => (x, y) => `M${x - r},${y}a${r},${r} 0 1 0 ${2 * r},0a${r},${r} 0 1 0 ${-2 * r},0Z`;
  const shape = (corners) => (r) => (x, y) =>
    "M" + corners.map(([a, b]) => `${x + a * r},${y + b * r}`).join("L") + "Z";
  const strokes = (pairs) => (r) => (x, y) =>
    pairs.map(([a, b, c, d]) => `M${x + a * r},${y + b * r}L${x + c * r},${y + d * r}`).join("");
  const MARKERS = {
    s: shape([[-1, -1], [1, -1], [1, 1], [-1, 1]]), D: shape([[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]]),
    d: shape([[0, -1.3], [0.8, 0], [0, 1.3], [-0.8, 0]]), "^": shape([[0, -1.1], [1.1, 1], [-1.1, 1]]),
    v: shape([[0, 1.1], [1.1, -1], [-1.1, -1]]), "<": shape([[-1.1, 0], [1, 1.1], [1, -1.1]]),
    ">": shape([[1.1, 0], [-1, 1.1], [-1, -1.1]]), x: strokes([[-1, -1, 1, 1], [-1, 1, 1, -1]]),
    "+": strokes([[-1, 0, 1, 0], [0, -1, 0, 1]]), _: strokes([[-1, 0, 1, 0]]), "|": strokes([[0, -1, 0, 1]]),
  };
  const OPEN = ["x", "+", "_", "|"];
  const marker = (name, size) => (MARKERS[name] || circle)((name === "." ? size / 2 : size) / 2);

  const drawLine = (mark, x, y, parent) => {
    const points = mark.x.map((v, i) => [v, mark.y[i]]);
    const there = points.map(([a, b]) => x.has(a) && y.has(b));
    const at = points.map(([a, b], i) => (there[i] ? [x.place(a), y.place(b)] : null));
    if (mark.width) {
      const path = at.map((p, i) => (p ? `${i && at[i - 1] ? "L" : "M"}${p[0].toFixed(1)},${p[1].toFixed(1)}` : "")).join("");
      make("path", { d: path, class: "stroke", "stroke-width": mark.width * 0.8, "stroke-dasharray": (mark.dashes || []).join(" "), "stroke-opacity": mark.opacity ?? 1 }, parent);
    }
    if (mark.marker) {
      const one = marker(mark.marker, mark.size * 0.85);
      const filled = mark.filled !== false && !OPEN.includes(mark.marker);
      if (mark.shades) {
        at.forEach((p, i) => p && make("path", { d: one(p[0], p[1]), style: `fill:${mark.shades[i]}` }, parent));
        return;
      }
      make("path", { d: at.filter(Boolean).map((p) => one(p[0], p[1])).join(""), class: filled ? "dot" : "ring", "fill-opacity": mark.opacity ?? 1 }, parent);
    }
  };
  const box = (x0, y0, x1, y1, mark, parent) => make("rect", {
    x: Math.min(x0, x1), y: Math.min(y0, y1), width: Math.abs(x1 - x0), height: Math.abs(y1 - y0),
    class: "fill", "fill-opacity": mark.opacity ?? 1 }, parent);
  const clamp = (scale, value) => (scale.has(value) ? scale.place(value) : scale.low);

  const DRAW = {
    line: drawLine,
    segments: (mark, x, y, parent) => {
      const path = mark.x.map((v, i) => `M${x.place(v)},${clamp(y, mark.y[i])}L${x.place(mark.x_end[i])},${clamp(y, mark.y_end[i])}`);
      make("path", { d: path.join(""), class: "stroke", "stroke-width": mark.width * 0.8, "stroke-opacity": mark.opacity ?? 1 }, parent);
    },
    area: (mark, x, y, parent) => {
      const corners = mark.x.map((v, i) => `${clamp(x, v)},${clamp(y, mark.y[i])}`);
      make("path", { d: `M${corners.join("L")}Z`, class: "fill", "fill-opacity": mark.opacity ?? 1 }, parent);
    },
    bars: (mark, x, y, parent) => mark.x.forEach((v, i) =>
      box(clamp(x, v), clamp(y, mark.y[i]), clamp(x, mark.x_end[i]), clamp(y, mark.y_end[i]), mark, parent)),
    span: (mark, x, y, parent) => (mark.y
      ? box(x.low, clamp(y, mark.y[0]), x.high, clamp(y, mark.y_end[0]), mark, parent)
      : box(clamp(x, mark.x[0]), y.low, clamp(x, mark.x_end[0]), y.high, mark, parent)),
    rule: (mark, x, y, parent) => {
      const path = mark.y ? `M${x.low},${y.place(mark.y[0])}H${x.high}` : `M${x.place(mark.x[0])},${y.low}V${y.high}`;
      make("path", { d: path, class: "stroke", "stroke-width": mark.width * 0.8, "stroke-dasharray": (mark.dashes || []).join(" ") }, parent);
    },
    text: (mark, x, y, parent) => {
      const [left, top] = mark.inside
        ? [x.low + mark.x[0] * (x.high - x.low), y.low + mark.y[0] * (y.high - y.low)]
        : [x.place(mark.x[0]), y.place(mark.y[0])];
      const text = make("text", { x: left, y: top, "text-anchor": mark.anchor || "start", class: "note" }, parent);
      mark.text.split("\n").forEach((line, i, all) => {
        make("tspan", { x: left, dy: i ? "1.2em" : `${0.35 - 0.6 * (all.length - 1)}em` }, text).textContent = line;
      });
    },
  };

  window.tangentlabCharts = { make, html, painted, show, Scale, DRAW, marker, OPEN, MARGIN, NARROW, NEAR, CLICK };
})();
