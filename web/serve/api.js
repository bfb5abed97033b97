// Requests to the server that this page came from, with the token of its address.

const token = new URLSearchParams(location.search).get("token") || "";

async function ask(method, path, body) {
  const answer = await fetch(path, {
    method,
    headers: { authorization: "Bearer " + token, "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  let document = null;
  try { document = JSON.parse(text); } catch { /* not every refusal is JSON */ }
  if (!answer.ok) throw new Error(document && document.error || text || answer.statusText);
  return document;
}

export const get = (path) => ask("GET", path);
export const post = (path, body) => ask("POST", path, body);
export const put = (path, body) => ask("PUT", path, body);

// An address that a link or a stream of events can use.
export const address = (path) => path + (path.includes("?") ? "&" : "?") + "token=" + encodeURIComponent(token);

// What a command said when it did not do what was asked.
export function complaint(answer) {
  return answer.said.trim() || answer.text.trim() || "exit code " + answer.exit;
}

// An element with attributes, properties that are functions as listeners, and children.
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// An action in the colour of its direction.
export function action(text) {
  const kind = text.startsWith("?") ? "input" : text.startsWith("!") ? "output" : "soft";
  return make("span", { class: "mono " + kind }, text === "delta" ? "δ" : text);
}
