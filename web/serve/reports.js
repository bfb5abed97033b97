// The journals of the folder, newest first, and a report of each.

import { address, get, make } from "./api.js";

export class Reports {
  constructor(root, page) {
    this.page = page;
    this.list = make("ul", { class: "journals" });
    this.none = make("p", { class: "soft" }, "There is no journal in this folder yet: a test leaves one.");
    root.append(make("div", { class: "bar" },
      make("button", { type: "button", click: () => this.open() }, "look again")), this.none, this.list);
  }

  async open() {
    const listing = await get("/api/journals").catch((error) => this.page.say(error.message, true));
    if (!listing) return;
    this.none.hidden = listing.files.length > 0;
    const link = ({ path }) => make("li", {}, make("a", { target: "_blank", rel: "noopener",
      href: address("/api/report?journal=" + encodeURIComponent(path)) }, path));
    this.list.replaceChildren(...listing.files.map(link));
    if (listing.more) this.page.say("the folder has more journals than are listed");
  }
}
