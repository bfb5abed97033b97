// A test that runs while one looks: the trace as it grows, the states that are possible, and orders to it.

import { action, address, make, post } from "./api.js";
import { positionAfter } from "./walk.js";

// Rows of the log; older ones go.
const ROWS = 400;

export class Live {
  constructor(root, page) {
    this.page = page;
    this.sut = make("select", { id: "sut" });
    const number = (id, value) => make("input", { id, type: "number", min: 0, value });
    this.runs = number("runs", 10);
    this.steps = number("steps", 50);
    this.seed = number("seed", 0);
    this.paused = make("input", { id: "paused", type: "checkbox" });
    const order = (text) => () => this.order(text);
    this.buttons = [["pause", "pause"], ["resume", "resume"], ["step", "one step"], ["observe", "observe"], ["stop", "stop"]]
      .map(([text, label]) => make("button", { type: "button", disabled: true, click: order(text) }, label));
    this.summary = make("p", { "aria-live": "polite" }, "no test yet");
    this.coverage = make("progress", { max: 1, value: 0, "aria-label": "coverage", hidden: true });
    this.offers = make("div", { class: "offers", role: "group", "aria-label": "Stimuli to give" });
    this.list = make("ol", {});
    this.log = make("div", { class: "log", tabindex: "0", "aria-label": "What happened" }, this.list);
    this.said = make("pre", { hidden: true });
    root.append(make("form", { class: "bar", submit: (event) => { event.preventDefault(); this.start(); } },
      make("label", { for: "sut" }, "system under test"), this.sut,
      make("label", { for: "runs" }, "runs"), this.runs, make("label", { for: "steps" }, "steps"), this.steps,
      make("label", { for: "seed" }, "seed"), this.seed,
      make("label", {}, this.paused, "paused at the start"),
      make("button", { type: "submit", class: "primary" }, "test")),
    make("div", { class: "bar" }, ...this.buttons, this.coverage), this.summary, this.offers,
    make("div", { class: "columns" }, this.log, this.said));
  }

  open() {
    const old = this.sut.value;
    const targets = [...this.page.descriptions(), ...this.page.systems().map((m) => "model:" + m)];
    this.sut.replaceChildren(...targets.map((value) => make("option", { value }, value)));
    if (targets.includes(old)) this.sut.value = old;
  }

  async start() {
    const { model } = this.page;
    if (!model) { this.page.say("choose a model first", true); return; }
    if (this.source) this.source.close();
    const asked = { model, sut: this.sut.value, runs: Number(this.runs.value), steps: Number(this.steps.value),
      seed: Number(this.seed.value), paused: this.paused.checked };
    const started = await post("/api/test", asked).catch((error) => this.page.say(error.message, true));
    if (!started) return;
    this.page.command(started.command);
    this.page.say("");
    Object.assign(this, { id: started.id, model, trace: [], run: 0, count: 0, verdicts: new Map(), begun: performance.now(), bytes: [], last: null,
      isPaused: asked.paused, next: 0 });
    this.list.replaceChildren();
    this.said.hidden = true;
    this.coverage.hidden = true;
    for (const button of this.buttons) button.disabled = false;
    this.listen();
    this.tell();
  }

  listen() {
    this.source = new EventSource(address(`/api/test/${this.id}/events?from=${this.next}`));
    this.source.onmessage = (message) => this.take(JSON.parse(message.data));
    // The browser would ask for everything again from the first event.
    this.source.onerror = () => {
      this.source.close();
      if (!this.ended) setTimeout(() => this.listen(), 1000);
    };
    this.ended = false;
  }

  take({ next, skipped, events, ended }) {
    this.next = next;
    if (skipped) this.row(make("li", { class: "end soft" }, `… ${skipped} events not shown …`));
    for (const event of events) this.event(event);
    while (this.list.children.length > ROWS) this.list.firstChild.remove();
    this.log.scrollTop = this.log.scrollHeight;
    if (ended) {
      this.ended = true;
      this.source.close();
      for (const button of this.buttons) button.disabled = true;
      this.offers.replaceChildren();
      this.said.hidden = false;
      this.said.textContent = ended.said.trim() || "exit code " + ended.exit;
    }
    this.tell();
    this.look();
  }

