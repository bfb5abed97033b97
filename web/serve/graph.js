// A graph that can be moved, enlarged and searched, and whose states light up.

import { complaint, make, post } from "./api.js";

const VIEWS = [
  ["model", "as it is"], ["suspension", "with δ"], ["determinised", "determinised"],
  ["suspension-automaton", "suspension automaton"], ["self-loop-completed", "inputs completed"],
  ["composition", "parts of a composition"], ["product", "product (needs observer)"],
  ["test", "test (needs observer)"], ["pruned", "pruned test (needs observer)"],
];

export class Graph {
  constructor(root, page) {
    this.page = page;
    this.model = null;
    this.text = null;
    this.names = new Map();
    this.title = make("strong", { class: "mono" }, "no model");
    this.view = make("select", { "aria-label": "View", change: () => { this.groups = []; this.draw(); } });
    for (const [value, text] of VIEWS) this.view.append(make("option", { value }, text));
    this.observer = make("select", { "aria-label": "Observer", hidden: true, change: () => this.draw() });
    const search = this.search = make("input", { type: "search", placeholder: "find a state",
      "aria-label": "Find a state; Enter chooses what is found", input: () => this.find(search.value),
      keydown: (event) => { if (event.key === "Enter") { event.preventDefault(); this.chooseFound(); } } });
    // Groups of states that somebody folded, by their numbers in the unfolded picture.
    this.groups = [];
    this.foldButton = make("button", { type: "button", disabled: true, click: () => this.fold(),
      title: "draw the chosen states as one: click states, or find them and press Enter" }, "fold");
    this.unfoldButton = make("button", { type: "button", disabled: true, click: () => this.unfold() }, "unfold");
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
      make("button", { type: "button", click: () => this.fit() }, "fit"), this.foldButton, this.unfoldButton, this.beside, this.count), this.canvas);
    this.listen();
  }

  async show(model, text = null) {
    if (model !== this.model || text !== this.text) this.groups = [];
    if (model !== this.model) {
      this.view.value = "model";
      this.base = null;
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
    const test = ["product", "test", "pruned"].includes(view);
    this.observer.hidden = !test;
    const asked = { model: this.model, view };
    if (this.text !== null) asked.text = this.text;
    if (test) asked.observer = this.observer.value;
    if (this.groups.length) asked.collapse = this.groups;
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
      const rects = [...svg.querySelectorAll("rect[data-state]")];
      if (!this.groups.length) {
        this.base = rects.some((rect) => rect.dataset.members) ? null
          : new Map(rects.map((rect) => [rect.dataset.state, rect.dataset.name]));
      }
      const known = (name, rect) => {
        if (!this.names.has(name)) this.names.set(name, []);
        this.names.get(name).push(rect);
      };
      for (const rect of rects) {
        known(rect.dataset.name, rect);
        // A state within a folded node lights that node.
        const members = (rect.dataset.members || "").split(" ").filter(Boolean);
        if (members.length > 1 && this.base) for (const member of members) known(this.base.get(member), rect);
      }
      this.chosen();
      const edges = svg.querySelectorAll("path[data-edge]").length;
      const states = svg.querySelectorAll("rect[data-state]").length;
      this.count.textContent = `${states} states, ${edges} edges`;
      this.canvas.setAttribute("aria-label", `graph of ${this.model}: ${states} states, ${edges} edges`);
      this.fit();
      this.light(this.places || []);
      this.page.say("");
      if (this.search.value) this.find(this.search.value);
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

  // The states that are chosen, and what may be done with them.
  chosen() {
    const rects = [...this.canvas.querySelectorAll("rect.chosen")];
    this.foldButton.disabled = rects.length < 2;
    this.unfoldButton.disabled = !this.groups.length;
    return rects;
  }

  chooseFound() {
    const found = this.canvas.querySelectorAll("rect.found");
    for (const rect of found) rect.classList.add("chosen");
    this.chosen();
    this.page.say(found.length + (found.length === 1 ? " state is chosen" : " states are chosen"));
  }

  static members(rect) {
    return (rect.dataset.members || rect.dataset.state).split(" ").map(Number);
  }

  async fold() {
    const rects = this.chosen();
    const group = rects.flatMap(Graph.members);
    const taken = new Set(group);
    this.groups = this.groups.filter((old) => !old.some((number) => taken.has(number)));
    this.groups.push(group);
    await this.draw();
  }

  // The chosen nodes come apart again; all of them where none is chosen.
  async unfold() {
    const chosen = new Set(this.chosen().flatMap(Graph.members));
    this.groups = chosen.size ? this.groups.filter((old) => !old.some((number) => chosen.has(number))) : [];
    await this.draw();
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
    let hit = null;
    canvas.addEventListener("pointerdown", (event) => {
      held = [event.clientX, event.clientY];
      hit = event.target.closest("rect[data-state]") && { rect: event.target, at: held };
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
    canvas.addEventListener("pointerup", (event) => {
      // A click, not a drag.
      if (hit && Math.hypot(event.clientX - hit.at[0], event.clientY - hit.at[1]) < 4) {
        hit.rect.classList.toggle("chosen");
        this.chosen();
      }
    });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => { held = hit = null; });
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
