// Editing a model, with diagnostics and the picture as one types.

import { complaint, get, make, post, put } from "./api.js";
import { forget } from "./walk.js";

export class Edit {
  constructor(root, page) {
    this.page = page;
    this.lines = make("pre", { "aria-hidden": "true" }, "1");
    this.area = make("textarea", { spellcheck: "false", "aria-label": "Text of the model", wrap: "off",
      input: () => this.changed(), scroll: () => { this.lines.scrollTop = this.area.scrollTop; },
      keydown: (event) => {
        if ((event.ctrlKey || event.metaKey) && event.key === "s") { event.preventDefault(); this.save(); }
      } });
    this.found = make("ul", { class: "found", "aria-live": "polite" });
    this.button = make("button", { type: "button", class: "primary", disabled: true, click: () => this.save() }, "save");
    this.state = make("span", { class: "soft" });
    root.append(make("div", { class: "bar" }, this.button, this.state),
      make("div", { class: "editor" }, this.lines, this.area), this.found);
  }

  async open() {
    const path = (this.page.model || this.page.file || "").split("#")[0];
    if (!path || path === this.path && this.isDirty()) return;
    try {
      const file = await get("/api/file?path=" + encodeURIComponent(path));
      Object.assign(this, { path, version: file.version, saved: file.text });
      this.area.value = file.text;
      this.number();
      this.check();
    } catch (error) {
      this.page.say(error.message, true);
    }
  }

  isDirty() { return this.saved !== undefined && this.area.value !== this.saved; }

  number() {
    const count = this.area.value.split("\n").length;
    this.lines.textContent = Array.from({ length: count }, (_, k) => k + 1).join("\n");
    this.button.disabled = !this.isDirty();
    this.state.textContent = this.path ? this.path + (this.isDirty() ? ", not saved" : "") : "";
  }

  changed() {
    this.number();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), 300);
  }

  async check() {
    const turn = this.turn = {};
    const text = this.area.value;
    const own = this.path.endsWith(".iol");
    const asked = own ? { path: this.path, text } : { path: this.path };
    const answer = await post("/api/check", asked).catch((error) => this.page.say(error.message, true));
    if (!answer || this.turn !== turn) return;
    const file = answer.document && answer.document.files[0];
    if (!file) { this.found.replaceChildren(make("li", { class: "bad" }, complaint(answer))); return; }
    const rows = file.diagnostics.map((d) => make("li", { class: d.severity === "error" ? "bad" : "open" },
      make("button", { type: "button", click: () => this.go(d) }, `line ${d.line}`),
      ` ${d.code} ${d.message}${d.hint ? " (" + d.hint + ")" : ""}`));
    this.found.replaceChildren(...(rows.length ? rows : [make("li", { class: "good" }, "nothing wrong")]));
    const errors = file.diagnostics.some((d) => d.severity === "error");
    if (own && !errors && this.page.model && this.page.model.split("#")[0] === this.path) {
      this.page.left.show(this.page.model, this.isDirty() ? text : null);
    }
  }

  go(d) {
    const starts = [0];
    for (const line of this.area.value.split("\n")) starts.push(starts[starts.length - 1] + line.length + 1);
    const from = starts[d.line - 1] + d.column - 1;
    const to = starts[d.end_line - 1] + d.end_column - 1;
    this.area.focus();
    this.area.setSelectionRange(from, Math.max(to, from + 1));
  }

  async save() {
    if (!this.isDirty()) return;
    const asked = { path: this.path, text: this.area.value, version: this.version };
    const file = await put("/api/file", asked).catch((error) => this.page.say(error.message, true));
    if (!file) return;
    Object.assign(this, { version: file.version, saved: file.text });
    forget();
    this.number();
    this.page.say("saved " + this.path);
    await this.page.refresh(this.path);
  }
}