  event(event) {
    const step = (text) => {
      this.trace.push(text);
      this.count += 1;
      // The bytes of an output come before it, those of a stimulus after it.
      this.last = make("li", { value: event.step + 1, "data-step": event.step }, action(text), ...this.bytes);
      this.bytes = [];
      this.row(this.last);
    };
    switch (event.event) {
      case "run-started":
        this.trace = [];
        this.run = event.run;
        this.last = null;
        this.row(make("li", { class: "end" }, "run " + event.run));
        break;
      case "stimulus": case "output": step(event.action); break;
      case "quiescence": step("delta"); break;
      case "bytes": this.traffic(event); break;
      case "progress":
        if (event.coverage) {
          this.coverage.hidden = false;
          this.coverage.value = event.coverage.total ? event.coverage.seen / event.coverage.total : 1;
          this.coverage.title = `${event.coverage.seen} of ${event.coverage.total} transitions`;
        }
        break;
      case "run-ended": {
        if (this.bytes.length) this.row(make("li", { class: "end" }, ...this.bytes));
        this.bytes = [];
        this.verdicts.set(event.verdict, (this.verdicts.get(event.verdict) || 0) + 1);
        const kind = /fail|violate|crash/.test(event.verdict) ? "bad" : event.verdict.includes("pass") ? "good" : "open";
        this.row(make("li", { class: "end" }, make("span", { class: "verdict " + kind }, event.verdict)));
        const proof = event.certificate;
        if (proof) this.row(make("li", { class: "end bad" }, `observed ${proof.observed}, allowed ${(proof.allowed || []).join(", ") || "nothing"}`));
        break;
      }
      case "fault": this.row(make("li", { class: "end bad" }, event.message)); break;
      case "crash": this.row(make("li", { class: "end bad" }, "the system ended")); break;
      default: break;
    }
  }

  // What went over the wire, beside the step that it belongs to.
  traffic(event) {
    const text = event.text === undefined ? event.hex.replace(/../g, "$& ").trimEnd() : event.text;
    const kept = event.text === undefined ? event.hex.length / 2 : new TextEncoder().encode(text).length;
    const size = event.length + (event.length === 1 ? " byte" : " bytes");
    const from = event.channel ? `${event.way}, ${event.channel}, ${size}` : `standard error, ${size}`;
    const shown = make("code", { class: "bytes " + event.way, title: from }, text.trimEnd() + (kept < event.length ? " …" : ""));
    if (this.last && this.last.dataset.step === String(event.step)) this.last.append(shown);
    else this.bytes.push(shown);
  }

  row(element) { this.list.append(element); }

  tell() {
    const counts = [...this.verdicts].map(([verdict, n]) => `${n} ${verdict}`).join(", ") || "no verdict yet";
    const seconds = (performance.now() - this.begun) / 1000;
    const state = this.ended ? "ended" : this.isPaused ? "paused" : "running";
    this.summary.textContent = `test ${this.id}: ${state}; run ${this.run}, ${counts}; ${this.count} steps, ${(this.count / seconds).toFixed(1)} a second`;
  }

  async order(text) {
    if (text === "pause" || text === "step") this.isPaused = true;
    if (text === "resume") this.isPaused = false;
    await post(`/api/test/${this.id}`, { order: text }).catch((error) => this.page.say(error.message, true));
    this.tell();
    this.look();
  }

  // Where the test is, a few times a second at the most.
  async look() {
    if (this.looking) { this.again = true; return; }
    this.looking = true;
    const trace = [...this.trace];
    const answer = trace.length > 2000 ? null : await positionAfter(this.model, trace).catch(() => null);
    const at = answer && answer.document;
    if (at && this.page.model === this.model) this.page.left.light(at.stopped ? [] : at.places, true);
    const inputs = at && !at.stopped && this.isPaused && !this.ended ? at.offers.filter((o) => o.action.startsWith("?")) : [];
    this.offers.replaceChildren(...inputs.map((offer) => make("button",
      { type: "button", click: () => this.order("give " + offer.action) }, "give ", action(offer.action))));
    setTimeout(() => {
      this.looking = false;
      if (this.again) { this.again = false; this.look(); }
    }, 300);
  }
}
