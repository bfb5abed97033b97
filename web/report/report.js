// Draws the list of runs and the run that is looked at. Texts of the system under test only ever become text
// nodes: nothing here parses markup.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const PAGE = 100;
  const WINDOW = 120;
  const $ = (id) => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";

  function make(name, attributes, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
    node.append(...children);
    return node;
  }
  function draw(name, attributes, ...children) {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
    node.append(...children);
    return node;
  }
  function time(us) {
    if (us < 1000) return us + " µs";
    if (us < 1e6) return (us / 1e3).toFixed(1) + " ms";
    return (us / 1e6).toFixed(2) + " s";
  }
  const verdict = (name) => make("span", { class: "verdict v-" + name }, name);
  const FAILING = new Set(["fail", "violate", "violate-fail", "weak-fail", "crash"]);

  // The list of runs.
  let shown = PAGE;
  let picked = null;
  function fits(run) {
    const wanted = $("filter-verdict").value;
    if (wanted === "failing" && !FAILING.has(run.verdict)) return false;
    if (wanted !== "all" && wanted !== "failing" && run.verdict !== wanted) return false;
    const text = $("filter-text").value.trim().toLowerCase();
    if (!text) return true;
    if (String(run.n) === text) return true;
    return (run.rows || []).some((row) => data.actions[row[1]].toLowerCase().includes(text));
  }
  function list() {
    const body = $("runs").tBodies[0];
    const found = data.runs.filter(fits);
    const rows = found.slice(0, shown).map((run) => {
      const open = make("button", { class: "link", type: "button" }, "run " + run.n);
      open.addEventListener("click", () => pick(run, true));
      const what = run.failure ? run.failure.observed : run.fault ? run.fault.split("\n")[0] : run.end;
      const row = make("tr", run === picked ? { class: "picked", "aria-current": "true" } : {});
      row.append(make("td", {}, open), make("td", {}, verdict(run.verdict)), make("td", {}, String(run.steps)),
        make("td", {}, time(run.us)), make("td", { class: "mono" }, what || ""));
      return row;
    });
    body.replaceChildren(...rows);
    $("runs-count").textContent = found.length + " of " + data.runs.length + " runs";
    $("more").hidden = found.length <= shown;
  }
  $("filter-verdict").addEventListener("change", () => { shown = PAGE; list(); });
  $("filter-text").addEventListener("input", () => { shown = PAGE; list(); });
  $("more").addEventListener("click", () => { shown += 5 * PAGE; list(); });

  // The run that is looked at. `at` counts steps: 0 is before the first.
  let steps = [];
  let at = 0;
  function pick(run, moves) {
    picked = run;
    steps = (run.rows || []).filter((row) => "sodx".includes(row[0]));
    at = steps.length;
    list();
    $("run").hidden = false;
    $("run-title").replaceChildren("Run " + run.n + " ", verdict(run.verdict));
    const facts = [["seed", String(run.seed)], ["steps", String(run.steps)], ["time", time(run.us)]];
    if (run.end) facts.push(["ended by", run.end]);
    $("run-facts").replaceChildren(...facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
    $("run-commands").textContent = data.commands.map((line) => line.replaceAll("{run}", String(run.n))).join("\n");
    $("run-why").replaceChildren(...why(run));
    const slider = $("step");
    slider.max = String(steps.length);
    $("run-chart").hidden = steps.length === 0;
    show();
    if (moves) { $("run-title").focus(); $("run").scrollIntoView({ block: "start" }); }
    history.replaceState(null, "", "#run-" + run.n);
  }
  function linked(place) {
    const line = /\(line (\d+)\)$/.exec(place);
    if (line && document.getElementById("L" + line[1])) return make("a", { href: "#L" + line[1] }, place);
    return document.createTextNode(place);
  }
  function why(run) {
    const parts = [];
    if (run.failure) {
      const list = make("dl", { class: "facts" });
      list.append(make("dt", {}, "observed"), make("dd", { class: "mono" }, run.failure.observed),
        make("dt", {}, "allowed"), make("dd", { class: "mono" }, run.failure.allowed.join("   ") || "nothing"));
      const places = make("dd", {});
      run.failure.places.forEach((place, k) => places.append(k ? ", " : "", linked(place)));
      list.append(make("dt", {}, "in"), places);
      parts.push(list);
    }
    if (run.fault) parts.push(make("pre", {}, run.fault));
    if (!run.rows) parts.push(make("p", { class: "soft" }, "The page leaves out the steps of this run; the journal has them."));
    const goals = Object.entries(run.goals || {});
    if (goals.length) {
      const list = make("ul", { class: "plain" });
      for (const [name, value] of goals) list.append(make("li", {}, name + ": ", verdict(value)));
      parts.push(list);
    }
    const told = (run.rows || []).filter((row) => "cn".includes(row[0]));
    if (told.length) {
      const list = make("ul", { class: "plain" });
      for (const row of told.slice(0, 50)) list.append(make("li", {}, data.actions[row[1]] + (row[3] ? ": " + row[3] : "")));
      parts.push(list);
    }
    return parts;
  }

  // Chart: a ruler of real time on the left, one row a step on the right, a line from its time to its row.
  function chart() {
    const first = Math.max(0, Math.min(at - WINDOW / 2, steps.length - WINDOW));
    const rows = steps.slice(first, first + WINDOW);
    if (!rows.length) return draw("svg", {});
    const HEIGHT = 22, TOP = 34, RULER = 92, TESTER = 250, SYSTEM = 520, WIDTH = 760;
    const height = TOP + rows.length * HEIGHT + 16;
    const begin = first ? steps[first - 1][2] : 0;
    const span = Math.max(1, rows[rows.length - 1][2] - begin);
    const onRuler = (us) => TOP + 6 + (us - begin) / span * (rows.length * HEIGHT - 12);
    const svg = draw("svg", { viewBox: "0 0 " + WIDTH + " " + height, role: "img", "aria-labelledby": "run-title" });
    svg.append(draw("text", { x: RULER - 6, y: 18, "text-anchor": "end", class: "t" }, "time"),
      draw("text", { x: TESTER, y: 18, "text-anchor": "middle" }, "tester"),
      draw("text", { x: SYSTEM, y: 18, "text-anchor": "middle" }, "system"),
      draw("line", { x1: RULER, y1: TOP, x2: RULER, y2: height - 10, class: "ruler" }),
      draw("line", { x1: TESTER, y1: TOP - 8, x2: TESTER, y2: height - 10, class: "life" }),
      draw("line", { x1: SYSTEM, y1: TOP - 8, x2: SYSTEM, y2: height - 10, class: "life" }));
    for (let tick = 0; tick <= 4; tick++) {
      const us = begin + span * tick / 4;
      svg.append(draw("line", { x1: RULER - 5, y1: onRuler(us), x2: RULER, y2: onRuler(us), class: "ruler" }),
        draw("text", { x: RULER - 8, y: onRuler(us) + 4, "text-anchor": "end", class: "t" }, time(Math.round(us))));
    }
    rows.forEach((row, k) => {
      const index = first + k;
      const [kind, action, us, more] = row;
      const y = TOP + k * HEIGHT + HEIGHT / 2;
      const group = draw("g", { class: "row" });
      if (index + 1 === at) group.append(draw("rect", { x: 100, y: y - HEIGHT / 2, width: WIDTH - 104, height: HEIGHT, class: "here" }));
      group.append(draw("path", { d: "M" + RULER + " " + onRuler(us) + " C120 " + onRuler(us) + " 120 " + y + " 150 " + y, class: "leader" }),
        draw("circle", { cx: RULER, cy: onRuler(us), r: 2.5, class: "dot" }));
      const before = index ? steps[index - 1][2] : 0;
      const waited = kind === "d" ? "after " + time(Number(more)) : "+" + time(Math.max(0, us - before));
      group.append(draw("text", { x: 154, y: y + 4, class: "t" }, String(index + 1)));
      const [from, to] = kind === "s" ? [TESTER, SYSTEM] : [SYSTEM, TESTER];
      group.append(draw("line", { x1: from, y1: y + 4, x2: to, y2: y + 4, class: "arrow " + kind }));
      if ("so".includes(kind)) {
        const tip = kind === "s" ? -7 : 7;
        group.append(draw("path", { d: "M" + (to + tip) + " " + y + " L" + to + " " + (y + 4) + " L" + (to + tip) + " " + (y + 8), class: "arrow " + kind }));
      }
      const last = picked.failure && index + 1 === steps.length;
      const text = data.actions[action];
      const label = text.length > 36 ? text.slice(0, 35) + "…" : text;
      group.append(draw("text", { x: (TESTER + SYSTEM) / 2, y: y - 1, "text-anchor": "middle", class: last ? "bad" : "" }, (last ? "✗ " : "") + label),
        draw("text", { x: SYSTEM + 12, y: y + 4, class: "t" }, waited + (kind !== "d" && more ? " ⓘ" : "")));
      const title = text + (kind !== "d" && more ? "\n" + more : "");
      group.append(draw("title", {}, title));
      group.addEventListener("click", () => { at = index + 1; show(); });
      svg.append(group);
    });
    return svg;
  }
  // Bytes, step by step, beside the steps that the chart shows. A step's number is its place among the steps,
  // those that the page leaves out included.
  const printable = (code) => code >= 32 && code < 127 ? String.fromCharCode(code) : "·";
  function bytesOf(piece) {
    if (!piece[4]) return new TextEncoder().encode(piece[5]);
    return Uint8Array.from(piece[5].match(/../g) || [], (pair) => parseInt(pair, 16));
  }
  function hex(bytes) {
    const lines = [];
    for (let at = 0; at < bytes.length; at += 16) {
      const line = Array.from(bytes.subarray(at, at + 16), (byte) => byte.toString(16).padStart(2, "0"));
      lines.push(at.toString(16).padStart(4, "0") + "  " + line.join(" "));
    }
    return lines.join("\n");
  }
  function numberOf(index) {
    if (!picked.cut) return index;
    const before = picked.rows.slice(0, picked.cut[0]).filter((row) => "sodx".includes(row[0])).length;
    return index < before ? index : index + picked.cut[1];
  }
  const WAYS = { s: "sent", r: "received", e: "standard error" };
  function showBytes() {
    const all = picked.bytes || [];
    $("bytes").hidden = !all.length && !picked.without_bytes;
    const first = Math.max(0, Math.min(at - WINDOW / 2, steps.length - WINDOW));
    const last = Math.min(steps.length, first + WINDOW);
    $("bytes-note").textContent = !all.length ? "The page leaves out the bytes of this run; the journal has them."
      : "Messages without their framing, and what the system had written to its standard error by then.";
    const byStep = new Map();
    for (const piece of all) {
      if (!byStep.has(piece[0])) byStep.set(piece[0], []);
      byStep.get(piece[0]).push(piece);
    }
    const rows = [];
    for (let index = first; index <= last; index++) {
      const isEnd = index === steps.length;
      const number = isEnd && index > 0 ? numberOf(index - 1) + 1 : numberOf(index);
      const pieces = index < last || isEnd ? byStep.get(number) || [] : [];
      pieces.forEach((piece, k) => {
        const content = bytesOf(piece);
        const text = piece[4] ? Array.from(content, printable).join("") : piece[5];
        const cut = piece[3] > content.length ? " …" : "";
        const open = make("button", { class: "link", type: "button" }, isEnd ? "end" : String(index + 1));
        open.addEventListener("click", () => { at = Math.min(index + 1, steps.length); show(); });
        const row = make("tr", index + 1 === at ? { class: "picked way-" + piece[1] } : { class: "way-" + piece[1] });
        row.append(make("td", {}, k ? "" : open), make("td", { class: "mono" }, k || isEnd ? "" : data.actions[steps[index][1]]),
          make("td", {}, WAYS[piece[1]] + (piece[2] === null ? "" : " (" + data.actions[piece[2]] + ")")),
          make("td", {}, make("pre", {}, text + cut)),
          make("td", {}, make("details", {}, make("summary", {}, piece[3] + (piece[3] === 1 ? " byte" : " bytes")), make("pre", {}, hex(content) + cut))));
        rows.push(row);
      });
    }
    $("bytes-rows").replaceChildren(...rows);
  }
  const nodes = new Map();
  data.nodes.forEach((name, k) => {
    for (const rect of document.querySelectorAll("#model [data-state='" + k + "']")) nodes.set(name, (nodes.get(name) || []).concat(rect));
  });
  // A picture that is larger than its box is made smaller, as long as one can read it; the rest is scrolled.
  const READABLE = 0.65;
  function fit() {
    for (const svg of document.querySelectorAll(".picture svg")) {
      const width = svg.viewBox.baseVal.width || svg.width.baseVal.value;
      const room = svg.parentElement.clientWidth - 14;
      if (width > 0 && room > 0) {
        svg.style.width = Math.min(width, Math.max(room, width * READABLE)) + "px";
        svg.style.height = "auto";
      }
    }
  }
  // Brings the places that are lit into view, within the picture: the page stays where it is.
  function reveal() {
    const box = $("model");
    const rects = box ? [...box.querySelectorAll(".lit")].map((rect) => rect.getBoundingClientRect()) : [];
    if (!rects.length) return;
    const outer = box.getBoundingClientRect();
    const middle = (low, high) => (Math.min(...rects.map(low)) + Math.max(...rects.map(high))) / 2;
    box.scrollLeft += middle((r) => r.left, (r) => r.right) - (outer.left + outer.width / 2);
    box.scrollTop += middle((r) => r.top, (r) => r.bottom) - (outer.top + outer.height / 2);
  }
  addEventListener("resize", () => { fit(); reveal(); });
  function show() {
    const slider = $("step");
    slider.value = String(at);
    const text = at === 0 ? "before the first step" : "after step " + at + ", " + data.actions[steps[at - 1][1]];
    slider.setAttribute("aria-valuetext", text);
    $("previous").disabled = at <= 0;
    $("next").disabled = at >= steps.length;
    const lit = picked.lit || [];
    // Where the run fails there is no place any more: those before show what was allowed.
    const failed = at >= lit.length && lit.length > 0 && picked.failure && at === steps.length;
    const set = failed ? data.sets[lit[lit.length - 1]] : at < lit.length ? data.sets[lit[at]] : null;
    const names = set === null ? "" : set.slice(0, 12).join(", ") + (set.length > 12 ? ", …" : "");
    const where = set === null ? "the model has no place for this" : failed ? "the model could be in " + names + ", and does not allow it" : "the model can be in " + names;
    $("where").textContent = text + (lit.length ? ": " + where : "");
    for (const rect of document.querySelectorAll("#model .lit")) rect.classList.remove("lit");
    for (const name of set || []) for (const rect of nodes.get(name) || []) rect.classList.add("lit");
    reveal();
    const step = at ? steps[at - 1] : null;
    const more = step && step[0] !== "d" ? step[3] : "";
    $("step-more").hidden = !more;
    $("step-more").textContent = more || "";
    $("cut").hidden = !picked.cut;
    if (picked.cut) $("cut").textContent = picked.cut[1] + " steps after row " + picked.cut[0] + " are left out of this page; the journal has them.";
    $("run-svg").replaceChildren(chart());
    showBytes();
  }
  $("step").addEventListener("input", (event) => { at = Number(event.target.value); show(); });
  $("previous").addEventListener("click", () => { if (at > 0) { at -= 1; show(); } });
  $("next").addEventListener("click", () => { if (at < steps.length) { at += 1; show(); } });

  // What is covered, on the second picture: each arrow by the labels that it has.
  for (const [edge, kind] of Object.entries(data.edges)) {
    for (const path of document.querySelectorAll("#covered [data-edge='" + edge + "']")) path.classList.add(kind);
  }
  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.addEventListener("click", async () => {
      const text = $(button.dataset.copy).textContent;
      try { await navigator.clipboard.writeText(text); button.textContent = "copied"; } catch {
        const range = document.createRange();
        range.selectNodeContents($(button.dataset.copy));
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        button.textContent = "selected";
      }
    });
  }
  function byAddress() {
    const found = /^#run-(\d+)$/.exec(location.hash);
    const run = found && data.runs.find((run) => String(run.n) === found[1]);
    if (run) pick(run, true);
    return Boolean(run);
  }
  addEventListener("hashchange", byAddress);
  for (const link of document.querySelectorAll(".script")) link.hidden = false;
  list();
  fit();
  if (!byAddress()) {
    const first = data.runs.find((run) => FAILING.has(run.verdict)) || data.runs.find((run) => run.rows) || data.runs[0];
    if (first) { pick(first, false); history.replaceState(null, "", location.pathname + location.search); }
  }
})();
