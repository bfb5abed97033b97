// A graph that can be moved, enlarged and searched, and whose states light up.

import { complaint, make, post } from "./api.js";

const VIEWS = [
  ["model", "as it is"], ["suspension", "with δ"], ["determinised", "determinised"],
  ["suspension-automaton", "suspension automaton"], ["self-loop-completed", "inputs completed"],
  ["test", "test (needs observer)"], ["pruned", "pruned test (needs observer)"],
];

export class Graph {
  constructor(root, page) {
    this.page = page;
    this.model = null;
    this.text = null;
    this.names = new Map();
    this.title = make("strong", { class: "mono" }, "no model");
    this.view = make("select", { "aria-label": "View", change: () => this.draw() });
    for (const [value, text] of VIEWS) this.view.append(make("option", { value }, text));
    this.observer = make("select", { "aria-label": "Observer", hidden: true, change: () => this.draw() });
    const search = make("input", { type: "search", placeholder: "find a state", "aria-label": "Find a state",
      input: () => this.find(search.value) });
    this.count = make("span", { class: "soft" });
    this.canvas = make("div", { class: "canvas", tabindex: "0", role: "img", "aria-label": "no graph" },
      make("p", { class: "empty" }, "Choose a model on the left."));
    const zoom = (factor) => () => this.zoom(factor);
    // Only the first graph can have another view beside it.
    this.beside = root.id === "left"
      ? make("button", { type: "button", "aria-pressed": "false", click: () => page.beside() }, "another view beside") : null;
    root.append(make("div", { class: "bar" }, this.title, this.view, this.observer, search,
      make("button", { type: "button", "aria-label": "larger", click: zoom(0.8) }, "+"),
      make("button", { type: "button", "aria-label": "smaller", click: zoom(1.25) }, "−"),
      make("button", { type: "button", click: () => this.fit() }, "fit"), this.beside, this.count), this.canvas);
    this.listen();
  }

  async show(model, text = null) {
    if (model !== this.model) {
      this.view.value = "model";
      const observers = this.page.observers();
      this.observer.replaceChildren(...observers.map((value) => make("option", { value }, value)));
    }
    [this.model, this.text] = [model, text];
    this.title.textContent = model;
    await this.draw();
  }

  async draw() {
    if (!this.model) return;
    const view = this.view.value;
    const test = view === "test" || view === "pruned";
    this.observer.hidden = !test;
    const asked = { model: this.model, view };
    if (this.text !== null) asked.text = this.text;
    if (test) asked.observer = this.observer.value;
    const turn = this.turn = {};
    try {
      const answer = await post("/api/show", asked);
      if (this.turn !== turn) return;
      this.page.command(answer.command);
      if (answer.exit !== 0) throw new Error(complaint(answer));
      const parsed = new DOMParser().parseFromString(answer.text, "image/svg+xml");
      const svg = document.importNode(parsed.documentElement, true);
      svg.removeAttribute("width");
      svg.removeAttribute("height");
      this.canvas.replaceChildren(svg);
      this.size = svg.getAttribute("viewBox").split(" ").map(Number);
      this.names.clear();
      for (const rect of svg.querySelectorAll("rect[data-state]")) {
        const name = rect.getAttribute("data-name");
        if (!this.names.has(name)) this.names.set(name, []);
        this.names.get(name).push(rect);
      }
      const edges = svg.querySelectorAll("path[data-edge]").length;
      const states = svg.querySelectorAll("rect[data-state]").length;
      this.count.textContent = `${states} states, ${edges} edges`;
      this.canvas.setAttribute("aria-label", `graph of ${this.model}: ${states} states, ${edges} edges`);
      this.fit();
      this.light(this.places || []);
      this.page.say("");
    } catch (error) {
      if (this.turn !== turn) return;
      this.canvas.replaceChildren(make("p", { class: "empty" }, "no picture: " + error.message));
      this.size = null;
      this.names.clear();
    }
  }

  // Lights the states with these names, and after a step forwards the edges from those that were lit before.
  light(places, forwards = false) {
    const bare = (text) => text.replace(/ \(line \d+\).*$/, "").replace(/ when .*$/, "");
    const before = (forwards && this.lit || []).map((rect) => rect.getAttribute("data-state"));
    for (const old of this.canvas.querySelectorAll(".lit")) old.classList.remove("lit");
    this.places = places;
    this.lit = places.flatMap((place) => this.names.get(place) || this.names.get(bare(place)) || []);
    for (const rect of this.lit) {
      rect.classList.add("lit");
      const to = rect.getAttribute("data-state");
      for (const from of before) {
        const edge = this.canvas.querySelector(`path[data-edge="${from}-${to}"]`);
        if (edge) edge.classList.add("lit");
      }
    }
  }

  find(text) {
    for (const old of this.canvas.querySelectorAll(".found")) old.classList.remove("found");
    if (!text) return;
    const found = [...this.names].filter(([name]) => name.toLowerCase().includes(text.toLowerCase()));
    const rects = found.flatMap(([, rects]) => rects);
    for (const rect of rects) rect.classList.add("found");
    this.page.say(rects.length + (rects.length === 1 ? " state has that name" : " states have that in their names"));
    if (rects.length && this.box) {
      const at = (name) => Number(rects[0].getAttribute(name));
      const [, , w, h] = this.box;
      this.set([at("x") + at("width") / 2 - w / 2, at("y") + at("height") / 2 - h / 2, w, h]);
    }
  }

  fit() {
    if (this.size) this.set([...this.size]);
  }

  set(box) {
    this.box = box;
    const svg = this.canvas.querySelector("svg");
    if (svg) svg.setAttribute("viewBox", box.join(" "));
  }

  zoom(factor, at = [0.5, 0.5]) {
    if (!this.box) return;
    const [x, y, w, h] = this.box;
    const width = Math.min(Math.max(w * factor, 60), this.size[2] * 4);
    const grown = width / w;
    this.set([x + (w - w * grown) * at[0], y + (h - h * grown) * at[1], w * grown, h * grown]);
  }

  move(right, down) {
    if (!this.box) return;
    const [x, y, w, h] = this.box;
    this.set([x + right * w, y + down * h, w, h]);
  }

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const area = canvas.getBoundingClientRect();
      const at = [(event.clientX - area.left) / area.width, (event.clientY - area.top) / area.height];
      this.zoom(event.deltaY > 0 ? 1.15 : 0.87, at);
    }, { passive: false });
    let held = null;
    canvas.addEventListener("pointerdown", (event) => {
      held = [event.clientX, event.clientY];
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!held || !this.box) return;
      const area = canvas.getBoundingClientRect();
      // The picture keeps its proportions, so one of the two directions has room to spare.
      const scale = Math.max(this.box[2] / area.width, this.box[3] / area.height);
      const [x, y, w, h] = this.box;
      this.set([x - (event.clientX - held[0]) * scale, y - (event.clientY - held[1]) * scale, w, h]);
      held = [event.clientX, event.clientY];
    });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => { held = null; });
    canvas.addEventListener("keydown", (event) => {
      const moves = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] };
      if (moves[event.key]) this.move(...moves[event.key]);
      else if (event.key === "+") this.zoom(0.8);
      else if (event.key === "-") this.zoom(1.25);
      else if (event.key === "0") this.fit();
      else return;
      event.preventDefault();
    });
  }
}
