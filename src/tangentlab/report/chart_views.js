/* One view for each figure with a scene, and the switches of a page. */
"use strict";
(() => {
  const { make, html, painted, show, Scale, DRAW, marker, OPEN, MARGIN, NARROW, NEAR, CLICK } = window.tangentlabCharts;

  class Chart {
    constructor(figure) {
      this.figure = figure;
      this.scene = JSON.parse(figure.querySelector("script.scene").textContent);
      this.off = new Set();
      this.views = this.scene.panels.map((panel) => ({ panel, x: panel.x.ends, y: panel.y.ends }));
      this.body = html("div", { class: "drawing" });
      this.tip = html("div", { class: "tip", role: "status", hidden: "" });
      const bar = this.legend();
      figure.prepend(bar, this.body, this.tip);
      figure.classList.add("drawn");
      new ResizeObserver(() => this.resize()).observe(this.body);
    }
    resize() {
      const width = Math.floor(this.body.clientWidth);
      if (width && width !== this.width) { this.width = width; this.draw(); }
    }
    legend() {
      const shaded = this.scene.panels.flatMap((panel) => panel.marks).find((mark) => mark.shades);
      const bar = html("div", { class: this.scene.entries.length || shaded ? "entries" : "entries none" });
      this.scene.entries.forEach((entry, number) => {
        const button = html("button", { type: "button", "aria-pressed": "true", style: painted(entry.colors) }, bar);
        const key = make("svg", { width: 26, height: 12, "aria-hidden": "true" }, button);
        if (entry.width) make("path", { d: "M1,6H25", class: "stroke", "stroke-width": 2, "stroke-dasharray": (entry.dashes || []).join(" ") }, key);
        if (entry.marker) {
          const filled = entry.filled !== false && !OPEN.includes(entry.marker);
          make("path", { d: marker(entry.marker, 8)(13, 6), class: filled ? "dot" : "ring" }, key);
        }
        if (!entry.width && !entry.marker) make("rect", { x: 5, y: 1, width: 16, height: 10, class: "fill" }, key);
        button.append(entry.name);
        button.addEventListener("click", () => this.toggle(number, button));
      });
      if (shaded) this.shades(bar, shaded);
      this.reset = html("button", { type: "button", class: "reset", hidden: "" }, bar);
      this.reset.textContent = "whole figure";
      this.reset.addEventListener("click", () => this.unzoom());
      return bar;
    }
    shades(bar, mark) {
      const order = mark.values.map((v, i) => [v, mark.shades[i]]).filter((pair) => pair[0] !== null).sort((a, b) => a[0] - b[0]);
      const key = html("span", { class: "key-of-colors" }, bar);
      const [low, high] = [order[0][0], order[order.length - 1][0]].map((v) => show(v, {}));
      key.append(`${mark.values_label || "color"}: ${low} `);
      html("i", { style: `background:linear-gradient(to right,${order.map((pair) => pair[1]).join()}${order.length < 2 ? `,${order[0][1]}` : ""})` }, key);
      key.append(` ${high}`);
    }
    toggle(number, button) {
      const on = this.off.delete(number);
      if (!on) this.off.add(number);
      button.setAttribute("aria-pressed", String(on));
      this.draw();
    }
    draw() {
      this.hide();
      this.body.replaceChildren();
      const rows = new Map();
      for (const view of this.views) {
        const key = this.width < NARROW ? rows.size : view.panel.row;
        rows.set(key, [...(rows.get(key) || []), view]);
      }
      for (const row of rows.values()) {
        const line = html("div", { class: "row" }, this.body);
        const total = row.reduce((sum, view) => sum + view.panel.share, 0);
        for (const view of row) this.panel(line, view, Math.floor((this.width * view.panel.share) / total));
      }
    }
    panel(parent, view, width) {
      const { panel } = view, top = MARGIN.top + (panel.title ? 24 : 0), bottom = MARGIN.bottom + (panel.x.label ? 18 : 0);
      const inner = this.width < NARROW ? Math.min(panel.height, Math.max(110, width * 0.75)) : panel.height;
      const height = top + inner + bottom, y = new Scale(panel.y, view.y, top + inner, top);
      const longest = Math.max(0, ...y.ticks().map((tick) => tick[1].length));
      const left = Math.min(Math.max(MARGIN.left, 24 + 6.4 * longest), width * 0.42);
      const svg = make("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": this.figure.dataset.alt || "" }, parent);
      const x = new Scale(panel.x, view.x, left, width - MARGIN.right);
      Object.assign(view, { svg, sx: x, sy: y });
      if (panel.title) make("text", { x: left, y: 18, class: "title" }, svg).textContent = panel.title;
      this.axes(svg, panel, x, y, height);
      const id = `clip-${Chart.count += 1}`;
      const clip = make("clipPath", { id }, svg);
      make("rect", { x: x.low - 6, y: y.high - 6, width: x.high - x.low + 12, height: inner + 12 }, clip);
      const marks = make("g", { "clip-path": `url(#${id})` }, svg);
      panel.marks.forEach((mark) => {
        if (this.off.has(mark.entry)) return;
        DRAW[mark.kind](mark, x, y, make("g", { style: painted(mark.colors), class: `mark ${mark.kind}` }, marks));
      });
      view.focus = make("circle", { r: 7, class: "focus", visibility: "hidden" }, svg);
      this.listen(view, make("rect", { x: x.low, y: y.high, width: x.high - x.low, height: inner, class: "sheet" }, svg));
    }
    axes(svg, panel, x, y, height) {
      const narrow = (label, room) => (label.length * 6.4 > room ? `${label.slice(0, Math.max(3, Math.floor(room / 6.4) - 1))}…` : label);
      for (const [value, label] of x.ticks()) {
        if (!x.within(value)) continue;
        const at = x.place(value);
        make("path", { d: `M${at},${y.low}V${y.high}`, class: "grid" }, svg);
        make("text", { x: at, y: y.low + 18, "text-anchor": "middle", class: "tick" }, svg).textContent = label;
      }
      for (const [value, label] of y.ticks()) {
        if (!y.within(value)) continue;
        const at = y.place(value);
        make("path", { d: `M${x.low},${at}H${x.high}`, class: "grid" }, svg);
        const text = make("text", { x: x.low - 8, y: at + 4, "text-anchor": "end", class: "tick" }, svg);
        text.textContent = narrow(label, x.low - 22);
        if (text.textContent !== label) make("title", {}, text).textContent = label;
      }
      make("path", { d: `M${x.low},${y.high}V${y.low}H${x.high}`, class: "axis" }, svg);
      if (panel.x.label) make("text", { x: (x.low + x.high) / 2, y: height - 6, "text-anchor": "middle", class: "label" }, svg).textContent = panel.x.label;
      const middle = (y.low + y.high) / 2;
      if (panel.y.label) {
        const label = make("text", { x: 0, y: 0, transform: `translate(13 ${middle}) rotate(-90)`, "text-anchor": "middle", class: "label" }, svg);
        label.textContent = narrow(panel.y.label, Math.abs(y.low - y.high) + 40);
      }
    }
    listen(view, sheet) {
      let start = null, area = null;
      const at = (event) => {
        const frame = view.svg.getBoundingClientRect();
        return [event.clientX - frame.left, event.clientY - frame.top];
      };
      sheet.addEventListener("pointerdown", (event) => {
        start = at(event);
        sheet.setPointerCapture(event.pointerId);
      });
      sheet.addEventListener("pointermove", (event) => {
        const now = at(event);
        if (!start) return this.hover(view, now);
        area ||= make("rect", { class: "dragged" }, view.svg);
        const [a, b] = this.corners(view, start, now, event.pointerType);
        for (const [key, value] of Object.entries({ x: a[0], y: a[1], width: b[0] - a[0], height: b[1] - a[1] })) area.setAttribute(key, value);
      });
      const end = (event) => {
        const now = at(event);
        if (start && Math.hypot(now[0] - start[0], now[1] - start[1]) > CLICK && event.type === "pointerup") {
          this.zoom(view, ...this.corners(view, start, now, event.pointerType));
        } else this.hover(view, now);
        if (area) area.remove();
        start = area = null;
      };
      sheet.addEventListener("pointerup", end);
      sheet.addEventListener("pointercancel", end);
      sheet.addEventListener("pointerleave", () => { if (!start) this.hide(); });
      sheet.addEventListener("dblclick", () => this.unzoom());
    }
    corners(view, one, other, pointer) {
      const { sx, sy } = view, bound = (v, a, b) => Math.min(Math.max(v, Math.min(a, b)), Math.max(a, b));
      const xs = [one[0], other[0]].map((v) => bound(v, sx.low, sx.high)).sort((a, b) => a - b);
      let ys = [one[1], other[1]].map((v) => bound(v, sy.low, sy.high)).sort((a, b) => a - b);
      if (pointer === "touch" || ys[1] - ys[0] < 3 * CLICK) ys = [sy.high, sy.low];
      if (xs[1] - xs[0] < 3 * CLICK) return [[sx.low, ys[0]], [sx.high, ys[1]]];
      return [[xs[0], ys[0]], [xs[1], ys[1]]];
    }
    zoom(view, [left, top], [right, bottom]) {
      const x = [view.sx.value(left), view.sx.value(right)];
      const same = (other) => other.panel.x.log === view.panel.x.log && String(other.panel.x.ends) === String(view.panel.x.ends);
      for (const other of this.views) if (same(other)) other.x = x;
      view.y = [view.sy.value(bottom), view.sy.value(top)];
      this.reset.hidden = false;
      this.draw();
    }
    unzoom() {
      for (const view of this.views) [view.x, view.y] = [view.panel.x.ends, view.panel.y.ends];
      this.reset.hidden = true;
      this.draw();
    }
    nearest(view, [px, py]) {
      let best = null;
      for (const mark of view.panel.marks) {
        if (this.off.has(mark.entry) || !["line", "bars", "segments"].includes(mark.kind)) continue;
        mark.x.forEach((_, i) => {
          const point = places(mark, i);
          if (!view.sx.has(point.x) || !view.sy.has(point.y)) return;
          const at = [view.sx.place(point.x), view.sy.place(point.y)];
          const distance = Math.hypot(at[0] - px, at[1] - py) + (mark.kind === "segments" ? 1 : 0);
          if (distance < (best ? best.distance : NEAR)) best = { mark, at, distance, place: i, ...point };
        });
      }
      return best;
    }
    hover(view, pixel) {
      const best = this.nearest(view, pixel);
      if (!best) return this.hide();
      this.hide();
      const { panel } = view, { mark } = best;
      const name = mark.entry >= 0 ? this.scene.entries[mark.entry].name : mark.label || "";
      const range = best.range || interval(panel, mark, best);
      this.tip.replaceChildren();
      if (name) html("strong", {}, this.tip).textContent = name;
      for (const [axis, value] of [[panel.x, best.x], [panel.y, best.y]]) {
        const label = axis.label.split("  ")[0], across = axis === panel.y ? "y" : "x";
        let text = show(value, axis);
        if (range && range.across === across) text += ` [${show(range.low, axis)}, ${show(range.high, axis)}]`;
        html("span", {}, this.tip).textContent = label ? `${label}: ${text}` : text;
      }
      if (mark.values) html("span", {}, this.tip).textContent = `${mark.values_label || "color"}: ${show(mark.values[best.place], {})}`;
      view.focus.setAttribute("cx", best.at[0]);
      view.focus.setAttribute("cy", best.at[1]);
      view.focus.setAttribute("style", painted(mark.colors));
      view.focus.setAttribute("visibility", "visible");
      this.tip.hidden = false;
      const frame = view.svg.getBoundingClientRect(), whole = this.figure.getBoundingClientRect();
      const left = frame.left - whole.left + best.at[0], over = left + this.tip.offsetWidth + 24 > whole.width;
      this.tip.style.left = `${Math.max(4, over ? left - this.tip.offsetWidth - 14 : left + 14)}px`;
      this.tip.style.top = `${frame.top - whole.top + Math.max(0, best.at[1] - this.tip.offsetHeight / 2)}px`;
    }
    hide() {
      this.tip.hidden = true;
      for (const view of this.views) if (view.focus) view.focus.setAttribute("visibility", "hidden");
    }
  }
  Chart.count = 0;

  const places = (mark, i) => {
    if (mark.kind === "line") return { x: mark.x[i], y: mark.y[i] };
    if (mark.kind === "bars") return { x: (mark.x[i] + mark.x_end[i]) / 2, y: mark.y_end[i] };
    const upright = mark.x[i] === mark.x_end[i];
    const ends = upright ? [mark.y[i], mark.y_end[i]] : [mark.x[i], mark.x_end[i]];
    const range = { across: upright ? "y" : "x", low: Math.min(...ends), high: Math.max(...ends) };
    return { x: upright ? mark.x[i] : (ends[0] + ends[1]) / 2, y: upright ? (ends[0] + ends[1]) / 2 : mark.y[i], range };
  };
  const interval = (panel, mark, point) => {
    const close = (a, b) => Math.abs(a - b) <= 1e-6 * Math.max(Math.abs(a), Math.abs(b), 1e-12);
    for (const other of panel.marks) {
      if (other.kind !== "segments" || String(other.colors) !== String(mark.colors)) continue;
      for (let i = 0; i < other.x.length; i += 1) {
        const { range } = places(other, i);
        const along = range.across === "y" ? close(other.x[i], point.x) : close(other.y[i], point.y);
        const value = range.across === "y" ? point.y : point.x;
        if (along && value >= range.low && value <= range.high) return range;
      }
    }
    return null;
  };

  const figures = document.querySelectorAll("figure.chart");
  const start = (figure) => {
    seen.unobserve(figure);
    if (!figure.matches(".drawn")) new Chart(figure).resize();
  };
  const look = (entries) => entries.filter((each) => each.isIntersecting).forEach((each) => start(each.target));
  const seen = new IntersectionObserver(look, { rootMargin: "600px" });
  figures.forEach((figure) => seen.observe(figure));
  addEventListener("beforeprint", () => figures.forEach(start));
})();
