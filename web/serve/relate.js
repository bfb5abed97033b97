// Two models: does one implement the other, and where do they part? A property: what is it, can it be tested?

import { action, complaint, make, post } from "./api.js";
import { positionAfter } from "./walk.js";

const RELATIONS = ["ioco", "uioco", "ioconf", "iot", "trace", "testing", "conf"];

export class Relate {
  constructor(root, page) {
    this.page = page;
    const option = (value) => make("option", { value }, value);
    this.relation = make("select", { id: "relation" }, ...RELATIONS.map(option));
    this.implementation = make("select", { id: "implementation" });
    this.specification = make("select", { id: "specification" });
    this.completion = make("select", { id: "completion" }, make("option", { value: "" }, "as they are"),
      ...["self-loop", "chaos"].map(option));
    this.answer = make("div", { "aria-live": "polite" });
    root.append(make("div", { class: "bar" },
      make("label", { for: "implementation" }, "implementation"), this.implementation,
      make("label", { for: "relation" }, "relation"), this.relation,
      make("label", { for: "specification" }, "specification"), this.specification,
      make("label", { for: "completion" }, "missing inputs"), this.completion,
      make("button", { type: "button", class: "primary", click: () => this.ask() }, "relate")), this.answer);
  }

  open() {
    const systems = this.page.systems();
    for (const select of [this.implementation, this.specification]) {
      const old = select.value || this.page.model;
      select.replaceChildren(...systems.map((value) => make("option", { value }, value)));
      if (systems.includes(old)) select.value = old;
    }
  }

  async ask() {
    const [implementation, specification] = [this.implementation.value, this.specification.value];
    const asked = { relation: this.relation.value, implementation, specification };
    if (this.completion.value) asked.complete_inputs = this.completion.value;
    this.page.say("relating…");
    const answer = await post("/api/relate", asked).catch((error) => this.page.say(error.message, true));
    if (!answer) return;
    this.page.say("");
    await this.page.both(implementation, specification);
    this.page.command(answer.command);
    const document = answer.document;
    if (!document || answer.exit > 1) {
      this.answer.replaceChildren(make("pre", { class: "bad" }, complaint(answer)));
      return;
    }
    const names = [make("span", { class: "mono" }, implementation), ` ${document.relation} `,
      make("span", { class: "mono" }, specification), ": "];
    if (document.holds) {
      this.answer.replaceChildren(make("p", {}, ...names, make("span", { class: "verdict good" }, "holds")));
      return;
    }
    const { trace, observed, allowed } = document.counterexample;
    const shown = make("p", { class: "mono where" });
    const at = make("input", { type: "range", min: 0, max: trace.length, value: trace.length,
      "aria-label": "Step of the counterexample", input: () => this.step(trace, Number(at.value), shown) });
    const text = (value) => typeof value === "string" ? action(value) : make("code", {}, JSON.stringify(value));
    this.answer.replaceChildren(
      make("p", {}, ...names, make("span", { class: "verdict bad" }, "does not hold")),
      make("p", {}, "after ", ...(trace.length ? trace.flatMap((a) => [action(a), " "]) : ["ε "]),
        "observed ", text(observed), ", allowed ", ...(allowed.length ? allowed.flatMap((a) => [text(a), " "]) : ["nothing"])),
      make("div", { class: "bar" }, "walk it", at), shown);
    this.step(trace, trace.length, shown);
  }

  async step(trace, length, shown) {
    const prefix = trace.slice(0, length);
    const turn = this.turn = {};
    const forwards = length === this.shownLength + 1;
    this.shownLength = length;
    shown.textContent = `step ${length} of ${trace.length}` + (length ? ", after " + prefix[length - 1] : "");
    const sides = [[this.page.left, this.implementation.value], [this.page.right, this.specification.value]];
    for (const [graph, model] of sides) {
      const answer = await positionAfter(model, prefix).catch(() => null);
      if (this.turn !== turn) return;
      graph.light(answer && answer.document && !answer.document.stopped ? answer.document.places : [], forwards);
    }
  }
}

export class Property {
  constructor(root, page) {
    this.page = page;
    this.property = make("input", { id: "property", list: "properties", placeholder: "FILE#P or ltl:G(?a -> F !x)" });
    this.list = make("datalist", { id: "properties" });
    this.over = make("input", { id: "over", placeholder: "?a,!x (for a formula)" });
    this.answer = make("div", { "aria-live": "polite" });
    root.append(make("form", { class: "bar", submit: (event) => { event.preventDefault(); this.ask(); } },
      make("label", { for: "property" }, "property"), this.property, this.list,
      make("label", { for: "over" }, "over"), this.over,
      make("button", { type: "submit", class: "primary" }, "classify"),
      make("button", { type: "button", click: () => this.verify() }, "verify on the model")), this.answer);
  }

  open() {
    this.list.replaceChildren(...this.page.properties().map((value) => make("option", { value })));
  }

  async verify() {
    const { model } = this.page;
    if (!model) return;
    const answer = await post("/api/verify", { model, property: this.property.value })
      .catch((error) => this.page.say(error.message, true));
    if (!answer) return;
    this.page.command(answer.command);
    const kind = answer.exit === 0 ? "good" : answer.exit === 1 ? "bad" : "open";
    const verdict = ["proved", "refuted"][answer.exit] || "not decided";
    const more = answer.document ? JSON.stringify(answer.document, null, 2) : complaint(answer);
    this.answer.replaceChildren(make("p", {}, `${model}: `, make("span", { class: "verdict " + kind }, verdict)),
      make("pre", {}, more));
  }

  async ask() {
    const asked = { property: this.property.value, over: this.over.value };
    const answer = await post("/api/property", asked).catch((error) => this.page.say(error.message, true));
    if (!answer) return;
    this.page.command(answer.class.command);
    this.page.say("");
    const { class: found, testable, picture, tester } = answer;
    if (!found.document) {
      this.answer.replaceChildren(make("pre", { class: "bad" }, complaint(found)));
      return;
    }
    const word = (c) => c.class + (c.m ? ` (m = ${c.m})` : "");
    const rows = (testable.document ? testable.document.relations : []).map((r) => make("tr", {},
      make("th", { scope: "row" }, r.relation), make("td", { class: r.testable ? "good" : "open" }, r.testable ? "testable" : "not testable"),
      make("td", {}, r.verdicts.map((v) => v.verdict + ": " + (v.obtainable ? "after " + (v.witness || "ε") : v.why_not || "no")).join("; "))));
    const canvas = make("div", { class: "canvas", id: "property-picture" });
    const testing = make("div", { class: "canvas", id: "tester-picture" });
    this.answer.replaceChildren(make("p", {}, "class ", make("strong", {}, word(found.document.class)), ", infinite words ",
      make("strong", {}, word(found.document.semantic)), `, ${found.document.states} states`),
      make("table", {}, make("tbody", {}, ...rows)),
      make("div", { class: "columns" },
        make("figure", {}, canvas, make("figcaption", { class: "soft" }, "the property: good and bad for ever, good and bad so far")),
        make("figure", {}, testing, make("figcaption", { class: "soft" }, "its canonical tester"))));
    for (const [place, drawn] of [[canvas, picture], [testing, tester]]) {
      if (drawn.exit === 0) {
        const parsed = new DOMParser().parseFromString(drawn.text, "image/svg+xml");
        place.append(document.importNode(parsed.documentElement, true));
      } else {
        place.append(make("p", { class: "empty" }, complaint(drawn)));
      }
    }
  }
}
