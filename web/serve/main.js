// The page: files on the left, one or two graphs, and tools below them.

import { complaint, get, make, post } from "./api.js";
import { Edit } from "./edit.js";
import { Fleet } from "./fleet.js";
import { Graph } from "./graph.js";
import { Live } from "./live.js";
import { Property, Relate } from "./relate.js";
import { Reports } from "./reports.js";
import { Walk } from "./walk.js";

const $ = (id) => document.getElementById(id);

class Page {
  constructor() {
    this.files = [];
    // What each model file declares, once it was looked at.
    this.declared = new Map();
    this.model = null;
    this.left = new Graph($("left"), this);
    this.right = new Graph($("right"), this);
    this.tools = [["step", "Step", Walk], ["relate", "Relate", Relate], ["test", "Test", Live],
      ["property", "Property", Property], ["edit", "Edit", Edit], ["reports", "Reports", Reports]].map(([id, title, Tool]) => this.tab(id, title, Tool));
    $("filter").addEventListener("input", () => this.list());
    $("copy").addEventListener("click", () => navigator.clipboard.writeText($("command").textContent));
    this.load();
  }

  say(text, bad = false) {
    $("status").textContent = text;
    $("status").classList.toggle("bad", bad);
  }

  command(text) {
    $("command").textContent = text;
    $("copy").hidden = false;
  }

  tab(id, title, Tool) {
    const panel = make("div", { role: "tabpanel", id: "panel-" + id, "aria-labelledby": "tab-" + id, hidden: true });
    const tab = make("button", { role: "tab", type: "button", id: "tab-" + id, "aria-controls": "panel-" + id,
      "aria-selected": "false", tabindex: "-1", click: () => this.select(id), keydown: (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const at = this.tools.findIndex((tool) => tool.id === id);
        const next = this.tools[(at + step + this.tools.length) % this.tools.length];
        this.select(next.id);
        next.tab.focus();
      } }, title);
    $("tabs").append(tab);
    $("tab-panels").append(panel);
    return { id, tab, panel, tool: new Tool(panel, this) };
  }

  select(id) {
    for (const each of this.tools) {
      const on = each.id === id;
      each.panel.hidden = !on;
      each.tab.setAttribute("aria-selected", String(on));
      each.tab.tabIndex = on ? 0 : -1;
      if (on) each.tool.open();
    }
    this.selected = id;
    this.arrange();
  }

  // The second graph: of the other model while two are related, or another view of the same one.
  arrange() {
    $("right").hidden = !this.isBeside && (this.selected !== "relate" || !this.right.model);
    this.left.beside.setAttribute("aria-pressed", String(Boolean(this.isBeside)));
  }

  async beside() {
    this.isBeside = !this.isBeside;
    if (!this.isBeside) this.right.model = null;
    else if (this.left.model) await this.right.show(this.left.model);
    this.arrange();
  }

  async load() {
    try {
      const listing = await get("/api/files");
      this.files = listing.files;
      if (listing.fleet) this.tools.push(this.tab("fleet", "Fleet", Fleet));
      await Promise.all(this.files.filter((f) => f.kind === "model").map((f) => this.look(f.path)));
      this.list();
      this.say(listing.more ? "the folder has more files than are listed" : "");
      const wanted = decodeURIComponent(location.hash.slice(1));
      const first = this.systems().includes(wanted) ? wanted : this.systems()[0];
      if (first) await this.choose(first);
      this.select("step");
    } catch (error) {
      this.say(error.message, true);
    }
  }

  async look(path) {
    const answer = await post("/api/check", { path }).catch((error) => ({ said: error.message, text: "" }));
    const file = answer.document && answer.document.files[0];
    this.declared.set(path, file ? file.declarations : []);
    if (!file) this.say(complaint(answer), true);
    return file;
  }

  async refresh(path) {
    await this.look(path);
    this.list();
  }

  references(...kinds) {
    return [...this.declared].sort(([a], [b]) => a.localeCompare(b)).flatMap(([path, all]) => all
      .filter((d) => kinds.includes(d.kind)).map((d) => d.name ? `${path}#${d.name}` : path));
  }

  systems() { return this.references("system", "process"); }
  observers() { return this.references("observer", "purpose"); }
  properties() { return [...this.references("property", "observer"), ...this.of("property")]; }
  descriptions() { return this.of("description"); }
  of(kind) { return this.files.filter((f) => f.kind === kind).map((f) => f.path); }

  list() {
    const filter = $("filter").value.toLowerCase();
    const rows = this.files.filter((f) => f.path.toLowerCase().includes(filter)).map((file) => {
      const declared = this.declared.get(file.path) || [];
      const entry = (reference, text, kind) => make("li", {}, make("button", { type: "button", "data-model": reference,
        "aria-current": String(reference === this.model), click: () => this.choose(reference) }, text, make("span", { class: "kind" }, kind)));
      if (file.kind !== "model") return make("li", {}, make("span", { class: "soft" }, file.path));
      if (declared.length === 1 && !declared[0].name) return entry(file.path, file.path, "system");
      return make("li", {}, make("button", { type: "button", click: () => this.edit(file.path) }, file.path),
        make("ul", {}, ...declared.map((d) => entry(`${file.path}#${d.name}`, d.name, d.kind))));
    });
    $("files").replaceChildren(...rows);
  }

  async choose(reference) {
    this.model = reference;
    location.hash = encodeURIComponent(reference);
    for (const button of document.querySelectorAll("nav button[data-model]")) {
      button.setAttribute("aria-current", String(button.dataset.model === reference));
    }
    this.left.light([]);
    await this.left.show(reference);
    if (this.isBeside) await this.right.show(reference);
    const tool = this.tools.find((each) => each.id === this.selected);
    if (tool) tool.tool.open();
  }

  async edit(path) {
    this.file = path;
    if (!this.model || this.model.split("#")[0] !== path) this.model = null;
    this.select("edit");
  }

  // Two graphs side by side.
  async both(left, right) {
    await Promise.all([this.left.show(left), this.right.show(right)]);
    $("right").hidden = false;
  }
}

new Page();
