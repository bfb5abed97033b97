// Drives the page of `iolite serve` in a real browser: node page.mjs ADDRESS FOLDER-FOR-PICTURES
// Exit code 77 where there is no browser or nothing to drive it with (`scripts/install-browser`).

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [address, pictures] = process.argv.slice(2);
const skip = (why) => { console.log(why); process.exit(77); };
const browser = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
if (!browser) skip("there is no Chromium");
let chromium;
try {
  ({ chromium } = createRequire(resolve(".tools/browser/package.json"))("playwright-core"));
} catch {
  skip("there is no playwright-core");
}

const opened = await chromium.launch({ executablePath: browser, args: ["--no-sandbox", "--disable-gpu",
  "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"] });
const page = await opened.newPage({ viewport: { width: 1280, height: 900 } });
page.setDefaultTimeout(30000);
const wrong = [];
page.on("pageerror", (error) => wrong.push(String(error)));
page.on("console", (message) => { if (message.type() === "error") wrong.push(message.text()); });
const check = (holds, what) => { if (!holds) throw new Error(what); };
const lit = (panel) => page.$$eval(`#${panel} rect.lit`, (all) => all.map((r) => r.getAttribute("data-name")));
const until = (panel, names) => page.waitForFunction(([panel, names]) => {
  const lit = [...document.querySelectorAll(`#${panel} rect.lit`)].map((r) => r.getAttribute("data-name"));
  return names.every((name) => lit.includes(name)) && lit.length === names.length;
}, [panel, names]);

