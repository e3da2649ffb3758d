// What the page asks the server for, and the token that opens it.

const session = {
  get token() { return sessionStorage.getItem("switchboard-token"); },
  set token(value) { sessionStorage.setItem("switchboard-token", value); },
};

class Refused extends Error {}

// Sends a request, and returns the JSON of the answer.
async function request(path, options = {}) {
  const headers = { accept: "application/json", ...options.headers };
  if (session.token) headers.authorization = `Bearer ${session.token}`;
  const response = await fetch(`${prefix}/${path}`, { ...options, headers, cache: "no-store" });
  if (response.status === 401) throw new Refused();
  if (!response.ok) throw new Error((await response.text()).trim());
  return response.json();
}

// The request of a view under way, which the next one makes useless.
let asking = new AbortController();

function ask(view, parameters) {
  asking.abort();
  asking = new AbortController();
  const query = new URLSearchParams();
  for (const [name, value] of parameters) if (value !== "" && value !== null) query.append(name, value);
  return request(`${view}?${query}`, { signal: asking.signal });
}

// Has the server do something: the body is its request in JSON.
function act(name, body) {
  const headers = { "content-type": "application/json" };
  return request(name, { method: "POST", headers, body: JSON.stringify(body) });
}

// What there is for this viewer: views, and what the server does besides showing.
const permissions = {
  all: null,
  views: new Set(),
  async learn() {
    if (this.all) return;
    const session = await request("session");
    this.views = new Set(session.views ?? []);
    this.all = new Set(session.permissions ?? []);
  },
  forget() { this.all = null; },
  has(name) { return this.all?.has(name) ?? false; },
  allow(view) { return this.all ? this.views.has(view.name) && (!view.permission || this.has(view.permission)) : !view.permission; },
};

// Takes the token out of the address, where bookmarks and pictures of the screen would keep it.
function takeToken() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token === null) return false;
  session.token = token;
  history.replaceState(null, "", location.pathname + location.search);
  return true;
}

const access = document.getElementById("access");
const enter = document.getElementById("enter");
enter.addEventListener("click", () => askForToken());
access.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const field = document.getElementById("token");
  const token = field.value.trim();
  // Others could not be sent, and open nothing.
  if (!/^[A-Za-z0-9._~+/=-]+$/.test(token)) {
    document.getElementById("access-reason").textContent = "A token has letters, digits and -._~+/= only.";
    return;
  }
  session.token = token;
  field.value = "";
  access.close();
  refresher.now();
});
window.addEventListener("hashchange", () => {
  if (takeToken()) { access.close(); refresher.now(); }
});

function askForToken() {
  if (access.open) return;
  document.getElementById("access-reason").textContent = session.token
    ? "The token of this page is not, or no longer, the server's. A server that was started anew may have made another one."
    : "The log of the server has it, next to the address of this page.";
  access.showModal();
}
