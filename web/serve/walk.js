// Stepping through a model by clicking.

import { action, complaint, make, post } from "./api.js";

// Where a trace leads; the same question twice is asked once.
const known = new Map();
export async function positionAfter(model, trace, text = null) {
  const key = JSON.stringify([model, trace, text]);
  if (!known.has(key)) {
    if (known.size > 500) known.clear();
    const asked = { model, trace };
    if (text !== null) asked.text = text;
    known.set(key, await post("/api/walk", asked));
  }
  return known.get(key);
}

export function forget() {
  known.clear();
}

export class Walk {
  constructor(root, page) {
    this.page = page;
    this.trace = [];
    this.place = make("p");
    this.path = make("p", { "aria-label": "Trace so far" });
    this.offers = make("div", { class: "offers", role: "group", "aria-label": "What is possible" });
    const own = make("input", { "aria-label": "Another action", placeholder: "?a(1), !x, delta" });
    const form = make("form", { class: "bar", submit: (event) => {
      event.preventDefault();
      if (own.value.trim()) this.take(own.value.trim());
      own.value = "";
    } }, make("button", { type: "button", click: () => this.back() }, "back"),
      make("button", { type: "button", click: () => this.start() }, "from the start"),
      make("label", {}, "other values ", own), make("button", { type: "submit" }, "take"));
    root.append(this.path, this.place, this.offers, form);
  }

  open() { this.start(); }

  async start() {
    this.trace = [];
    await this.update(null);
  }

  async back() {
    this.trace = this.trace.slice(0, -1);
    await this.update(null);
  }

  async take(text) {
    await this.update(text);
  }

  async update(next) {
    const { model } = this.page;
    if (!model) return;
    const wanted = next === null ? this.trace : [...this.trace, next];
    let answer;
    try {
      answer = await positionAfter(model, wanted);
    } catch (error) {
      this.page.say(error.message, true);
      return;
    }
    this.page.command(answer.command);
    const at = answer.document;
    if (!at) {
      this.page.say(complaint(answer), true);
      this.offers.replaceChildren();
      return;
    }
    this.page.say(at.stopped ? `${at.stopped.action} ${at.stopped.why}` : "", Boolean(at.stopped));
    this.trace = at.trace;
    this.path.replaceChildren("trace: ", ...(at.trace.length ? at.trace.flatMap((a) => [action(a), " "]) : ["ε"]));
    this.place.textContent = "in " + at.places.join(", ");
    this.offers.replaceChildren(...at.offers.map((offer) => make("button",
      { type: "button", title: offer.guard || "", click: () => this.take(offer.action) }, action(offer.action))));
    if (!at.offers.length) this.offers.append(make("span", { class: "soft" }, "nothing is possible here"));
    if (at.silence_undecided) this.offers.append(make("span", { class: "open" }, "δ is undecided"));
    this.page.left.light(at.places, next !== null && !at.stopped);
  }
}
