// The campaigns of a fleet, as far as they are.

import { complaint, get, make } from "./api.js";

// Milliseconds between two looks.
const PAUSE = 2000;

// A worker that was not heard for so many seconds is not counted.
const LOST = 20;

export class Fleet {
  constructor(root, page) {
    this.page = page;
    this.root = root;
    this.summary = make("p", { "aria-live": "polite" }, "asking the server");
    this.rows = make("tbody", {});
    const heads = ["campaign", "done", "verdicts", "coverage", "workers", ""];
    root.append(this.summary, make("table", {},
      make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))), this.rows));
  }

  open() {
    clearTimeout(this.timer);
    this.look();
  }

  async look() {
    try {
      const answer = await get("/api/fleet");
      this.page.command(answer.command);
      if (answer.document) this.show(answer.document.campaigns);
      else this.summary.textContent = complaint(answer);
    } catch (error) {
      this.summary.textContent = error.message;
    }
    clearTimeout(this.timer);
    if (!this.root.hidden) this.timer = setTimeout(() => this.look(), PAUSE);
  }

  show(campaigns) {
    const going = campaigns.filter((each) => !each.complete).length;
    this.summary.textContent = campaigns.length === 0 ? "the server has no campaign"
      : campaigns.length + " on the server, " + going + " going on";
    this.rows.replaceChildren(...campaigns.map((each) => {
      const verdicts = Object.entries(each.verdicts).map(([verdict, count]) => count + " " + verdict).join(", ");
      const there = each.workers.filter((worker) => worker.heard < LOST);
      const state = each.stopped ? "ended: " + each.stopped.because : each.complete ? "complete" : "";
      const progress = make("progress", { max: each.items, value: each.done, "aria-label": "done" });
      return make("tr", { "data-campaign": each.id },
        make("th", { scope: "row", class: "mono" }, each.id),
        make("td", {}, progress, " " + each.done + " of " + each.items),
        make("td", {}, verdicts || "—"),
        make("td", {}, each.coverage ? each.coverage[0] + " of " + each.coverage[1] : "—"),
        make("td", { title: there.map((worker) => worker.name).join(", ") }, String(there.length)),
        make("td", {}, state));
    }));
  }
}