try {
  // Open a folder, choose a model, see its graph.
  await page.goto(address);
  await page.click("nav button[data-model='candy/candy.iol#Candy']");
  await page.waitForSelector("#left rect[data-name='Shilling']");
  await until("left", ["Ready"]);

  // Step by clicking, and back.
  await page.click("#panel-step .offers button:has-text('?shil')");
  await until("left", ["Shilling"]);
  check((await page.textContent("#command")).startsWith("iolite simulate"), "the command is shown");
  await page.click("#panel-step button:has-text('back')");
  await until("left", ["Ready"]);

  // The keyboard alone: tabs by arrows, an action by Enter.
  await page.focus("#tab-step");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector("#panel-step p").textContent.includes("δ"));
  await page.screenshot({ path: pictures + "/step.png" });
  await page.focus("#tab-step");
  await page.keyboard.press("ArrowRight");
  check(await page.getAttribute("#tab-relate", "aria-selected") === "true", "arrows choose tabs");

  // Other views, search, zoom.
  await page.selectOption("#left select[aria-label=View]", "suspension-automaton");
  await page.waitForFunction(() => document.querySelector("#left svg").textContent.includes("delta")
    || document.querySelector("#left svg").textContent.includes("δ"));
  await page.selectOption("#left select[aria-label=View]", "model");
  await page.waitForSelector("#left rect[data-name='Dubbeltje']");
  await page.fill("#left input[type=search]", "dubb");
  await page.waitForSelector("#left rect.found[data-name='Dubbeltje']");
  const box = () => page.getAttribute("#left svg", "viewBox");
  const before = await box();
  await page.click("#left button[aria-label=larger]");
  check(await box() !== before, "the graph grows");

  // Another view of the same model beside it, and away again.
  await page.click("#left button:has-text('another view beside')");
  await page.waitForSelector("#right rect[data-name='Dubbeltje']");
  await page.selectOption("#right select[aria-label=View]", "suspension-automaton");
  await page.waitForFunction(() => document.querySelector("#right svg").textContent.includes("δ")
    || document.querySelector("#right svg").textContent.includes("delta"));
  check(await page.inputValue("#left select[aria-label=View]") === "model", "each graph has its own view");
  await page.screenshot({ path: pictures + "/beside.png" });
  await page.click("#left button:has-text('another view beside')");
  await page.waitForFunction(() => document.querySelector("#right").hidden);

  // The product with an observer beside the model, its violation coloured.
  await page.fill("#left input[type=search]", "");
  await page.click("#left button:has-text('another view beside')");
  await page.waitForSelector("#right rect[data-name='Dubbeltje']");
  await page.selectOption("#right select[aria-label=View]", "product");
  await page.selectOption("#right select[aria-label=Observer]", "watched.iol#NoChoc");
  await page.waitForSelector("#right rect[data-name*='(violate)']");
  check((await page.textContent("#command")).includes("--view product"), "the command of the product is shown");
  await page.screenshot({ path: pictures + "/product.png" });
  await page.click("#left button:has-text('another view beside')");
  await page.waitForFunction(() => document.querySelector("#right").hidden);

  // Folding by hand: two clicks and a button; a state within the folded node lights it; by keyboard apart again.
  const nodes = () => page.$$eval("#left rect[data-state]", (all) => all.length);
  const unfolded = await nodes();
  await page.click("#left button:has-text('fit')");
  await page.click("#left rect[data-name='Shilling']");
  await page.click("#left rect[data-name='Dubbeltje']");
  check(await page.$$eval("#left rect.chosen", (all) => all.length) === 2, "two states are chosen");
  await page.click("#left button:text-is('fold')");
  await page.waitForSelector("#left rect[data-members*=' ']");
  check(await nodes() === unfolded - 1, "two states are one");
  await page.click("#tab-step");
  await page.click("#panel-step .offers button:has-text('?shil')");
  await page.waitForSelector("#left rect.lit[data-members*=' ']");
  await page.screenshot({ path: pictures + "/folded.png" });
  await page.click("#panel-step button:has-text('back')");
  await page.focus("#left button:text-is('unfold')");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#left rect[data-name='Shilling']");
  check(await nodes() === unfolded, "they are apart again");
  await page.fill("#left input[type=search]", "e");
  await page.focus("#left input[type=search]");
  await page.keyboard.press("Enter");
  await page.focus("#left button:text-is('fold')");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#left rect[data-members*=' ']");
  await page.click("#left button:text-is('unfold')");
  await page.waitForSelector("#left rect[data-name='Dubbeltje']");
  await page.fill("#left input[type=search]", "");
  await page.click("#tab-relate");

  // The parts of a composition.
  await page.click("nav button[data-model='net.iol#Net']");
  await page.waitForSelector("#left rect[data-state]");
  await page.selectOption("#left select[aria-label=View]", "composition");
  await page.waitForSelector("#left rect[data-name='environment']");
  await page.screenshot({ path: pictures + "/composition.png" });
  await page.click("nav button[data-model='candy/candy.iol#Candy']");
  await page.waitForSelector("#left rect[data-name='Dubbeltje']");
  await page.click("#tab-relate");

  // Relate two models, and walk the counterexample on both.
  await page.selectOption("#implementation", "generous.iol#Candy");
  await page.selectOption("#specification", "candy/candy.iol#Candy");
  await page.selectOption("#completion", "self-loop");
  await page.click("#panel-relate button.primary");
  await page.waitForSelector("#panel-relate .verdict");
  check((await page.textContent("#panel-relate .verdict")).includes("does not hold"), "chocolate for a shilling is not allowed");
  await until("left", ["Shilling"]);
  await until("right", ["Shilling"]);
  await page.screenshot({ path: pictures + "/relate.png" });
  await page.fill("#panel-relate input[type=range]", "0");
  await page.waitForFunction(() => document.querySelector("#panel-relate .where").textContent.includes("step 0"));
  await until("left", ["Ready"]);
  check((await page.textContent("#command")).startsWith("iolite relate"), "the command of the answer is shown");

  // A live test that begins paused: give a stimulus by hand, let it run, see the verdict.
  await page.click("nav button[data-model='candy/candy.iol#Candy']");
  await page.click("#tab-test");
  await page.selectOption("#sut", "candy/sut-generous.toml");
  await page.fill("#runs", "2");
  await page.fill("#steps", "20");
  await page.check("#paused");
  await page.click("#panel-test button.primary");
  await page.click("#panel-test .offers button:has-text('?dub')");
  await page.waitForSelector("#panel-test .log li:has-text('?dub')");
  await page.click("#panel-test button:has-text('resume')");
  await page.waitForSelector("#panel-test .log .verdict", { timeout: 60000 });
  await page.waitForSelector("#panel-test pre:not([hidden])", { timeout: 60000 });
  check((await page.textContent("#panel-test .log")).includes("fail"), "the generous machine fails");
  const wire = (label, way) => page.$$eval("#panel-test .log li", (all, [label, way]) => all
    .filter((row) => row.querySelector(".mono")?.textContent === label)
    .map((row) => row.querySelector("code.bytes." + way)?.textContent), [label, way]);
  check((await wire("?dub", "sent")).every((text) => text === "dub"), "what was sent stands beside its step");
  check((await wire("!choc", "received")).every((text) => text === "choc"), "and what was received");
  await page.screenshot({ path: pictures + "/live.png" });

  // The journal of that test has a report.
  await page.click("#tab-reports");
  const [report] = await Promise.all([page.waitForEvent("popup"), page.click("#panel-reports a")]);
  await report.waitForSelector("h1");
  check((await report.textContent("h1")).includes("Candy"), "the report is of the candy machine");
  check((await report.textContent("body")).includes("fail"), "with its verdict");
  await report.setViewportSize({ width: 400, height: 900 });
  check(await report.evaluate(() => document.documentElement.scrollWidth <= 400), "a report fits a narrow window");
  await report.close();

  // A property.
  await page.click("#tab-property");
  await page.fill("#property", "ltl:G(?a -> F !x)");
  await page.fill("#over", "?a,!x");
  await page.click("#panel-property button.primary");
  await page.waitForSelector("#panel-property strong:has-text('response')");
  await page.waitForSelector("#property-picture svg");
  await page.waitForSelector("#tester-picture svg");
  await page.screenshot({ path: pictures + "/property.png", fullPage: true });

  // Edit: a mistake is shown as one types, a new state is drawn, and saved.
  await page.click("#tab-edit");
  await page.waitForFunction(() => document.querySelector("textarea").value.includes("system Candy"));
  const text = await page.inputValue("textarea");
  await page.fill("textarea", text.replace("-> Shilling", "-> Shiling"));
  await page.waitForSelector("#panel-edit ul.found .bad, #panel-edit ul.found li.bad");
  await page.fill("textarea", text.replaceAll("Dubbeltje", "Dime"));
  await page.waitForSelector("#left rect[data-name='Dime']");
  await page.screenshot({ path: pictures + "/edit.png" });
  await page.focus("textarea");
  await page.keyboard.press("Control+s");
  await page.waitForFunction(() => document.querySelector("#status").textContent.startsWith("saved"));

  // A narrow window shows everything below one another.
  await page.setViewportSize({ width: 420, height: 900 });
  check(await page.evaluate(() => document.documentElement.scrollWidth <= 430), "nothing is wider than the window");
  await page.screenshot({ path: pictures + "/narrow.png", fullPage: true });
  check(wrong.length === 0, "errors in the page: " + wrong.join("; "));
  console.log("the page works");
} catch (error) {
  await page.screenshot({ path: pictures + "/failed.png" }).catch(() => {});
  console.error(error, await page.textContent("#status").catch(() => ""), wrong);
  process.exitCode = 1;
} finally {
  await opened.close();
}
