// Written by scripts/generate from Sources/Console/Page; do not edit it.

/// The page of the console.
public enum ConsolePage {
  /// The document.
  public static let document = ##"""
<!doctype html>
<html lang="en" data-prefix="{{prefix}}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Console</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{{prefix}}/console.css">
<script src="{{prefix}}/console.js" defer></script>
</head>
<body>
<a class="skip" href="#main">To the content</a>
<header>
<h1 id="title">Console</h1>
<nav aria-label="Views"></nav>
<p id="status" role="status"></p>
<button id="enter" type="button" hidden>Enter the token</button>
</header>
<main id="main" tabindex="-1"></main>
<dialog id="access" aria-labelledby="access-title">
<form>
<h2 id="access-title">This console asks for a token</h2>
<p id="access-reason">The log of the server has it, next to the address of this page.</p>
<label for="token">Token</label>
<input id="token" type="password" autocomplete="off" required>
<button>Open</button>
</form>
</dialog>
<noscript><p>The console needs JavaScript. Its views answer in JSON, too: see the documentation.</p></noscript>
</body>
</html>
"""##
  /// The style.
  public static let style = ##"""
:root {
  --page: #ffffff; --text: #1c2733; --soft: #55636f; --line: #d8dee5; --tile: #f5f7fa; --mark: #dcebff;
  --blue: #1f5fc4; --red: #b3261e; --amber: #8a5a00; --green: #1b6e3c;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #11161c; --text: #e4e9ef; --soft: #a3b0bd; --line: #2d3742; --tile: #1a212a; --mark: #1d3350;
    --blue: #6cb0ff; --red: #ff8a80; --amber: #e8b04a; --green: #6fce93;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; background: var(--page); color: var(--text);
  font: 15px/1.45 system-ui, sans-serif; font-variant-numeric: tabular-nums; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: .5rem; top: .5rem; background: var(--page); padding: .3rem .6rem; z-index: 3; }
:focus-visible { outline: 2px solid var(--blue); outline-offset: 2px; }
header { display: flex; flex-wrap: wrap; align-items: baseline; gap: .3rem 1.4rem; padding: .8rem 1.2rem;
  border-bottom: 1px solid var(--line); }
h1 { font-size: 1.1rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 0; overflow-wrap: anywhere; }
nav { display: flex; flex-wrap: wrap; gap: .3rem 1rem; }
nav a { color: var(--soft); text-decoration: none; padding: .1rem 0; }
nav a[aria-current] { color: var(--text); border-bottom: 2px solid var(--blue); }
#status { margin: 0 0 0 auto; color: var(--soft); }
#status.old { color: var(--red); font-weight: 600; }
main { padding: 1rem 1.2rem; display: grid; gap: 1.2rem; min-width: 0; }
main > section { min-width: 0; }
main:focus { outline: none; }
.tiles { display: grid; gap: .6rem; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); margin: 0; }
.tiles div { background: var(--tile); border-radius: .5rem; padding: .5rem .8rem; }
.tiles dt { color: var(--soft); font-size: .85rem; }
.tiles dd { margin: 0; font-size: 1.2rem; font-weight: 600; overflow-wrap: anywhere; }
.tiles .bad dd { color: var(--red); }
.charts { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); }
/* The curves beside each other stand on one line, however many words are above them. */
figure { margin: 0; min-width: 0; display: flex; flex-direction: column; justify-content: space-between; gap: .3rem; }
figcaption { display: flex; flex-wrap: wrap; gap: .2rem .9rem; color: var(--soft); font-size: .9rem; }
figcaption b { color: var(--text); font-weight: 600; }
svg { display: block; width: 100%; height: 9rem; background: var(--tile); border-radius: .4rem; }
svg text { fill: var(--soft); font-size: 11px; }
.grid-line { stroke: var(--line); stroke-width: 1; }
.curve { fill: none; stroke-width: 1.8; vector-effect: non-scaling-stroke; }
.one { stroke: var(--blue); } .two { stroke: var(--amber); stroke-dasharray: 6 3; }
.three { stroke: var(--red); stroke-dasharray: 2 3; }
.key { display: inline-block; width: 1.6rem; height: 0; border-top: 2px solid; vertical-align: middle;
  margin-right: .3rem; }
.key.one { border-color: var(--blue); } .key.two { border-color: var(--amber); border-top-style: dashed; }
.key.three { border-color: var(--red); border-top-style: dotted; }
.row-chart { height: 1.5rem; width: 7rem; background: none; }
.tools { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: end; margin-bottom: .5rem; }
label { color: var(--soft); font-size: .85rem; display: grid; gap: .15rem; }
input, select, button { font: inherit; color: var(--text); background: var(--page); border: 1px solid var(--soft);
  border-radius: .35rem; padding: .25rem .5rem; min-width: 0; }
button { cursor: pointer; }
.lists { display: grid; gap: 1.2rem; grid-template-columns: repeat(auto-fit, minmax(min(18rem, 100%), 1fr)); }
.lists ul { list-style: none; margin: .4rem 0 0; padding: 0; }
.lists li { border-bottom: 1px solid var(--line); padding: .3rem 0; display: flex; gap: .8rem; }
.lists li > :first-child { flex: 1; overflow-wrap: anywhere; min-width: 0; }
meter { width: 6rem; }
.grid { border: 1px solid var(--line); border-radius: .4rem; overflow: hidden auto; max-height: 60vh; }
.grid .head { display: grid; background: var(--tile); border-bottom: 1px solid var(--line); position: sticky; top: 0; z-index: 1; }
.grid .head > * { padding: .35rem .6rem; color: var(--soft); font-size: .85rem; text-align: right; }
.grid .head button { all: unset; cursor: pointer; color: inherit; }
.grid .head button:focus-visible { outline: 2px solid var(--blue); }
.grid .head > :first-child, .grid .line > :first-child { text-align: left; }
.grid .body { position: relative; }
.grid .line { position: absolute; left: 0; right: 0; display: grid; align-items: center; height: 32px;
  border-bottom: 1px solid var(--line); cursor: default; }
.grid .line > * { padding: 0 .6rem; text-align: right; white-space: nowrap; overflow: hidden;
  text-overflow: ellipsis; min-width: 0; }
.grid .line.selected { background: var(--mark); }
.grid:focus-visible .line.active { outline: 2px solid var(--blue); outline-offset: -2px; }
.grid:focus-visible { outline-offset: -2px; }
.bad-text { color: var(--red); font-weight: 600; }
.good-text { color: var(--green); }
.empty { color: var(--soft); padding: 1rem; margin: 0; }
.panel { border: 1px solid var(--line); border-radius: .5rem; padding: 1rem; display: grid; gap: .8rem;
  grid-template-columns: minmax(0, 1fr); }
.panel > header { padding: 0; border: 0; }
.panel > header button { margin-left: auto; }
.lever { display: flex; flex-wrap: wrap; gap: .5rem; margin: 0 0 .8rem; }
.danger { color: var(--red); border-color: var(--red); }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid var(--line); font-weight: normal;
  vertical-align: top; overflow-wrap: anywhere; }
th { color: var(--soft); width: 40%; }
.note { color: var(--soft); margin: 0 0 .5rem; }
.soft { color: var(--soft); }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.message { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
.identity { font: .8rem/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
a .identity { text-decoration: underline; } .tiles a { color: var(--blue); }
h3 { font-size: .95rem; margin: .4rem 0 0; }
.tiles.plain { grid-template-columns: repeat(auto-fit, minmax(min(14.5rem, 45%), 1fr)); }
.tiles.plain dd { font-size: 1rem; }
.grid.short { max-height: 16rem; }
.even { table-layout: fixed; } .even th { width: auto; } .even thead th:first-child { width: 5rem; }
.timeline { table-layout: fixed; position: relative; }
.timeline th:first-child { width: 30%; } .timeline .time { width: 20%; padding-right: 0; text-align: right; }
.timeline td, .timeline th { vertical-align: middle; }
.track { position: relative; height: 1.1rem; background: var(--tile); border-radius: .2rem; overflow: hidden; }
.bar { position: absolute; top: 0; bottom: 0; min-width: 2px; border-radius: .15rem; }
.scale { display: flex; justify-content: space-between; color: var(--soft); font-size: .85rem; }
.stage-handler { background: var(--blue); } .stage-interceptor { background: var(--amber); }
.stage-codec { background: var(--green); } .stage-wait { background: var(--soft); opacity: .55; }
.timeline .open { font-weight: 600; }
dialog { color: var(--text); background: var(--page); border: 1px solid var(--line); border-radius: .6rem;
  max-width: min(28rem, 92vw); }
dialog::backdrop { background: rgb(0 0 0 / 50%); }
dialog form { display: grid; gap: .7rem; }
dialog p { margin: 0; color: var(--soft); }
.hint { color: var(--soft); font-size: .85rem; margin: 0; overflow-wrap: anywhere; white-space: pre-line; }
.type { color: var(--soft); font-size: .85rem; font-weight: normal; overflow-wrap: anywhere; }
.request, .request section { display: grid; gap: .8rem; min-width: 0; align-content: start;
  grid-template-columns: minmax(0, 1fr); }
.request p { margin: 0; }
.request p:empty { display: none; }
.columns > section:last-child:not(:only-child) { position: sticky; top: .5rem; align-self: start; }
.columns { display: grid; gap: 1.2rem; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); }
.columns > section:only-child { grid-column: 1 / -1; }
.form { display: grid; gap: .5rem; min-width: 0; grid-template-columns: minmax(0, 1fr); }
.field { display: grid; grid-template-columns: minmax(9rem, 1fr) minmax(0, 1.4fr) auto; gap: .15rem .6rem; align-items: center; }
.field .hint { grid-column: 2 / -1; }
.field .title { overflow-wrap: anywhere; }
.field textarea, .item textarea { resize: vertical; }
.title b { font-weight: 600; } .title .gone { text-decoration: line-through; } .title em { color: var(--amber); font-size: .85rem; }
fieldset { border: 0; margin: 0; padding: 0; display: grid; gap: .5rem; min-width: 0; grid-template-columns: minmax(0, 1fr); }
fieldset > :not(legend):not(:empty) { border-left: 2px solid var(--line); padding-left: .8rem; margin-left: .2rem; }
legend { padding: 0; }
.item { display: flex; gap: .4rem; align-items: start; }
.item > :not(button) { flex: 1; min-width: 0; }
.pair { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: .4rem; }
textarea { font: inherit; color: var(--text); background: var(--page); border: 1px solid var(--soft); border-radius: .35rem;
  padding: .25rem .5rem; width: 100%; }
.code, pre, code { font: .85rem/1.45 ui-monospace, monospace; }
pre { background: var(--tile); border-radius: .4rem; padding: .5rem .7rem; margin: .2rem 0 0; max-height: 24rem; overflow: auto;
  white-space: pre-wrap; overflow-wrap: anywhere; }
[aria-invalid="true"] { border-color: var(--red); outline-color: var(--red); }
button:disabled { opacity: .55; cursor: default; }
.small { font-size: .85rem; padding: .1rem .45rem; }
.main { background: var(--blue); border-color: var(--blue); color: var(--page); font-weight: 600; }
.outcome { margin: 0; font-weight: 600; overflow-wrap: anywhere; }
.events, .past { list-style: none; margin: 0; padding: 0; display: grid; gap: .6rem; min-width: 0; }
.events > li, .past > li { min-width: 0; }
.events p { margin: 0; }
.past li { display: flex; gap: .6rem; align-items: baseline; }
.past code { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; min-width: 0; }
.headers { display: grid; gap: .3rem; grid-template-columns: minmax(0, 1fr); }
.request .tools > div { flex: 1 1 12rem; min-width: 0; display: grid; gap: .3rem; justify-items: start;
  grid-template-columns: minmax(0, 1fr); }
.request .tools > div > .headers { width: 100%; }
.request > .tools { margin: 0; align-items: center; }
.copied { display: grid; gap: .3rem; }
@media (max-width: 40rem) {
  .wide { display: none; }
  main { padding: .8rem; }
  .columns { grid-template-columns: minmax(0, 1fr); }
  .columns > section:last-child:not(:only-child) { position: static; }
  .field { grid-template-columns: minmax(0, 1fr) auto; }
  .field .title { grid-column: 1 / -1; }
  .field .hint { grid-column: 1 / -1; }
}

h3 { font-size: .95rem; margin: 0 0 .3rem; }
.parts { display: grid; gap: 1.2rem; min-width: 0; }
.parts > * { min-width: 0; }
.short .grid { max-height: 16rem; }
.spread > h2 { margin-right: auto; align-self: center; }
label.check { display: flex; align-items: center; gap: .4rem; padding: .3rem 0; }
.options th[scope=col], .options td:last-child { white-space: nowrap; }
.options th { width: auto; }
.options th[scope=row] { width: 30%; }
.options .changed > th, .options .changed > .lines { color: var(--text); font-weight: 600; }
.options .lines { white-space: pre-line; }
.standard { display: block; color: var(--soft); font-weight: normal; font-size: .85rem; }
pre { margin: .6rem 0 0; padding: .7rem .9rem; overflow: auto; max-height: 24rem; background: var(--tile);
  border-radius: .4rem; font: 13px/1.5 ui-monospace, monospace; }
@media (max-width: 40rem) {
  .options td:last-child { white-space: normal; overflow-wrap: anywhere; }
}

.soft { color: var(--soft); margin: 0; }
.note { color: var(--soft); margin: 0; font-style: italic; }
.bad-text:is(p) { margin: 0; }
button:disabled, input:disabled, select:disabled { color: var(--soft); background: var(--tile); border-color: var(--line);
  cursor: not-allowed; }
.line .changed { font-weight: 600; color: var(--amber); }
.profile { display: grid; gap: .5rem; }
.flame { position: relative; overflow: hidden; border-radius: .4rem; background: var(--tile); }
.flame .frame { position: absolute; height: 25px; padding: 0 .4rem; overflow: hidden; white-space: nowrap;
  text-overflow: ellipsis; line-height: 25px; font-size: 13px; cursor: pointer; border-right: 1px solid var(--page);
  color: var(--frame-text); background: var(--frame-loop); }
.flame .frame > span { pointer-events: none; }
.flame .depth-1 { background: var(--frame-phase); }
.flame .depth-2 { background: var(--frame-method); }
.flame .idle { background: var(--line); color: var(--text); }
.flame .frame:hover, .flame .frame[aria-selected=true] { text-decoration: underline; }
.flame .frame:focus-visible { outline: 2px solid var(--text); outline-offset: -2px; z-index: 1; }
.flame-info { margin: 0; color: var(--soft); min-height: 1.45em; overflow-wrap: anywhere; }
td button { white-space: nowrap; overflow-wrap: normal; }
summary { cursor: pointer; color: var(--soft); }
:root { --frame-text: #1c2733; --frame-loop: #b9d3f5; --frame-phase: #ffd9a0; --frame-method: #f5b8a8; }
@media (prefers-color-scheme: dark) {
  :root { --frame-text: #f2f5f8; --frame-loop: #27476f; --frame-phase: #6a4a14; --frame-method: #7a3328; }
}
"""##
  /// The script.
  public static let script = ##"""
// The page of the console. It draws what the server sends as text only: nothing that the server sends is read as HTML.
"use strict";

const prefix = document.documentElement.dataset.prefix;
const main = document.getElementById("main");
const statusLine = document.getElementById("status");

// An element with attributes, properties for events, and children, which are elements or texts.
function make(tag, attributes = {}, ...children) {
  const svg = ["svg", "path", "line", "text"].includes(tag);
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// Figures, as the page shows them.

function shortNumber(value) {
  if (value === null || Number.isNaN(value)) return "–";
  const units = [[1e9, "G"], [1e6, "M"], [1e4, "k"]];
  for (const [size, unit] of units) {
    if (value >= size) return `${(value / (unit === "k" ? 1e3 : size)).toFixed(1)} ${unit}`;
  }
  return value >= 100 || Number.isInteger(value) ? Math.round(value).toString() : value.toFixed(value < 1 ? 2 : 1);
}

function shortTime(seconds) {
  if (seconds === null || Number.isNaN(seconds)) return "–";
  if (seconds >= 1) return `${seconds.toFixed(seconds >= 10 ? 0 : 1)} s`;
  if (seconds >= 1e-3) return `${(seconds * 1e3).toFixed(seconds >= 1e-2 ? 0 : 1)} ms`;
  return `${Math.round(seconds * 1e6)} µs`;
}

function shortBytes(bytes) {
  if (!bytes) return "–";
  const units = ["B", "KB", "MB", "GB", "TB"];
  let index = 0;
  while (bytes >= 1024 && index < units.length - 1) { bytes /= 1024; index += 1; }
  return `${bytes.toFixed(bytes >= 100 || index === 0 ? 0 : 1)} ${units[index]}`;
}

// In the server's JSON, what is no number is a text, and what is zero is missing.
const number = (value) => (value === undefined ? 0 : value === "NaN" ? NaN : Number(value));
const numbers = (values) => (values ?? []).map(number);
const last = (values) => (values.length ? values[values.length - 1] : NaN);

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

// Asks for the view again and again, and says when what is shown is old.
const refresher = {
  interval: 2000,
  timer: null,
  failures: 0,
  latest: 0,
  run: 0,

  now() {
    clearTimeout(this.timer);
    this.run += 1;
    // What is shown may not be what is asked for, until it is drawn.
    main.setAttribute("aria-busy", "true");
    return this.turn(this.run);
  },

  async turn(run) {
    if (document.visibilityState === "hidden") { this.timer = setTimeout(() => this.turn(run), this.interval); return; }
    try {
      const view = current;
      await permissions.learn();
      showLinks();
      const data = await ask(view.name, view.parameters());
      if (run !== this.run || view !== current) return;
      this.failures = 0;
      this.latest = Date.now();
      view.draw(data);
      main.removeAttribute("aria-busy");
      this.problem = null;
    } catch (error) {
      if (run !== this.run || error.name === "AbortError") return;
      this.failures += 1;
      permissions.forget();
      main.removeAttribute("aria-busy");
      if (error instanceof Refused) { this.problem = "no access"; askForToken(); this.show(); return; }
      this.problem = error instanceof TypeError ? "the server does not answer" : error.message;
    }
    this.show();
    const wait = this.failures ? Math.min(this.interval * 2 ** Math.min(this.failures - 1, 3), 15000) : this.interval;
    this.timer = setTimeout(() => this.turn(run), wait);
  },

  show() {
    const age = this.latest ? Math.round((Date.now() - this.latest) / 1000) : null;
    const isOld = this.problem !== null || (age !== null && age > 10);
    statusLine.classList.toggle("old", isOld);
    enter.hidden = this.problem !== "no access";
    const text = !isOld ? (age === null ? "" : "live")
      : `${age === null ? "nothing to show yet" : `what is shown is ${age} s old`}: ${this.problem ?? "waiting"}`;
    if (statusLine.textContent !== text) statusLine.textContent = text;
  },
  problem: null,
};
setInterval(() => refresher.show(), 1000);
document.addEventListener("visibilitychange", () => { if (document.visibilityState === "visible") refresher.now(); });

// How many periods the server keeps, and how many of them a line of the table draws.
const periods = 180;
const recentPeriods = 36;

// A chart of some curves: { name, values, style }. `shown` makes a text of a value.
function chart(title, curves, step, shown) {
  const width = 600, height = 140, top = 14, bottom = 16;
  const values = curves.flatMap((curve) => curve.values).filter((value) => !Number.isNaN(value));
  const most = Math.max(...values, 0) || 1;
  const y = (value) => height - bottom - ((height - bottom - top) * value) / most;
  const picture = make("svg", {
    viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img",
    "aria-label": `${title}: ${curves.map((curve) => `${curve.name} ${shown(last(curve.values))}`).join(", ")}`,
  });
  for (const part of [0, 0.5, 1]) {
    picture.append(make("line", { class: "grid-line", x1: 0, x2: width, y1: y(most * part), y2: y(most * part) }));
  }
  for (const curve of curves) {
    // The latest is at the right, however many there are.
    const first = periods - curve.values.length;
    const x = (index) => (width * (first + index)) / (periods - 1);
    picture.append(make("path", { class: `curve ${curve.style}`, d: pathOf(curve.values, x, y) }));
  }
  const minutes = Math.round((periods * step) / 60);
  return make("figure", {},
    make("figcaption", {}, make("b", {}, title), ...curves.map((curve) => make("span", {},
      make("span", { class: `key ${curve.style}` }), `${curve.name} ${shown(last(curve.values))}`)),
      make("span", { class: "wide" }, `up to ${shown(most)}, ${minutes} min`)),
    picture);
}

function pathOf(values, x, y) {
  let path = "", isDown = false;
  values.forEach((value, index) => {
    if (Number.isNaN(value)) { isDown = false; return; }
    path += `${isDown ? "L" : "M"}${x(index).toFixed(1)} ${y(value).toFixed(1)}`;
    // A value between gaps is a short line.
    if (!isDown && Number.isNaN(values[index + 1] ?? NaN)) path += "h-2";
    isDown = true;
  });
  return path;
}

function rowChart(values) {
  const most = Math.max(...values, 0) || 1;
  const picture = make("svg", { class: "row-chart", viewBox: "0 0 100 20", preserveAspectRatio: "none", "aria-hidden": "true" });
  const first = recentPeriods - values.length;
  picture.append(make("path", { class: "curve one",
    d: pathOf(values, (index) => (100 * (first + index)) / (recentPeriods - 1), (value) => 18 - (16 * value) / most) }));
  return picture;
}

// The three charts of calls.
function chartsOf(series, step) {
  return make("div", { class: "charts" },
    chart("Calls per second", [
      { name: "ended", values: numbers(series.rate), style: "one" },
      { name: "failed", values: numbers(series.errors), style: "three" },
    ], step, shortNumber),
    chart("Duration", [
      { name: "median", values: numbers(series.median), style: "one" },
      { name: "p90", values: numbers(series.p90), style: "two" },
      { name: "p99", values: numbers(series.p99), style: "three" },
    ], step, shortTime),
    chart("Calls in progress", [{ name: "now", values: numbers(series.inFlight), style: "one" }], step, shortNumber));
}

const lineHeight = 32;

// A list of any length, of which only the lines that can be seen exist. `columns`: { name, sort, wide, cell(line) }.
class Grid {
  constructor(label, columns, layout, { tree = false, key, choose, fold, sort, changed }) {
    Object.assign(this, { columns, key, choose, fold, changed, lines: [], from: 0, count: 0, active: 0, selected: null });
    this.head = make("div", { class: "head", role: "row", style: null }, ...columns.map((column) =>
      make("span", { role: "columnheader", class: column.wide ? "wide" : null },
        column.sort ? make("button", { type: "button", onclick: () => sort(column.sort) }, column.name) : column.name)));
    this.space = make("div", { role: "presentation" });
    this.body = make("div", { class: "body", role: "rowgroup" }, this.space);
    // Has the focus, whichever line is active: lines come and go.
    this.element = make("div", {
      class: "grid", role: tree ? "treegrid" : "grid", tabindex: 0, "aria-label": label,
      onscroll: () => this.scrolled(), onkeydown: (event) => { if (event.target === this.element) this.pressed(event); },
    }, this.head, this.body);
    this.layout = layout;
    this.tree = tree;
    this.fit();
    new ResizeObserver(() => this.fit()).observe(this.element);
  }

  // The widths of the columns, without those that a narrow window does not show.
  fit() {
    const narrow = matchMedia("(max-width: 40rem)").matches;
    const template = this.columns.map((column, index) => (narrow && column.wide ? null : this.layout[index]))
      .filter((width) => width !== null).map((width) => {
        // Most of the space is for the name: those of methods differ at their ends.
        const most = narrow && /([\d.]+rem)\)?$/.exec(width);
        return most ? `minmax(3rem, min(7.5rem, ${most[1]}))` : width;
      })
      .join(" ");
    this.head.style.gridTemplateColumns = template;
    for (const line of this.body.querySelectorAll(".line")) line.style.gridTemplateColumns = template;
    this.template = template;
  }

  // The part that the server should send: what can be seen, and a little around it.
  get window() {
    const first = Math.max(0, Math.floor(this.element.scrollTop / lineHeight) - 10);
    const seen = Math.ceil((this.height || 480) / lineHeight) + 20;
    return { from: first, count: Math.min(seen, 200) };
  }

  // Of the part that shows lines: the head stays above them.
  get height() { return Math.max(0, this.element.clientHeight - this.head.offsetHeight); }

  toTop() { this.element.scrollTop = 0; }

  scrolled() {
    const { from, count } = this.window;
    const isMissing = from < this.from || Math.min(from + count, this.count) > this.from + this.lines.length;
    if (isMissing) this.changed();
  }

  draw(lines, from, count) {
    Object.assign(this, { lines, from, count });
    this.active = Math.min(this.active, Math.max(0, count - 1));
    this.element.setAttribute("aria-rowcount", count + 1);
    this.space.style.height = `${count * lineHeight}px`;
    const elements = lines.map((line, index) => this.line(line, from + index));
    this.body.replaceChildren(this.space, ...elements);
    if (!count) this.body.append(make("p", { class: "empty" }, "There is nothing to show."));
    const active = this.body.querySelector(".active");
    if (active) this.element.setAttribute("aria-activedescendant", active.id);
    else this.element.removeAttribute("aria-activedescendant");
  }

  line(line, index) {
    const key = this.key(line);
    const isSelected = key === this.selected;
    const classes = ["line", isSelected ? "selected" : "", index === this.active ? "active" : ""].join(" ").trim();
    const element = make("div", {
      class: classes, role: "row", id: `line-${index}`, "aria-rowindex": index + 2, "aria-selected": String(isSelected),
      "aria-level": this.tree ? line.level : null,
      "aria-expanded": this.tree && line.children ? String(!line.isClosed) : null,
      onclick: () => { this.active = index; this.choose(line); },
    }, ...this.columns.map((column) => {
      const content = column.cell(line);
      // What does not fit is shown to a pointer.
      const title = typeof content === "string" ? content : null;
      return make("span", { role: "gridcell", class: column.wide ? "wide" : null, title }, content);
    }));
    element.style.top = `${index * lineHeight}px`;
    element.style.gridTemplateColumns = this.template;
    return element;
  }

  pressed(event) {
    const page = Math.max(1, Math.floor(this.height / lineHeight) - 1);
    const line = this.lines[this.active - this.from];
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in moves) this.move(Math.min(Math.max(this.active + moves[event.key], 0), Math.max(0, this.count - 1)));
    else if (event.key === "Enter" && line) this.choose(line);
    else if (event.key === "ArrowRight" && line && this.fold) this.fold(line, false);
    else if (event.key === "ArrowLeft" && line && this.fold) this.fold(line, true);
    else return;
    event.preventDefault();
  }

  move(index) {
    this.active = index;
    const top = index * lineHeight;
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    const bottom = top + lineHeight - this.height;
    if (bottom > this.element.scrollTop) this.element.scrollTop = bottom;
    this.draw(this.lines, this.from, this.count);
    this.scrolled();
  }
}

// Fields and figures that several views have.

// A field whose value changes what is asked for.
function filterField(label, changed) {
  const field = make("input", { type: "search", "data-search": true, oninput: () => changed(field.value) });
  return make("label", {}, label, field);
}

function choice(label, options, changed) {
  const field = make("select", { onchange: () => changed(field.value) },
    ...options.map(([value, name]) => make("option", { value }, name)));
  return make("label", {}, label, field);
}

function tiles(values) {
  return values.filter(Boolean).map(([name, value, isBad]) =>
    make("div", { class: isBad ? "bad" : null }, make("dt", {}, name), make("dd", {}, value)));
}

// A button that has the server do something, which cannot be undone: it asks once more, and says what became of it.
class Lever {
  constructor(name, warning, run) {
    this.press = make("button", { type: "button", onclick: () => this.ask(true) }, name);
    this.confirm = make("button", { type: "button", class: "danger", onclick: () => this.run(run) }, warning);
    this.cancel = make("button", { type: "button", onclick: () => this.ask(false) }, "Cancel");
    this.outcome = make("span", { role: "status" });
    this.element = make("p", { class: "lever" }, this.press, this.confirm, this.cancel, this.outcome);
    this.ask(false);
  }

  ask(isAsking) {
    const hadFocus = this.element.contains(document.activeElement);
    this.press.hidden = isAsking;
    this.confirm.hidden = this.cancel.hidden = !isAsking;
    if (isAsking) this.outcome.textContent = "";
    if (hadFocus) (isAsking ? this.cancel : this.press).focus();
  }

  async run(run) {
    this.ask(false);
    try {
      this.outcome.textContent = await run();
    } catch (error) {
      this.outcome.textContent = error instanceof Refused ? "the token is not the server's" : error.message;
    }
    refresher.now();
  }
}

// The view of what the process does now.

const connections = ({ connections }) => `${shortNumber(number(connections))} ${number(connections) === 1 ? "connection" : "connections"}`;

class NowView {
  name = "now";
  title = "Now";
  key = "n";
  // Where the lines begin that the server was asked for.
  asked = 0;
  side = "server"; order = "rate"; filter = ""; chosen = null;

  constructor() {
    this.tiles = make("dl", { class: "tiles" });
    this.note = make("p", { class: "empty", hidden: true });
    this.charts = make("section", { "aria-label": "All calls" });
    this.panel = make("section", { class: "panel", hidden: true });
    this.lists = make("div", { class: "lists" });
    this.grid = new Grid("Methods, in the last minute", [
      { name: "Method", sort: "name", cell: (line) => (line.target ? `${line.name} → ${line.target}` : line.name) },
      { name: "Calls/s", sort: "rate", cell: (line) => shortNumber(number(line.rate)) },
      { name: "Failed/s", sort: "errors", cell: (line) => this.errors(line) },
      { name: "Median", wide: true, cell: (line) => shortTime(number(line.median)) },
      { name: "p99", sort: "p99", cell: (line) => shortTime(number(line.p99)) },
      { name: "In progress", sort: "in_flight", wide: true, cell: (line) => shortNumber(number(line.inFlight)) },
      { name: "Last 3 minutes", wide: true, cell: (line) => rowChart(numbers(line.series?.rate)) },
    ], ["minmax(9rem, 1fr)", "5rem", "5rem", "5rem", "5rem", "6.5rem", "8.5rem"], {
      key: (line) => `${line.name} ${line.target ?? ""}`,
      choose: (line) => { this.chosen = line; this.grid.selected = this.grid.key(line); refresher.now(); },
      sort: (order) => { this.order = order; refresher.now(); },
      changed: () => refresher.now(),
    });
    this.element = [
      this.tiles, this.note, this.charts, this.panel,
      make("section", {},
        make("div", { class: "tools" },
          choice("Calls of", [["server", "servers"], ["client", "channels"]], (side) => {
            this.side = side; this.chosen = null; this.panel.hidden = true; refresher.now();
          }),
          filterField("Find methods", (text) => { this.filter = text; this.grid.toTop(); refresher.now(); })),
        this.grid.element),
      this.lists,
    ];
  }

  parameters() {
    const { from, count } = this.grid.window;
    this.asked = from;
    return [["side", this.side], ["sort", this.order], ["filter", this.filter], ["from", from], ["count", count],
      ["selected", this.chosen?.name ?? ""], ["target", this.chosen?.target ?? ""]];
  }

  errors(line) {
    const value = number(line.errors);
    return value > 0 ? make("span", { class: "bad-text" }, shortNumber(value)) : "0";
  }

  draw(data) {
    document.getElementById("title").textContent = data.process?.name || "Console";
    const total = data.total ?? {};
    const step = number(data.stepSeconds);
    const servers = data.servers ?? [];
    const draining = servers.filter((server) => server.isDraining).length;
    const errors = last(numbers(total.errors));
    this.tiles.replaceChildren(...tiles([
      ["Calls per second", shortNumber(last(numbers(total.rate)))],
      ["Failed per second", shortNumber(errors), errors > 0],
      ["Median", shortTime(last(numbers(total.median)))],
      ["p99", shortTime(last(numbers(total.p99)))],
      ["In progress", shortNumber(last(numbers(total.inFlight)))],
      data.remark ? null : ["Connections", shortNumber(servers.reduce((sum, server) => sum + number(server.connections), 0))],
      data.remark ? null : ["Memory", shortBytes(number(data.process?.memoryBytes))],
      draining ? ["Draining", `${draining} of ${servers.length}`, true] : null,
    ]));
    this.note.hidden = !data.missing && !data.remark;
    this.note.textContent = data.missing || data.remark || "";
    this.charts.hidden = Boolean(data.missing);
    this.charts.replaceChildren(chartsOf(total, step));
    this.grid.draw(data.methods ?? [], this.asked, number(data.methodCount));
    this.drawSelected(data.selected, step);
    this.drawLists(data, servers);
  }

  drawSelected(method, step) {
    this.panel.hidden = !this.chosen || !method;
    if (this.panel.hidden) return;
    const close = make("button", { type: "button", onclick: () => {
      this.chosen = null; this.grid.selected = null; this.panel.hidden = true; this.grid.element.focus(); refresher.now();
    } }, "Close");
    const title = make("h2", {}, method.target ? `${method.name} → ${method.target}` : method.name);
    const hadFocus = this.panel.contains(document.activeElement);
    this.panel.replaceChildren(make("header", {}, title, close), chartsOf(method.series ?? {}, step));
    if (hadFocus) close.focus();
  }

  stateOf(server) {
    const problem = server.isSilent ? "a loop does not answer" : server.isDraining ? "draining" : null;
    return make("span", { class: problem ? "bad-text" : "good-text" }, problem ?? "serving");
  }

  drawLists(data, servers) {
    const list = (title, lines) => make("section", {}, make("h2", {}, title),
      lines.length ? make("ul", {}, ...lines) : make("p", { class: "empty" }, "None."));
    const addresses = servers.map((server) => make("li", {},
      make("span", {}, `${server.name || "server"} ${(server.addresses ?? []).join(", ")}`),
      make("span", {}, server.isSilent || data.remark ? "" : connections(server)),
      this.stateOf(server)));
    const loops = (data.loops ?? []).map((loop, index) => {
      const load = loop.load === undefined ? 0 : Number(loop.load);
      const text = load < 0 ? "not known yet" : `${Math.round(load * 100)} %`;
      return make("li", {}, make("span", {}, `Loop ${index + 1} ${loop.name ?? ""}`),
        make("span", {}, connections(loop)),
        make("meter", { min: 0, max: 1, high: 0.9, value: Math.max(0, load), "aria-label": `load of loop ${index + 1}` }), text);
    });
    const abuses = (data.abuses ?? []).map((abuse) => make("li", {}, make("span", {}, abuse.name),
      make("span", { class: "bad-text" }, shortNumber(number(abuse.count)))));
    const health = (data.health ?? []).map((each) => make("li", {}, make("span", {}, each.service || "the server as a whole"),
      make("span", { class: each.status === "SERVING" ? "good-text" : "bad-text" }, each.status)));
    // A server of another process tells less.
    this.lists.replaceChildren(list("Servers", addresses), ...(data.health ? [list("Health", health)] : []),
      ...(data.process?.processors ? [list("Event loops", loops), list("Peers that broke a rule", abuses)] : []));
  }
}

// The view of single calls, and of what one of them did when.

class CallsView {
  name = "calls";
  title = "Calls";
  key = "a";
  // Where the lines begin that the server was asked for.
  asked = 0;
  side = "server"; kind = "slowest"; bucket = ""; filter = ""; chosen = ""; shown = "";

  constructor() {
    this.note = make("p", { class: "note", role: "status", hidden: true });
    this.panel = make("section", { class: "panel", "aria-label": "The call", hidden: true });
    this.grid = new Grid("Calls", [
      { name: "Method", cell: (line) => (line.target ? `${line.method} → ${line.target}` : line.method) },
      { name: "Duration", cell: (line) => shortTime(number(line.seconds)) },
      { name: "Status", cell: (line) => this.statusOf(line) },
      { name: "Peer", wide: true, cell: (line) => line.peer ?? "" },
      { name: "Began", wide: true, cell: (line) => clockTime(line.start) },
    ], ["minmax(8rem, 1fr)", "5.5rem", "minmax(6rem, 13rem)", "minmax(6rem, 14rem)", "6rem"], {
      key: (line) => line.id,
      choose: (line) => this.select(line.id),
      changed: () => refresher.now(),
    });
    this.element = [
      make("section", {},
        make("div", { class: "tools" },
          choice("Calls of", [["server", "servers"], ["client", "channels"]], (side) => this.ask({ side, chosen: "" })),
          choice("Show", [["slowest", "the slowest"], ["failed", "those that failed"], ["under_way", "those in progress"],
            ["timed", "those with a timeline"]], (kind) => this.ask({ kind })),
          choice("Duration", [["", "any"], ["under_1ms", "under 1 ms"], ["1ms", "1 to 10 ms"], ["10ms", "10 to 100 ms"],
            ["100ms", "0.1 to 1 s"], ["1s", "1 to 10 s"], ["10s", "10 s and more"]], (bucket) => this.ask({ bucket })),
          filterField("Find methods, statuses, addresses and traces", (filter) => this.ask({ filter }))),
        this.note, this.grid.element),
      this.panel,
    ];
  }

  ask(changes) {
    Object.assign(this, changes);
    this.grid.selected = this.chosen;
    this.grid.toTop();
    refresher.now();
  }

  select(id) {
    this.chosen = id;
    this.grid.selected = id;
    refresher.now();
  }

  parameters() {
    const { from, count } = this.grid.window;
    this.asked = from;
    return [["side", this.side], ["kind", this.kind], ["bucket", this.bucket], ["filter", this.filter], ["from", from],
      ["count", count], ["selected", this.chosen]];
  }

  statusOf(line) {
    const attempts = line.attempts > 1 ? `, ${line.attempts} attempts` : "";
    const text = (line.status || `waits for ${line.waitsFor ?? "something"}`) + attempts;
    const isBad = line.status && line.status !== "OK";
    return make("span", { class: isBad ? "bad-text" : null, title: text }, text);
  }

  draw(data) {
    this.grid.draw(data.calls ?? [], this.asked, number(data.callCount));
    const notes = [data.missing, ...(data.silent ?? []).map((name) => `${name || "A server"} does not answer: its calls are missing.`)];
    if (this.kind === "timed") {
      notes.push("A call gets a timeline if it begins while somebody looks at this view: at most a hundred in a second do.");
    }
    const text = notes.filter(Boolean).join(" ");
    this.note.hidden = !text;
    if (this.note.textContent !== text) this.note.textContent = text;
    this.drawSelected(data.selected);
  }

  drawSelected(detail) {
    this.panel.hidden = !this.chosen;
    // Beside a call, the list is short.
    this.grid.element.classList.toggle("short", Boolean(this.chosen));
    if (!this.chosen) { this.shown = ""; return; }
    const hadFocus = this.panel.contains(document.activeElement);
    const close = make("button", { type: "button", onclick: () => {
      this.select(""); this.panel.hidden = true; this.grid.element.focus();
    } }, "Close");
    if (!detail) {
      this.panel.replaceChildren(make("header", {}, make("h2", {}, "The call has gone, and was not kept."), close));
    } else {
      const call = detail.call ?? {};
      const title = call.target ? `${call.method} → ${call.target}` : call.method ?? "";
      this.panel.replaceChildren(make("header", {}, make("h2", {}, title), close),
        make("dl", { class: "tiles plain" }, ...tiles(this.figures(detail))),
        ...(detail.message && detail.message !== call.status ? [make("p", { class: "message" }, detail.message)] : []),
        this.timeline(detail), ...this.attempts(detail), ...this.metadata(detail));
    }
    if (hadFocus) close.focus();
    // Whoever has just chosen a call wants to see it.
    if (this.shown !== this.chosen) this.panel.scrollIntoView({ block: "nearest" });
    this.shown = this.chosen;
  }

  figures(detail) {
    const call = detail.call ?? {};
    const transfer = (what) => {
      const count = number(what?.messages);
      if (!count) return "no messages";
      return `${shortNumber(count)} ${count === 1 ? "message" : "messages"}, ${shortBytes(number(what?.bytes))}`;
    };
    return [
      ["Status", call.status || `waits for ${call.waitsFor ?? "something"}`, call.status && call.status !== "OK"],
      ["Duration", shortTime(number(call.seconds))],
      ["Began", clockTime(call.start)],
      [this.side === "server" ? "Client" : "Server", call.peer || "none"],
      ["Sent", transfer(detail.sent)],
      ["Received", transfer(detail.received)],
      call.traceId ? ["Trace", this.trace(detail)] : null,
    ];
  }

  trace(detail) {
    const id = make("span", { class: "identity" }, detail.call.traceId);
    // The server makes the address of the options alone; other schemes are no addresses of traces.
    if (!/^https?:\/\//.test(detail.traceLink ?? "")) return id;
    return make("a", { href: detail.traceLink, target: "_blank", rel: "noopener noreferrer" }, id);
  }

  // The stages and attempts as bars, in a table that also says them in words.
  timeline(detail) {
    const whole = number(detail.call?.seconds) || 1e-9;
    const lanes = (detail.stages ?? []).map((stage) => ({
      name: stage.name, isOpen: stage.isOpen, count: number(stage.count), seconds: number(stage.seconds), style: styleOf(stage.name),
      spans: (stage.spans ?? []).map((span) => ({ start: number(span.start), seconds: number(span.seconds) })),
    }));
    (detail.attempts ?? []).forEach((attempt, index) => {
      const start = number(attempt.start), seconds = number(attempt.seconds), picked = number(attempt.picked);
      const waited = picked >= start ? picked - start : 0;
      lanes.push({ name: `Attempt ${index + 1}`, count: 1, seconds, style: "stage-handler",
        spans: [...(waited ? [{ start, seconds: waited, style: "stage-wait" }] : []), { start: start + waited, seconds: seconds - waited }] });
    });
    if (!lanes.length) {
      return make("p", { class: "empty" }, this.kind === "under_way" || !detail.call?.hasTimeline
        ? "This call has no timeline: it did not begin while somebody looked at this view, or others did at the same time." : "");
    }
    const percent = (seconds) => `${Math.min(100, Math.max(0, (100 * seconds) / whole)).toFixed(3)}%`;
    const row = (lane) => {
      const track = make("div", { class: "track", "aria-hidden": "true" }, ...lane.spans.map((span) => {
        const bar = make("span", { class: `bar ${span.style ?? lane.style}` });
        bar.style.left = percent(span.start);
        bar.style.width = percent(Math.min(span.seconds, whole - span.start));
        return bar;
      }));
      const times = lane.count > 1 ? `, ${lane.count} times` : "";
      const first = make("span", { class: "unseen" }, `from ${shortTime(lane.spans[0]?.start ?? 0)}`);
      return make("tr", { class: lane.isOpen ? "open" : null }, make("th", { scope: "row" }, lane.name),
        make("td", {}, track, first), make("td", { class: "time" }, `${shortTime(lane.seconds)}${times}${lane.isOpen ? ", now" : ""}`));
    };
    const scale = make("div", { class: "scale" }, ...[0, 0.5, 1].map((part) => make("span", {}, shortTime(whole * part))));
    return make("table", { class: "timeline" }, make("caption", { class: "unseen" }, "What the call did, and when"),
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Stage"), make("td", {}, scale),
        make("th", { scope: "col", class: "time" }, "At work"))),
      make("tbody", {}, ...lanes.map(row)));
  }

  attempts(detail) {
    const attempts = detail.attempts ?? [];
    if (!attempts.length) return [];
    return [make("h3", {}, "Attempts"), make("table", { class: "even" },
      make("thead", {}, make("tr", {}, ...["Attempt", "Server", "Status", "Began after", "Took"].map((name) => make("th", { scope: "col" }, name)))),
      make("tbody", {}, ...attempts.map((attempt, index) => make("tr", {},
        make("th", { scope: "row" }, String(index + 1)), make("td", {}, attempt.server || "none"),
        make("td", { class: attempt.status === "OK" ? null : "bad-text" }, attempt.wasSentAgain ? "sent again: no server had processed it" : attempt.status),
        make("td", {}, shortTime(number(attempt.start))), make("td", {}, shortTime(number(attempt.seconds)))))))];
  }

  metadata(detail) {
    const fields = detail.metadata ?? [];
    if (!fields.length) return [];
    const more = number(detail.fieldsLeftOut);
    return [make("h3", {}, "Metadata of the request"), make("table", {}, make("tbody", {}, ...fields.map((field) =>
      make("tr", {}, make("th", { scope: "row" }, field.name),
        make("td", { class: field.isShown ? null : "soft" }, field.isShown ? field.value ?? "" : `${number(field.length)} bytes, not shown`))))),
    ...(more ? [make("p", { class: "empty" }, `${more} more fields`)] : [])];
  }
}

function clockTime(time) { return new Date(time).toLocaleTimeString([], { hourCycle: "h23" }); }

// What stages look like: what the program does, and what happens around it.
function styleOf(name) {
  if (name === "Handler") return "stage-handler";
  if (name.startsWith("Interceptor")) return "stage-interceptor";
  return ["Decode", "Encode"].includes(name) ? "stage-codec" : "stage-wait";
}

// The view of servers, channels and their connections.

class ConnectionsView {
  name = "connections";
  title = "Connections";
  key = "c";
  // Where the lines begin that the server was asked for.
  asked = 0;
  filter = ""; chosen = ""; closed = new Set();

  constructor() {
    this.note = make("p", { class: "hint", hidden: true });
    this.facts = make("div");
    this.levers = make("div");
    this.panel = make("section", { class: "panel", hidden: true }, this.levers, this.facts);
    this.grid = new Grid("Servers, channels and connections", [
      { name: "Name", cell: (line) => this.nameOf(line) },
      { name: "Kind", wide: true, cell: (line) => (line.kind ?? "").toLowerCase() },
      { name: "State", cell: (line) => this.stateOf(line) },
      { name: "Calls", wide: true, cell: (line) => (line.level < 3 && line.callsStarted ? shortNumber(number(line.callsStarted)) : "") },
      { name: "Failed", wide: true, cell: (line) => (line.callsFailed ? shortNumber(number(line.callsFailed)) : "") },
    ], ["minmax(9rem, 1fr)", "7rem", "8.5rem", "6rem", "6rem"], {
      tree: true,
      key: (line) => line.id,
      choose: (line) => { this.choose(line); refresher.now(); },
      fold: (line, isClosed) => {
        if (!line.children) return;
        if (isClosed) this.closed.add(line.id); else this.closed.delete(line.id);
        refresher.now();
      },
      changed: () => refresher.now(),
    });
    this.element = [
      make("section", {},
        make("div", { class: "tools" },
          filterField("Find addresses and names", (text) => {
            this.filter = text; this.grid.toTop(); refresher.now();
          })),
        this.note, this.grid.element),
      this.panel,
    ];
  }

  parameters() {
    const { from, count } = this.grid.window;
    this.asked = from;
    return [["filter", this.filter], ["from", from], ["count", count], ["selected", this.chosen],
      ...[...this.closed].slice(0, 100).map((id) => ["closed", id])];
  }

  nameOf(line) {
    const sign = line.children ? (line.isClosed ? "▸ " : "▾ ") : "";
    const text = make("span", {}, `${sign}${line.name}`);
    text.style.paddingLeft = `${(line.level - 1) * 1.2}rem`;
    if (line.children) text.addEventListener("click", (event) => {
      if (event.offsetX < (line.level - 1) * 19 + 24) { this.grid.fold(line, !line.isClosed); event.stopPropagation(); }
    });
    return text;
  }

  choose(line) {
    this.chosen = line.id;
    this.grid.selected = line.id;
    const drain = new Lever("Drain", "Drain: it accepts no more calls, and does not begin again", async () => {
      await act("drain", { server: line.id, graceSeconds: 30 });
      return "It drains. Calls in progress have 30 s.";
    });
    this.levers.replaceChildren(...(line.kind === "SERVER" && permissions.has("drain") ? [drain.element] : []));
  }

  stateOf(line) {
    const isBad = ["TRANSIENT_FAILURE", "SHUTDOWN", "draining", "no answer"].includes(line.state);
    return make("span", { class: isBad ? "bad-text" : null }, line.state ?? "");
  }

  draw(data) {
    const lines = (data.nodes ?? []).map((line) => ({ ...line, isClosed: this.closed.has(line.id) }));
    this.grid.draw(lines, this.asked, number(data.nodeCount));
    this.note.hidden = !data.missing;
    this.note.textContent = data.missing ?? "";
    const detail = data.selected;
    this.panel.hidden = !this.chosen;
    if (!this.chosen) return;
    if (!detail) {
      this.levers.replaceChildren();
      this.facts.replaceChildren(make("p", {}, "What was selected has gone."));
      return;
    }
    const events = (detail.events ?? []).map((event) => make("tr", {},
      make("th", { scope: "row" }, new Date(event.time).toLocaleTimeString()),
      make("td", { class: event.isWarning ? "bad-text" : null }, event.isWarning ? `Warning: ${event.text}` : event.text)));
    this.facts.replaceChildren(
      make("h2", {}, detail.name),
      make("table", {}, ...(detail.properties ?? []).map((property) =>
        make("tr", {}, make("th", { scope: "row" }, property.name), make("td", {}, property.value ?? "")))),
      ...(events.length ? [make("h2", {}, "Events, the newest first"), make("table", {}, ...events)] : []));
  }
}

// JSON that loses nothing: numbers keep their digits, and objects the order of their members, of which any name may be one.

// A number, as it is written.
class Digits {
  constructor(text) { this.text = text; }
}

// What is wrong with a text, and the index of the character where it is.
class JSONMistake extends Error {
  constructor(message, at) { super(message); this.at = at; }
}

// Reads a text: objects become maps, numbers `Digits`.
function readJSON(text) {
  let at = 0;
  const deepest = 100;
  const fail = (message) => { throw new JSONMistake(message, at); };
  const blank = () => { while (at < text.length && " \t\n\r".includes(text[at])) at += 1; };
  const take = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };

  function string() {
    const start = at;
    const found = take(/"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y);
    if (found !== undefined) return JSON.parse(found);
    // The place of what is wrong, and not that of the quote.
    take(/"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y);
    if (at >= text.length) { at = start; fail("this string does not end"); }
    return fail(text[at] === "\\" ? "no such escape in a string" : "a string has no line breaks and control characters");
  }

  function value(depth) {
    blank();
    if (depth > deepest) fail("it is nested too deeply");
    if (at >= text.length) fail("a value is missing");
    if (text[at] === "{") return object(depth);
    if (text[at] === "[") return list(depth);
    if (text[at] === '"') return string();
    const start = at;
    const digits = take(/-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y);
    if (digits !== undefined) {
      if (/[\w.+-]/.test(text[at] ?? "")) { at = start; fail("no number has this form"); }
      return new Digits(digits);
    }
    const word = take(/[A-Za-z_]\w*/y);
    if (word === "true" || word === "false") return word === "true";
    if (word === "null") return null;
    at = start;
    return fail(word ? `${word} is no value: texts are in double quotes` : "a value is missing");
  }

  function list(depth) {
    at += 1;
    const items = [];
    blank();
    if (text[at] === "]") { at += 1; return items; }
    for (;;) {
      items.push(value(depth + 1));
      blank();
      if (text[at] === "]") { at += 1; return items; }
      if (text[at] !== ",") fail("a comma or ] is missing");
      at += 1;
    }
  }

  function object(depth) {
    at += 1;
    const members = new Map();
    blank();
    if (text[at] === "}") { at += 1; return members; }
    for (;;) {
      blank();
      if (text[at] !== '"') fail("a name in double quotes is missing");
      const start = at;
      const name = string();
      if (members.has(name)) { at = start; fail("this name is there twice"); }
      blank();
      if (text[at] !== ":") fail("a colon is missing");
      at += 1;
      members.set(name, value(depth + 1));
      blank();
      if (text[at] === "}") { at += 1; return members; }
      if (text[at] !== ",") fail("a comma or } is missing");
      at += 1;
    }
  }

  const found = value(0);
  blank();
  if (at < text.length) fail("nothing may follow the value");
  return found;
}

// A string without characters that control a terminal or reorder what stands beside it, as JSON.
const quoted = (text) => JSON.stringify(text).replace(/[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
  (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`);

// Writes what `readJSON` reads: on one line without `indent`.
function writeJSON(value, indent = "", before = "") {
  if (value instanceof Digits) return value.text;
  if (typeof value === "string") return quoted(value);
  if (!(value instanceof Map) && !Array.isArray(value)) return String(value);
  const [open, close] = value instanceof Map ? "{}" : "[]";
  const inner = before + indent;
  const parts = value instanceof Map
    ? [...value].map(([name, each]) => `${quoted(name)}:${indent ? " " : ""}${writeJSON(each, indent, inner)}`)
    : value.map((each) => writeJSON(each, indent, inner));
  if (!parts.length) return open + close;
  return indent ? `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${before}${close}` : open + parts.join(",") + close;
}

// The same JSON with a member on each line; a text that is none stays.
function prettyJSON(text) {
  try { return writeJSON(readJSON(text), "  "); } catch { return text; }
}

// The line and the column of a character, from 1.
function positionIn(text, at) {
  const lines = text.slice(0, at).split("\n");
  return { line: lines.length, column: [...lines[lines.length - 1]].length + 1 };
}

// The index of the character at a line and a column.
function indexIn(text, line, column) {
  const lines = text.split("\n");
  const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  return Math.min(text.length, before + [...(lines[line - 1] ?? "")].slice(0, column - 1).join("").length);
}

// Fields of forms that have one value. A place is where the value is: `get`, `set` and `clear`.

// Types of protobuf whose JSON is not that of a message with fields, and what is typed for them.
const wellKnown = {
  "google.protobuf.Timestamp": { form: "text", example: "2026-01-31T12:00:00Z" },
  "google.protobuf.Duration": { form: "text", example: "1.5s" },
  "google.protobuf.FieldMask": { form: "text", example: "name,address.city" },
  "google.protobuf.Struct": { form: "json", example: '{"any": "JSON"}' },
  "google.protobuf.Value": { form: "json", example: "any JSON" },
  "google.protobuf.ListValue": { form: "json", example: '["any", "JSON"]' },
  "google.protobuf.Any": { form: "json", example: '{"@type": "type.googleapis.com/package.Message"}' },
  "google.protobuf.DoubleValue": { form: "FRACTION" }, "google.protobuf.FloatValue": { form: "FRACTION" },
  "google.protobuf.Int64Value": { form: "LONG" }, "google.protobuf.UInt64Value": { form: "LONG" },
  "google.protobuf.Int32Value": { form: "INTEGER" }, "google.protobuf.UInt32Value": { form: "INTEGER" },
  "google.protobuf.BoolValue": { form: "BOOL" }, "google.protobuf.StringValue": { form: "STRING" },
  "google.protobuf.BytesValue": { form: "BYTES" },
};

// Whether a field holds a message that has a form of its own.
const isNested = (field) => field.kind === "MESSAGE" && !wellKnown[field.type];

// What a field is, in words.
function typeOf(field) {
  const type = field.type.startsWith("google.protobuf.") ? field.type.slice(16) : field.type;
  return field.mapKey ? `map of ${field.mapKey} to ${type}` : field.isRepeated ? `list of ${type}` : type;
}

// The editor of a value that has no parts. Returns an element with one control, to which a label leads.
function valueEditor(field, place, name) {
  const special = field.kind === "MESSAGE" ? wellKnown[field.type] : null;
  switch (special?.form ?? field.kind) {
    case "BOOL": return choiceEditor([["true", "true"], ["false", "false"]], place, name,
      (value) => (typeof value === "boolean" ? String(value) : undefined), (text) => text === "true");
    case "ENUM": return choiceEditor((field.choices ?? []).map((each) => [each.name, `${each.name} = ${each.number ?? 0}`]), place, name,
      (value) => (value instanceof Digits
        ? (field.choices ?? []).find((each) => String(each.number ?? 0) === value.text)?.name ?? value.text : value),
      (text) => text);
    case "BYTES": return bytesEditor(place, name);
    case "json": return jsonEditor(special.example, place, name);
    case "text": return textEditor({ place, name, example: special.example, read: (text) => text, lines: false });
    case "INTEGER": return textEditor({ place, name, mode: "numeric", lines: false, isEmptyNothing: true,
      read: (text) => (/^-?(0|[1-9][0-9]*)$/.test(text) ? new Digits(text) : text), wrong: (text) => !/^-?[0-9]+$/.test(text), needs: "a whole number" });
    case "LONG": return textEditor({ place, name, mode: "numeric", lines: false, isEmptyNothing: true,
      read: (text) => text, wrong: (text) => !/^-?[0-9]+$/.test(text), needs: "a whole number" });
    case "FRACTION": return textEditor({ place, name, mode: "decimal", lines: false, isEmptyNothing: true,
      read: (text) => (isDigits(text) ? new Digits(text) : text),
      wrong: (text) => !isDigits(text) && !["NaN", "Infinity", "-Infinity"].includes(text), needs: "a number, NaN, Infinity or -Infinity" });
    default: return textEditor({ place, name, read: (text) => text, lines: true, example: field.defaultValue });
  }
}

const isDigits = (text) => /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$/.test(text);

// What a value is as the text of a field; nothing if it is no text.
const plain = (value) => (value === undefined || value === null ? "" : value instanceof Digits ? value.text
  : typeof value === "string" ? value : undefined);

// For a value that is of another kind than the field: only its JSON can say what is meant.
const foreign = (name) => make("input", { "aria-label": name, disabled: true, value: "of another kind: see its JSON" });

function textEditor({ place, name, read, example, mode, wrong, needs, lines, isEmptyNothing }) {
  const text = plain(place.get());
  if (text === undefined) return foreign(name);
  const field = make(lines ? "textarea" : "input", { "aria-label": name, placeholder: example || null, spellcheck: "false",
    autocomplete: "off", ...(lines ? { rows: Math.min(8, text.split("\n").length) } : { inputmode: mode }) });
  field.value = text;
  const check = () => {
    const isWrong = Boolean(wrong && field.value !== "" && wrong(field.value));
    field.setAttribute("aria-invalid", String(isWrong));
    field.title = isWrong ? `It needs ${needs}` : "";
  };
  field.addEventListener("input", () => {
    check();
    if (field.value === "" && (isEmptyNothing || example !== undefined && !lines)) place.clear(); else place.set(read(field.value));
  });
  check();
  return field;
}

function choiceEditor(options, place, name, shown, read) {
  const value = place.get();
  const text = value === undefined || value === null ? "" : shown(value);
  if (typeof text !== "string") return foreign(name);
  const isKnown = text === "" || options.some(([each]) => each === text);
  const field = make("select", { "aria-label": name, onchange: () => {
    if (field.value === "") place.clear(); else place.set(read(field.value));
  } }, make("option", { value: "" }, "–"), ...options.map(([each, title]) => make("option", { value: each }, title)),
  isKnown ? null : make("option", { value: text }, text));
  field.value = text;
  return field;
}

// Bytes are base64 in JSON. They can be typed as text, too.
function bytesEditor(place, name) {
  const value = place.get();
  if (plain(value) === undefined) return foreign(name);
  const field = make("input", { "aria-label": name, autocomplete: "off", spellcheck: "false", placeholder: "base64" });
  field.value = plain(value);
  const way = make("select", { "aria-label": `how ${name} is typed` }, make("option", { value: "base64" }, "base64"),
    make("option", { value: "text" }, "text"));
  const change = () => {
    const isText = way.value === "text";
    const isWrong = !isText && !/^[A-Za-z0-9+/_-]*={0,2}$/.test(field.value);
    field.setAttribute("aria-invalid", String(isWrong));
    place.set(isText ? base64(new TextEncoder().encode(field.value)) : field.value);
  };
  way.addEventListener("change", () => {
    const bytes = way.value === "text" ? bytesOf(plain(place.get())) : null;
    const text = bytes && textOf(bytes);
    // What is no text stays base64.
    if (way.value === "text" && text === null) way.value = "base64";
    field.value = way.value === "text" ? text : plain(place.get());
    field.placeholder = way.value;
  });
  field.addEventListener("input", change);
  return make("span", { class: "pair" }, field, way);
}

const base64 = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
function bytesOf(text) {
  try { return Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0)); } catch { return null; }
}
function textOf(bytes) {
  try { return new TextDecoder("utf-8", { fatal: true }).decode(bytes); } catch { return null; }
}

function jsonEditor(example, place, name) {
  const value = place.get();
  const field = make("textarea", { "aria-label": `${name}, in JSON`, class: "code", placeholder: example, spellcheck: "false" });
  field.value = value === undefined ? "" : writeJSON(value, "  ");
  field.rows = Math.min(12, Math.max(2, field.value.split("\n").length));
  field.addEventListener("input", () => {
    if (field.value.trim() === "") { field.setAttribute("aria-invalid", "false"); place.clear(); return; }
    try {
      place.set(readJSON(field.value));
      field.setAttribute("aria-invalid", "false");
      field.title = "";
    } catch (mistake) {
      field.setAttribute("aria-invalid", "true");
      field.title = mistake.message;
    }
  });
  return field;
}

// A form of a message, which edits a map of its JSON. Forms of messages inside are made when they are opened, so that types may
// refer to themselves.

// Longer lists, and what is nested more deeply, are edited as JSON.
const mostItems = 100;
const mostLevels = 20;

// The first field of each enum has its names.
function shareChoices(fields) {
  const known = new Map();
  for (const field of fields) {
    if (field.choices) known.set(field.type, field.choices);
    else field.choices = known.get(field.type);
  }
}

class MessageForm {
  // `types` finds forms by the names of types; `changed` is called after each change.
  constructor(types, changed) {
    this.types = types;
    this.changed = changed;
    this.element = make("div", { class: "form" });
  }

  // Shows a value of this type.
  async show(type, members, level = 0) {
    this.level = level;
    let form;
    try { form = await this.types(type); } catch (error) {
      this.element.replaceChildren(make("p", { class: "bad-text" }, `There is no form: ${error.message}`),
        make("button", { type: "button", class: "small", onclick: () => this.show(type, members, level) }, "Try again"));
      return;
    }
    shareChoices(form.fields ?? []);
    this.element.replaceChildren(...(form.comment && level === 0 ? [make("p", { class: "hint" }, form.comment.trim())] : []),
      ...this.rows(form.fields ?? [], members));
    if (form.remark) this.element.append(make("p", { class: "hint" }, form.remark));
    else if (!form.fields?.length) this.element.append(make("p", { class: "hint" }, "It has no fields."));
  }

  // A row for each field, and one for each oneof.
  rows(fields, members) {
    const rows = [], oneofs = new Map();
    for (const field of fields) {
      if (!field.oneof) { rows.push(this.row(field, members)); continue; }
      if (!oneofs.has(field.oneof)) {
        oneofs.set(field.oneof, []);
        rows.push(() => this.oneof(field.oneof, oneofs.get(field.oneof), members));
      }
      oneofs.get(field.oneof).push(field);
    }
    return rows.map((row) => (typeof row === "function" ? row() : row));
  }

  // The place of a field's value: JSON may have it under either name.
  place(field, members) {
    const key = () => (members.has(field.name) && !members.has(field.jsonName) ? field.name : field.jsonName);
    return {
      get: () => members.get(key()),
      set: (value) => { members.set(key(), value); this.changed(); },
      clear: () => { members.delete(key()); this.changed(); },
    };
  }

  // Replaces an element by a new one of `build`, which gets a function that does it again.
  dynamic(build) {
    let element;
    const redraw = (focus) => {
      const next = build(redraw);
      element?.replaceWith(next);
      element = next;
      if (focus) (element.querySelector(focus) ?? element.querySelector("input, select, textarea, button"))?.focus();
    };
    redraw();
    return element;
  }

  row(field, members) {
    const place = this.place(field, members);
    if (field.mapKey) return this.dynamic((redraw) => this.map(field, place, redraw));
    if (field.isRepeated) return this.dynamic((redraw) => this.list(field, place, redraw));
    if (isNested(field)) return this.dynamic((redraw) => this.nested(field, place, redraw));
    return this.dynamic((redraw) => make("div", { class: "field" }, this.title(field), valueEditor(field, place, field.jsonName),
      make("button", { type: "button", class: "small", "aria-label": `clear ${field.jsonName}`, title: "Clear",
        onclick: () => { place.clear(); redraw("input, select, textarea"); } }, "×"), ...this.hints(field)));
  }

  title(field) {
    const isRequired = field.isRequired || (field.rules ?? []).some((rule) => /field_behavior.*REQUIRED/.test(rule));
    return make("span", { class: "title" }, make("b", { class: field.isDeprecated ? "gone" : null }, field.jsonName),
      " ", make("span", { class: "type" }, typeOf(field)), isRequired ? make("em", {}, " required") : null,
      field.isDeprecated ? make("em", {}, " deprecated") : null);
  }

  hints(field) {
    const texts = [field.comment?.trim(), field.defaultValue !== undefined ? `default: ${field.defaultValue}` : null, ...(field.rules ?? [])];
    return texts.filter(Boolean).map((text) => make("p", { class: "hint" }, text));
  }

  // A message inside another.
  nested(field, place, redraw, name = field.jsonName) {
    const value = place.get();
    const isThere = value instanceof Map;
    const button = make("button", { type: "button", class: "small", "aria-label": `${isThere ? "remove" : "add"} ${name}`, onclick: () => {
      if (isThere) place.clear(); else place.set(new Map());
      redraw();
    } }, isThere ? "Remove" : "Add");
    const body = make("div", {});
    if (isThere) this.open(field.type, value, body);
    else if (value !== undefined && value !== null) body.append(foreign(name));
    return make("fieldset", {}, make("legend", {}, this.title(field), " ", button), ...this.hints(field), body);
  }

  open(type, value, body) {
    if (this.level >= mostLevels) { body.append(make("p", { class: "hint" }, "What is nested more deeply is edited as JSON.")); return; }
    const inner = new MessageForm(this.types, this.changed);
    body.append(inner.element);
    inner.show(type, value, this.level + 1);
  }

  // One item of a list, or one value of a map.
  item(field, place, name) {
    const single = { ...field, isRepeated: false, mapKey: "" };
    if (!isNested(single)) return valueEditor(single, place, name);
    const body = make("div", { class: "inner" });
    if (place.get() instanceof Map) this.open(field.type, place.get(), body); else body.append(foreign(name));
    return body;
  }

  // What a new item is.
  fresh(field) {
    if (isNested(field)) return new Map();
    switch (field.kind === "MESSAGE" ? wellKnown[field.type].form : field.kind) {
      case "INTEGER": case "FRACTION": return new Digits("0");
      case "LONG": return "0";
      case "BOOL": return false;
      case "ENUM": return field.choices?.[0]?.name ?? new Digits("0");
      case "json": return field.type === "google.protobuf.ListValue" ? [] : field.type === "google.protobuf.Value" ? null : new Map();
      default: return "";
    }
  }

  list(field, place, redraw) {
    const items = place.get();
    const isThere = Array.isArray(items);
    const lines = !isThere ? [] : items.slice(0, mostItems).map((_, index) => make("div", { class: "item" },
      this.item(field, { get: () => items[index], set: (value) => { items[index] = value; this.changed(); },
        clear: () => { items[index] = this.fresh(field); this.changed(); } }, `${field.jsonName} ${index + 1}`),
      make("button", { type: "button", class: "small", "aria-label": `remove ${field.jsonName} ${index + 1}`, onclick: () => {
        items.splice(index, 1);
        if (items.length) this.changed(); else place.clear();
        redraw(".add");
      } }, "×")));
    if (isThere && items.length > mostItems) lines.push(make("p", { class: "hint" }, `${items.length - mostItems} more are in its JSON.`));
    const add = make("button", { type: "button", class: "small add", "aria-label": `add to ${field.jsonName}`, onclick: () => {
      place.set([...(isThere ? items : []), this.fresh(field)]);
      redraw(".item:last-of-type :is(input, select, textarea, button)");
    } }, "Add");
    const isForeign = !isThere && items !== undefined && items !== null;
    return make("fieldset", {}, make("legend", {}, this.title(field), " ", add), ...this.hints(field),
      ...(isForeign ? [foreign(field.jsonName)] : lines));
  }

  map(field, place, redraw) {
    const members = place.get();
    const isThere = members instanceof Map;
    const lines = !isThere ? [] : [...members.keys()].slice(0, mostItems).map((key) => {
      let current = key;
      const name = make("input", { "aria-label": `key of ${field.jsonName}`, autocomplete: "off", value: key, oninput: () => {
        const isTaken = name.value !== current && members.has(name.value);
        name.setAttribute("aria-invalid", String(isTaken));
        name.title = isTaken ? "This key is there already" : "";
        if (isTaken) return;
        // The order of the others stays.
        const entries = [...members].map(([each, value]) => [each === current ? name.value : each, value]);
        members.clear();
        for (const [each, value] of entries) members.set(each, value);
        current = name.value;
        this.changed();
      } });
      return make("div", { class: "item" }, name, this.item(field, { get: () => members.get(current),
        set: (value) => { members.set(current, value); this.changed(); },
        clear: () => { members.set(current, this.fresh(field)); this.changed(); } }, `value of ${key || field.jsonName}`),
      make("button", { type: "button", class: "small", "aria-label": `remove ${key} of ${field.jsonName}`, onclick: () => {
        members.delete(current);
        if (members.size) this.changed(); else place.clear();
        redraw(".add");
      } }, "×"));
    });
    const add = make("button", { type: "button", class: "small add", "aria-label": `add to ${field.jsonName}`, onclick: () => {
      const all = isThere ? members : new Map();
      all.set(this.freshKey(field, all), this.fresh(field));
      place.set(all);
      redraw(".item:last-of-type input");
    } }, "Add");
    return make("fieldset", {}, make("legend", {}, this.title(field), " ", add), ...this.hints(field), ...lines);
  }

  freshKey(field, members) {
    const candidates = field.mapKey === "bool" ? ["false", "true"] : null;
    if (candidates) return candidates.find((key) => !members.has(key)) ?? "false";
    let number = members.size;
    const name = () => (field.mapKey === "string" ? (number ? `key${number}` : "") : String(number));
    while (members.has(name())) number += 1;
    return name();
  }

  // At most one of some fields.
  oneof(name, fields, members) {
    return this.dynamic((redraw) => {
      const places = fields.map((field) => this.place(field, members));
      const set = fields.findIndex((_, index) => places[index].get() !== undefined);
      const which = make("select", { "aria-label": `which of ${name}`, onchange: () => {
        const next = which.value === "" ? -1 : Number(which.value);
        places.forEach((place, index) => { if (index !== next && place.get() !== undefined) place.clear(); });
        if (next >= 0) places[next].set(fields[next].type === "google.protobuf.NullValue" ? null : this.fresh(fields[next]));
        redraw("select");
      } }, make("option", { value: "" }, "none"), ...fields.map((field, index) => make("option", { value: index }, field.jsonName)));
      which.value = set < 0 ? "" : String(set);
      const chosen = fields[set];
      return make("fieldset", {}, make("legend", {}, make("span", { class: "title" }, make("b", {}, name), " ", make("span", { class: "type" }, "one of")), " ", which),
        ...(chosen ? [this.row(chosen, members)] : []));
    });
  }
}

// A call as a line for a shell, or as Swift.

// A word that a shell passes on as it is.
const word = (text) => (/^[A-Za-z0-9_./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

// Requests without blanks, in JSON that has no characters that control a terminal. What is no JSON stays.
function compactJSON(text) {
  try { return writeJSON(readJSON(text)); } catch { return text; }
}

// The way of `request`: { target, method, headers, timeout, requests }.
const copies = {
  command: {
    title: "switchboard call",
    text(request) {
      if (!request.target.address) return { problem: "the console does not know where other programs can call it" };
      const words = ["switchboard", "call", request.target.address, request.method.name];
      if (request.target.usesTls) words.push("--tls");
      if (request.timeout) words.push("-t", `${request.timeout}s`);
      for (const { name, value } of request.headers) words.push("-H", `${name}: ${value}`);
      const data = request.requests.map(compactJSON);
      if (data.length) words.push("-d", data.join("\n"));
      return { text: words.map(word).join(" ") };
    },
  },
  curl: {
    title: "curl",
    text(request) {
      if (request.method.noCurl) return { problem: request.method.noCurl };
      const { address, usesTls } = request.target;
      if (!address || /^unix/.test(address)) return { problem: "the console does not know an address that curl can call" };
      const words = ["curl", `${usesTls ? "https" : "http"}://${address}/${request.method.name}`, "-H", "content-type: application/json"];
      if (request.timeout) words.push("-H", `connect-timeout-ms: ${Math.ceil(request.timeout * 1000)}`);
      // To curl, a header without a value is one that it should not send, unless a semicolon ends it.
      for (const { name, value } of request.headers) words.push("-H", value === "" ? `${name};` : `${name}: ${value}`);
      words.push("--data-raw", compactJSON(request.requests[0] ?? "{}"));
      return { text: words.map(word).join(" ") };
    },
  },
  swift: {
    title: "Swift",
    text(request) {
      if (!request.method.swiftCall) return { problem: "its messages are not of a generated type" };
      const lines = request.requests.map((text) => `try ${request.method.swiftRequest}(jsonString: ${swiftText(compactJSON(text))})`);
      const options = [];
      for (const { name, value } of request.headers) options.push(`options.initialMetadata.add(name: ${swiftText(name)}, value: ${swiftText(value)})`);
      if (request.timeout) options.push(`options.timeout = .seconds(${request.timeout})`);
      const before = options.length ? `var options = CallOptions()\n${options.join("\n")}\n` : "";
      const given = options.length ? ", callOptions: options" : "";
      const { streamsRequests, streamsResponses, swiftCall } = request.method;
      const requests = streamsRequests ? `[\n${lines.map((line) => `  ${line},\n`).join("")}]` : lines[0] ?? `${request.method.swiftRequest}()`;
      const text = streamsResponses
        ? `for try await response in ${swiftCall}(${requests}${given}) { print(response) }`
        : `let response = try await ${swiftCall}(${requests}${given})`;
      return { text: `${before}${text}` };
    },
  },
};

// A literal of Swift.
function swiftText(text) {
  let marks = text.includes("\\") || text.includes('"') ? "#" : "";
  while (marks && (text.includes(`"${marks}`) || text.includes(`\\${marks}`))) marks += "#";
  return `${marks}"${text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (found) => `\\${marks}u{${found.codePointAt(0).toString(16)}}`)}"${marks}`;
}

// Requests that were made before. They are kept by the tab, so that they are gone when it is closed.
const past = {
  most: 30,
  longest: 64 * 1024,
  key: `switchboard-past ${prefix}`,
  // Names of metadata whose values say who somebody is: these are never kept.
  secrets: /authorization|cookie|token|secret|password|credential|api-?key/i,

  get entries() {
    try { return JSON.parse(sessionStorage.getItem(this.key)) ?? []; } catch { return []; }
  },

  add(entry) {
    const kept = { ...entry, headers: entry.headers.map(({ name, value }) => ({ name, value: this.secrets.test(name) ? "" : value })) };
    const text = JSON.stringify(kept);
    if (text.length > this.longest) return;
    const others = this.entries.filter((each) => JSON.stringify({ ...each, time: 0 }) !== JSON.stringify({ ...kept, time: 0 }));
    this.store([kept, ...others].slice(0, this.most));
  },

  store(entries) {
    try { sessionStorage.setItem(this.key, JSON.stringify(entries)); } catch { sessionStorage.removeItem(this.key); }
  },

  clear() { sessionStorage.removeItem(this.key); },
};

// A call under way, and what has come of it.

// The latest responses that are shown.
const mostShown = 200;

class Answer {
  // `changed` is called when the call begins, ends, or cannot go on.
  constructor(changed) {
    this.changed = changed;
    this.id = null;
    this.run = 0;
    this.line = make("p", { role: "status", class: "outcome" });
    this.list = make("ol", { class: "events" });
    this.element = make("section", { class: "answer", "aria-label": "Answer" }, make("h2", {}, "Answer"), this.line, this.list);
    this.clear();
  }

  get isUnderWay() { return this.id !== null; }

  clear() {
    this.list.replaceChildren();
    this.count = 0;
    this.line.className = "outcome";
    this.line.textContent = "Nothing was sent yet.";
  }

  // Begins a call. Returns a mistake of the request, if there is one.
  async start(wanted) {
    const run = ++this.run;
    const view = await act("try", wanted);
    if (view.mistake) return view.mistake;
    this.clear();
    this.id = view.id;
    this.next = 0;
    this.line.textContent = "The call is under way.";
    this.changed();
    this.take(view);
    this.poll(run);
    return null;
  }

  // Further requests, or the end of them, or of the call.
  async go(on) {
    const view = await act("call", { id: this.id, from: this.next, ...on });
    if (view.mistake) return view.mistake;
    if (!view.id) this.lose("the console does not know the call any more");
    return null;
  }

  async poll(run) {
    let wait = 50, failures = 0;
    while (run === this.run && this.isUnderWay) {
      await new Promise((done) => setTimeout(done, wait));
      if (run !== this.run || !this.isUnderWay) return;
      try {
        const view = await act("call", { id: this.id, from: this.next });
        if (run !== this.run) return;
        failures = 0;
        if (!view.id) { this.lose("the console does not know the call any more"); return; }
        // What is new comes soon; a call that waits is asked for less often.
        wait = view.events?.length ? 50 : Math.min(1000, wait * 1.5);
        this.take(view);
      } catch (error) {
        failures += 1;
        if (failures > 5) { this.lose(error.message); return; }
        wait = 1000;
      }
    }
  }

  lose(reason) {
    this.id = null;
    this.line.className = "outcome bad-text";
    this.line.textContent = `Lost: ${reason}.`;
    this.changed();
  }

  take(view) {
    // Answers may overlap.
    const events = view.events ?? [], end = view.next ?? 0;
    const fresh = events.slice(Math.max(0, this.next - (end - events.length)));
    this.next = Math.max(this.next, end);
    for (const event of fresh) {
      const time = shortTime(number(event.seconds));
      if (event.headers) this.add("Metadata", time, headerTable(event.headers.headers ?? []));
      if (event.message) this.message(event.message, time);
      if (event.end) this.end(event.end, time);
    }
    if (!view.isOver) {
      this.line.textContent = `The call is under way: ${this.count} ${this.count === 1 ? "response" : "responses"} in ${shortTime(number(view.seconds))}.`;
      return;
    }
    this.id = null;
    this.changed();
  }

  message(message, time) {
    this.count += 1;
    const whole = number(message.wholeLength);
    this.add(`Response ${this.count}`, time, make("pre", { tabindex: 0 }, whole ? message.json : prettyJSON(message.json ?? "")),
      whole ? make("p", { class: "hint" }, `This is the beginning of ${message.isLonger ? "more than " : ""}${whole} bytes.`) : null);
    const shown = this.list.querySelectorAll(".response");
    if (shown.length > mostShown) shown[0].remove();
  }

  add(title, time, ...content) {
    const kind = title.startsWith("Response") ? "response" : "other";
    this.list.append(make("li", { class: kind }, make("p", {}, make("b", {}, title), " ", make("span", { class: "type" }, `after ${time}`)), ...content));
  }

  end(end, time) {
    const isGood = end.code === "OK";
    this.line.className = `outcome ${isGood ? "good-text" : "bad-text"}`;
    const responses = this.count === 1 ? "1 response" : `${this.count} responses`;
    this.line.textContent = `${end.code}${end.message && end.message !== end.code ? `: ${end.message}` : ""} – ${responses}, ${time}`;
    if (end.details?.length) this.add("Details", time, ...end.details.map((detail) => make("pre", { tabindex: 0 }, prettyJSON(detail))));
    if (end.trailers?.length) this.add("Trailers", time, headerTable(end.trailers));
  }
}

const headerTable = (headers) => make("table", {}, ...headers.map(({ name, value }) =>
  make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, value ?? ""))));

// A request that is put together: its message as a form and as JSON, its metadata and its deadline; and the call of it.

class CallEditor {
  constructor(target, method, types) {
    Object.assign(this, { target, method });
    this.members = new Map();
    this.answer = new Answer(() => this.drawButtons());
    this.form = new MessageForm(types, () => this.formChanged());
    this.json = make("textarea", { class: "code", rows: 12, spellcheck: "false", "aria-label": "Request in JSON", "aria-describedby": "json-mistake" });
    this.json.addEventListener("input", () => this.jsonChanged());
    this.mistake = make("p", { class: "bad-text", role: "alert", id: "json-mistake" });
    this.timeout = make("input", { inputmode: "decimal", size: 6, placeholder: "none" });
    this.headers = make("div", { class: "headers" });
    this.copied = make("div", { class: "copied", "aria-live": "polite" });
    this.past = make("div", {});
    this.send = make("button", { type: "button", class: "main", "aria-keyshortcuts": "Control+Enter", onclick: () => this.sendNow() });
    this.end = make("button", { type: "button", onclick: () => this.endNow() }, "End the requests");
    this.cancel = make("button", { type: "button", onclick: () => this.go({ cancels: true }) }, "Cancel");
    this.element = this.build();
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); this.sendNow(); }
    });
    this.show("{}");
    this.drawButtons();
    this.drawPast();
  }

  get isProtobuf() { return !this.method.requestFormat; }

  build() {
    const { method } = this;
    const kinds = `${method.streamsRequests ? "stream of " : ""}${method.requestFormat || method.requestType} → ${method.streamsResponses ? "stream of " : ""}${method.responseFormat || method.responseType}`;
    const notes = [method.comment?.trim(), method.isDeprecated ? "It is deprecated." : null,
      this.isProtobuf ? null : method.requestFormat === "json" ? "Its requests are JSON of a type that only the server knows."
        : `Its requests are ${method.requestFormat}: write them as a string in base64.`];
    const message = make("div", { class: "columns" },
      this.isProtobuf ? make("section", { "aria-label": "Form" }, this.form.element) : null,
      make("section", { "aria-label": "JSON" }, this.json, this.mistake));
    const settings = make("div", { class: "tools" }, make("label", {}, "Deadline in seconds", this.timeout),
      make("div", {}, make("span", { class: "type" }, "Metadata"), this.headers,
        make("button", { type: "button", class: "small", onclick: () => this.addHeader("", "", true) }, "Add metadata")));
    const copying = make("div", { class: "tools", role: "group", "aria-label": "Copy the call" }, "Copy as",
      ...Object.entries(copies).map(([name, way]) => make("button", { type: "button", class: "small", "data-copy": name, onclick: () => this.copy(way) }, way.title)));
    return make("div", { class: "request" }, make("p", { class: "type" }, kinds),
      ...notes.filter(Boolean).map((note) => make("p", { class: "hint" }, note)), message, settings,
      make("div", { class: "tools" }, this.send, this.end, this.cancel, make("span", { class: "type wide" }, "Ctrl+Enter sends")),
      this.answer.element, copying, this.copied, this.past);
  }

  // MARK: The message

  // Shows a message, as a form too if it is one.
  show(text) {
    this.json.value = text;
    this.jsonChanged(true);
  }

  formChanged() {
    this.json.value = writeJSON(this.members, "  ");
    this.say(null);
  }

  jsonChanged(isAtOnce = false) {
    try {
      const value = readJSON(this.json.value);
      if (this.isProtobuf && !(value instanceof Map)) throw new JSONMistake("a message is an object: { }", 0);
      this.say(null);
      if (!this.isProtobuf) return;
      this.members = value;
      clearTimeout(this.drawing);
      this.drawing = setTimeout(() => this.form.show(this.method.requestType, value), isAtOnce ? 0 : 250);
    } catch (mistake) {
      this.say(mistake.message, positionIn(this.json.value, mistake.at ?? 0));
    }
  }

  // What is wrong with the JSON, and where.
  say(text, at) {
    this.json.setAttribute("aria-invalid", String(text !== null));
    this.mistake.textContent = text === null ? "" : `${text}${at ? ` (line ${at.line}, column ${at.column})` : ""}`;
  }

  // MARK: The call

  get headerList() {
    return [...this.headers.children].map((line) => {
      const [name, value] = line.querySelectorAll("input");
      return { name: name.value.trim().toLowerCase(), value: value.value };
    }).filter(({ name }) => name !== "");
  }

  get seconds() { return this.timeout.value.trim() === "" ? 0 : Number(this.timeout.value); }

  addHeader(name, value, focuses = false) {
    const line = make("div", { class: "item" },
      make("input", { "aria-label": "name of metadata", placeholder: "name", value: name, autocomplete: "off" }),
      make("input", { "aria-label": "value of metadata", placeholder: "value; in base64 if the name ends in -bin", value, autocomplete: "off" }),
      make("button", { type: "button", class: "small", "aria-label": "remove metadata", onclick: () => line.remove() }, "×"));
    this.headers.append(line);
    if (focuses) line.querySelector("input").focus();
  }

  drawButtons() {
    const isUnderWay = this.answer.isUnderWay;
    const streams = Boolean(this.method.streamsRequests);
    this.send.textContent = streams ? (isUnderWay ? "Send another request" : "Send the first request") : "Call";
    this.send.disabled = isUnderWay && (!streams || this.hasEnded);
    this.end.hidden = !streams;
    this.end.disabled = isUnderWay && this.hasEnded;
    this.cancel.disabled = !isUnderWay;
  }

  async sendNow() {
    if (this.send.disabled) return;
    const requests = [this.json.value];
    const mistake = this.answer.isUnderWay ? await this.go({ requests }) : await this.start(requests, !this.method.streamsRequests);
    if (!mistake) this.keep();
  }

  async endNow() {
    const mistake = this.answer.isUnderWay ? await this.go({ endsRequests: true }) : await this.start([], true);
    if (!mistake) { this.hasEnded = true; this.drawButtons(); }
  }

  async start(requests, endsRequests) {
    if (!(this.seconds >= 0)) { this.refuse({ text: "the deadline is no number of seconds" }); return true; }
    this.hasEnded = endsRequests;
    return this.attempt(() => this.answer.start({ target: this.target.id, method: this.method.name, headers: this.headerList,
      timeoutSeconds: this.seconds, requests, endsRequests }));
  }

  go(on) { return this.attempt(() => this.answer.go(on)); }

  // Returns whether something is wrong.
  async attempt(doing) {
    try {
      const mistake = await doing();
      if (mistake) this.refuse(mistake); else this.say(null);
      return Boolean(mistake);
    } catch (error) {
      this.refuse({ text: error.message });
      return true;
    }
  }

  refuse(mistake) {
    this.say(mistake.text);
    const place = mistake.request ? /\(line (\d+), column (\d+)\)/.exec(mistake.text) : null;
    if (!place) return;
    const at = indexIn(this.json.value, Number(place[1]), Number(place[2]));
    this.json.focus();
    this.json.setSelectionRange(at, Math.min(at + 1, this.json.value.length));
  }

  leave() { if (this.answer.isUnderWay) this.go({ cancels: true }); }

  // MARK: Copies and the past

  async copy(way) {
    const { text, problem } = way.text({ target: this.target, method: this.method, headers: this.headerList, timeout: this.seconds || 0, requests: [this.json.value] });
    if (problem) { this.copied.replaceChildren(make("p", { class: "hint" }, `Not as ${way.title}: ${problem}.`)); return; }
    const field = make("textarea", { class: "code", readonly: true, rows: Math.min(8, text.split("\n").length + 1), "aria-label": `the call as ${way.title}` });
    field.value = text;
    const note = make("p", { class: "hint" }, "Select it, and copy it.");
    this.copied.replaceChildren(field, note);
    try { await navigator.clipboard.writeText(text); note.textContent = "Copied."; } catch { field.focus(); field.select(); }
  }

  keep() {
    past.add({ target: this.target.name, method: this.method.name, json: this.json.value, headers: this.headerList, timeout: this.timeout.value, time: Date.now() });
    this.drawPast();
  }

  drawPast() {
    const entries = past.entries.filter((entry) => entry.method === this.method.name);
    if (!entries.length) { this.past.replaceChildren(); return; }
    this.past.replaceChildren(make("h2", {}, "Earlier requests"), make("ul", { class: "past" }, ...entries.map((entry) => make("li", {},
      make("button", { type: "button", class: "small", onclick: () => this.restore(entry) }, new Date(entry.time).toLocaleTimeString()),
      make("code", {}, compactJSON(entry.json).slice(0, 200))))),
    make("button", { type: "button", class: "small", onclick: () => { past.clear(); this.drawPast(); } }, "Forget all earlier requests"));
  }

  restore(entry) {
    this.headers.replaceChildren();
    for (const { name, value } of entry.headers) this.addHeader(name, value);
    this.timeout.value = entry.timeout;
    this.show(entry.json);
    this.json.focus();
  }
}

// The view that calls methods.

class TryView {
  name = "try";
  title = "Try";
  key = "t";
  permission = "call";
  // Where the lines begin that the server was asked for.
  asked = 0;
  filter = ""; target = ""; chosen = "";
  // The forms of types that were asked for, by target and name.
  forms = new Map();

  constructor() {
    this.targets = make("select", { onchange: () => { this.target = this.targets.value; this.chosen = ""; refresher.now(); } });
    this.note = make("p", { class: "hint", role: "note" });
    this.heading = make("h2", {});
    this.panel = make("section", { class: "panel", hidden: true, "aria-label": "Request" });
    this.grid = new Grid("Methods", [
      { name: "Method", cell: (line) => line.name },
      { name: "Kind", wide: true, cell: (line) => kindOf(line) },
    ], ["minmax(9rem, 1fr)", "10rem"], {
      key: (line) => line.name,
      choose: (line) => { this.chosen = line.name; this.grid.selected = line.name; this.wantsFocus = true; refresher.now(); },
      changed: () => refresher.now(),
    });
    this.element = [
      make("section", {},
        make("div", { class: "tools" }, make("label", {}, "Through", this.targets),
          filterField("Find methods", (text) => { this.filter = text; this.grid.toTop(); refresher.now(); })),
        this.note, this.grid.element),
      this.panel,
    ];
  }

  parameters() {
    const { from, count } = this.grid.window;
    this.asked = from;
    return [["target", this.target], ["filter", this.filter], ["from", from], ["count", count], ["selected", this.chosen]];
  }

  draw(data) {
    const targets = data.targets ?? [];
    this.target = data.target ?? "";
    const titles = targets.map((target) => `${target.name}${target.isInProcess ? " (within the process)" : ""}`);
    if (titles.join() !== this.titles) {
      this.titles = titles.join();
      this.targets.replaceChildren(...targets.map((target, index) => make("option", { value: target.id }, titles[index])));
    }
    this.targets.value = this.target;
    this.note.textContent = data.missing ?? "";
    this.note.hidden = !data.missing;
    this.grid.draw(data.methods ?? [], this.asked, number(data.methodCount));
    const target = targets.find((each) => each.id === this.target);
    if (data.selected && target) this.open(target, data.selected);
    else if (!this.chosen) this.close();
  }

  // Shows a method, unless it is shown already: what was typed stays.
  open(target, method) {
    const key = `${target.id} ${method.name}`;
    if (this.editor && this.openKey === key) {
      Object.assign(this.editor.target, target);
      return;
    }
    this.editor?.leave();
    this.openKey = key;
    this.editor = new CallEditor({ ...target }, method, (type) => this.form(target.id, type));
    this.heading.textContent = method.name;
    this.panel.replaceChildren(make("header", {}, this.heading, make("button", { type: "button", onclick: () => {
      this.chosen = ""; this.grid.selected = null; this.close(); this.grid.element.focus();
    } }, "Close")), this.editor.element);
    this.panel.hidden = false;
    if (this.wantsFocus) this.panel.querySelector(".request button.main").scrollIntoView({ block: "nearest" });
    this.wantsFocus = false;
  }

  close() {
    this.editor?.leave();
    this.editor = null;
    this.openKey = null;
    this.panel.replaceChildren();
    this.panel.hidden = true;
  }

  async form(target, type) {
    const key = `${target} ${type}`;
    if (!this.forms.has(key)) {
      const form = await request(`form?${new URLSearchParams({ target, selected: type })}`);
      if (!form.name) return form;
      if (this.forms.size > 200) this.forms.clear();
      this.forms.set(key, form);
    }
    return this.forms.get(key);
  }
}

const kindOf = (method) => [method.streamsRequests ? "stream of requests" : null, method.streamsResponses ? "stream of responses" : null]
  .filter(Boolean).join(", ").replace("stream of requests, stream of responses", "streams both ways") || "one request";

// The view of options, service configs and certificates.

// A certificate that is valid for less than this is shown as a problem.
const fewDays = 14;

function daysLeft(validity) {
  const days = number(validity?.daysLeft);
  const text = days < 0 ? `expired ${-days} ${-days === 1 ? "day" : "days"} ago` : `${days} ${days === 1 ? "day" : "days"} left`;
  return make("span", { class: days < fewDays ? "bad-text" : null }, text);
}

// A table of properties: [name, value] with texts or elements as values.
function properties(lines) {
  return make("table", {}, ...lines.filter(([, value]) => value !== undefined && value !== "").map(([name, value]) =>
    make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, value))));
}

const moment = (time) => (time ? new Date(time).toLocaleString() : "");

class ConfigurationView {
  name = "configuration";
  title = "Configuration";
  key = "o";
  asked = 0;
  filter = ""; chosen = "process"; part = ""; changedOnly = false;
  drawn = "";

  constructor() {
    this.grid = new Grid("The process, its servers and its channels", [
      { name: "Name", cell: (line) => line.name },
      { name: "Kind", wide: true, cell: (line) => (line.kind ?? "").toLowerCase() },
      { name: "Not default", cell: (line) => (line.isSilent ? make("span", { class: "bad-text" }, "no answer") : number(line.changed)) },
      { name: "Certificate", cell: (line) => (line.certificate ? daysLeft(line.certificate) : "") },
      { name: "Service config", wide: true, cell: (line) => (line.isConfigRefused ? make("span", { class: "bad-text" }, "refused") : "") },
    ], ["minmax(9rem, 1fr)", "7rem", "7rem", "14rem", "8rem"], {
      key: (line) => line.id,
      choose: (line) => { this.chosen = line.id; this.grid.selected = line.id; refresher.now(); },
      changed: () => refresher.now(),
    });
    this.grid.selected = this.chosen;
    this.heading = make("h2", {});
    this.body = make("div", { class: "parts" });
    const only = make("input", { type: "checkbox", onchange: () => { this.changedOnly = only.checked; this.drawDetail(); } });
    const part = make("input", { type: "search", oninput: () => { this.part = part.value.toLowerCase(); this.drawDetail(); } });
    this.panel = make("section", { class: "panel", "aria-label": "What is configured" },
      make("div", { class: "tools spread" }, this.heading, make("label", {}, "Find options", part),
        make("label", { class: "check" }, only, "Only what is not the default")),
      this.body);
    this.element = [
      make("section", { class: "short" },
        make("div", { class: "tools" },
          filterField("Find servers and channels", (text) => {
            this.filter = text; this.grid.toTop(); refresher.now();
          })),
        this.grid.element),
      this.panel,
    ];
  }

  parameters() {
    const { from, count } = this.grid.window;
    this.asked = from;
    return [["filter", this.filter], ["from", from], ["count", count], ["selected", this.chosen]];
  }

  draw(data) {
    this.grid.draw(data.subjects ?? [], this.asked, number(data.subjectCount));
    this.detail = data.selected;
    this.drawDetail();
  }

  // Draws the selected one again only if it has changed: whoever reads or copies it is not disturbed.
  drawDetail() {
    const detail = this.detail;
    const key = JSON.stringify([detail, this.part, this.changedOnly]);
    if (key === this.drawn) return;
    this.drawn = key;
    this.heading.textContent = detail?.name ?? "What was selected has gone, or does not answer.";
    this.body.replaceChildren(...(detail
      ? [this.options(detail.options ?? []), this.tls(detail.tls), this.serviceConfig(detail.serviceConfig)].filter(Boolean) : []));
  }

  options(options) {
    const shown = options.filter((option) => (!this.changedOnly || option.isChanged)
      && `${option.name} ${option.value ?? ""}`.toLowerCase().includes(this.part));
    if (!shown.length) return make("p", { class: "empty" }, "No such option.");
    const head = make("tr", {}, ...["Option", "Value", "From"].map((name) => make("th", { scope: "col" }, name)));
    return make("table", { class: "options" }, make("thead", {}, head), make("tbody", {}, ...shown.map((option) =>
      make("tr", { class: option.isChanged ? "changed" : null },
        make("th", { scope: "row" }, option.name),
        make("td", { class: "lines" }, option.value ?? "",
          option.isChanged && option.standard ? make("span", { class: "standard" }, `default: ${option.standard}`) : null),
        make("td", {}, option.isChanged || option.source ? option.source ?? "" : "default")))));
  }

  tls(tls) {
    if (!tls) return null;
    const own = tls.certificate;
    return make("section", {}, make("h3", {}, "TLS"), properties([
      ["Own certificate", own ? daysLeft(own.validity) : "none"],
      ["Subject", own?.subject],
      ["Names", own ? (own.names ?? []).join(", ") : ""],
      ["Issuer", own?.issuer],
      ["Serial number", own?.serial],
      ["Valid from", own ? moment(own.validity?.from) : ""],
      ["Valid until", own ? moment(own.validity?.until) : ""],
      ["Authorities that it trusts", tls.trustedSource === "none" ? "none" : `${number(tls.trustedCount)}, of ${tls.trustedSource}`],
      ["Name that servers must have", tls.serverName],
      ["Read", moment(tls.read)],
    ]));
  }

  serviceConfig(config) {
    if (!config) return null;
    const refused = config.refused;
    return make("section", {}, make("h3", {}, "Service config"), properties([
      ["In force", config.json ? `from ${config.source}` : "none"],
      ["Policy", config.policy],
      ["Refused", refused ? make("span", { class: "bad-text" }, `${moment(refused.time)}: ${refused.reason}`) : "none"],
    ]), config.json ? make("pre", { tabindex: 0, "aria-label": "The service config in force" },
      config.isCut ? `${config.json}\n… (there is more)` : config.json) : null);
  }
}

// A picture of what event loops did: loops above, the phases of their turns below, and in these the methods. Frames are as
// wide as the share of the time that they took.

class Flame {
  static rowHeight = 26;
  // The narrowest frame that is drawn, as a share of what is shown, and the most lines of the table.
  static least = 0.001;
  static mostLines = 200;

  constructor(frames, looks) {
    this.frames = this.place(frames);
    this.looks = looks;
    this.root = null;
    this.active = this.frames[0] ?? null;
    this.info = make("p", { class: "flame-info", "aria-live": "polite" });
    this.picture = make("div", {
      class: "flame", role: "tree", "aria-label": "Profile: arrows move, Enter enlarges, Escape shows all again",
      onkeydown: (event) => this.pressed(event),
    });
    this.element = make("figure", { class: "profile" }, this.picture, this.info,
      make("details", {}, make("summary", {}, "As a table"), this.table()));
    this.draw();
  }

  // Gives each frame its place, its parent and its parts.
  place(frames) {
    const open = [];
    const all = [];
    const total = frames.filter((frame) => !frame.depth).reduce((sum, frame) => sum + number(frame.count), 0) || 1;
    let end = 0;
    for (const { name, depth = 0, count } of frames) {
      open.length = depth;
      const parent = open[depth - 1] ?? null;
      const frame = { name: name ?? "", depth, count: number(count), parts: [], parent, index: all.length };
      frame.start = parent ? parent.filled : end;
      frame.width = frame.count / total;
      frame.filled = frame.start;
      if (parent) { parent.filled += frame.width; parent.parts.push(frame); } else end += frame.width;
      open.push(frame);
      all.push(frame);
    }
    return all;
  }

  describe(frame) {
    let loop = frame;
    while (loop.parent) loop = loop.parent;
    const share = `${shortNumber((100 * frame.count) / (loop.count || 1))} %`;
    return frame === loop ? frame.name : `${frame.name}: ${share} of the time of ${loop.name}`;
  }

  draw() {
    const start = this.root?.start ?? 0;
    const width = this.root?.width || 1;
    const isIn = (frame) => !this.root || frame.start + frame.width > start + 1e-9 && frame.start < start + width - 1e-9;
    const shown = this.frames.filter((frame) => isIn(frame) && frame.width / width >= Flame.least);
    const rows = Math.max(0, ...shown.map((frame) => frame.depth)) + 1;
    this.picture.style.height = `${rows * Flame.rowHeight}px`;
    this.picture.replaceChildren(...shown.map((frame) => this.box(frame, start, width)));
    this.mark();
  }

  box(frame, start, width) {
    const left = Math.max(0, (frame.start - start) / width);
    const right = Math.min(1, (frame.start + frame.width - start) / width);
    const box = make("div", {
      class: `frame depth-${frame.depth} ${frame.name === "idle" ? "idle" : ""}`, role: "treeitem", tabindex: -1,
      "aria-level": frame.depth + 1, "aria-label": this.describe(frame), "data-index": frame.index,
      "aria-selected": frame === this.root ? "true" : "false",
      onclick: () => { this.active = frame; this.enlarge(frame === this.root ? null : frame); },
      onfocus: () => { this.active = frame; this.mark(); },
      onmouseenter: () => { this.info.textContent = this.describe(frame); },
    }, make("span", {}, frame.name));
    box.style.left = `${100 * left}%`;
    box.style.width = `${100 * (right - left)}%`;
    box.style.top = `${frame.depth * Flame.rowHeight}px`;
    return box;
  }

  // One frame can be reached by Tab; the arrows lead to the others.
  mark() {
    const boxes = [...this.picture.children];
    const active = boxes.find((box) => Number(box.dataset.index) === this.active?.index) ?? boxes[0];
    for (const box of boxes) box.tabIndex = box === active ? 0 : -1;
    if (this.active) this.info.textContent = this.describe(this.active);
    return active;
  }

  enlarge(root) {
    this.root = root;
    this.draw();
    this.mark()?.focus();
  }

  pressed(event) {
    const frame = this.active;
    if (!frame) return;
    const siblings = frame.parent ? frame.parent.parts : this.frames.filter((each) => !each.parent);
    const beside = (step) => siblings[siblings.indexOf(frame) + step];
    const moves = {
      ArrowUp: () => frame.parent, ArrowDown: () => frame.parts[0],
      ArrowLeft: () => beside(-1), ArrowRight: () => beside(1), Home: () => this.frames[0],
    };
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.enlarge(frame === this.root ? null : frame);
    } else if (event.key === "Escape") {
      this.enlarge(null);
    } else if (moves[event.key]) {
      event.preventDefault();
      const next = moves[event.key]();
      if (!next) return;
      this.active = next;
      // What is not in the enlarged part, or too narrow in it, is shown with all others.
      if (![...this.picture.children].some((box) => Number(box.dataset.index) === next.index)) this.enlarge(null);
      this.mark()?.focus();
    }
  }

  table() {
    const head = make("tr", {}, ...["Loop", "What it did", "Share"].map((name) => make("th", { scope: "col" }, name)));
    const loopOf = (frame) => (frame.parent ? loopOf(frame.parent) : frame);
    const lines = this.frames.filter((frame) => frame.parent).sort((one, other) => other.count - one.count).slice(0, Flame.mostLines);
    return make("table", {}, make("thead", {}, head), make("tbody", {}, ...lines.map((frame) => make("tr", {},
      make("td", {}, loopOf(frame).name),
      make("th", { scope: "row" }, frame.depth > 1 ? `${frame.parent.name}: ${frame.name}` : frame.name),
      make("td", {}, `${shortNumber((100 * frame.count) / (loopOf(frame).count || 1))} %`)))));
  }
}

// The view of what can be changed while the process runs.

class LeversView {
  name = "levers";
  title = "Levers";
  key = "l";
  asked = 0;
  filter = ""; typed = "";
  // The names of methods to choose from, as they were drawn last.
  names = "";
  // The start of the profile that is drawn.
  profileStart = null;

  constructor() {
    this.element = [this.makeProfile(), this.makeLevels(), this.makeSampling()];
  }

  // What asks the server for something, and says what became of it.
  async pull(outcome, body) {
    outcome.textContent = "";
    try {
      outcome.textContent = await body();
    } catch (error) {
      outcome.textContent = error instanceof Refused ? "the token is not the server's" : error.message;
    }
    refresher.now();
  }

  // Controls that need a permission, and a note for those who lack it.
  guard(element, permission, isUseless = false) {
    const isAllowed = permissions.has(permission);
    for (const control of element.querySelectorAll("button, input, select")) {
      if (control.dataset.search === undefined) control.disabled = !isAllowed || isUseless;
    }
    const note = element.querySelector(".note");
    note.hidden = isAllowed;
    note.textContent = `The console may not do this: ConsoleOptions.permissions lacks .${permission}.`;
  }

  // MARK: The profile

  makeProfile() {
    this.profileOutcome = make("span", { role: "status" });
    this.take = make("button", { type: "button", onclick: () => this.pull(this.profileOutcome, async () => {
      await act("profile", { seconds: 10 });
      return "";
    }) }, "Take a profile (10 s)");
    this.profile = make("div");
    this.profileSection = make("section", { class: "panel" }, make("h2", {}, "Profile of the event loops"),
      make("p", { class: "soft" },
        "What the loops do, seen 200 times a second: nothing is stopped. Handlers on other threads are not seen."),
      make("p", { class: "note" }), make("p", { class: "lever" }, this.take, this.profileOutcome), this.profile);
    return this.profileSection;
  }

  async drawProfile(profile) {
    this.guard(this.profileSection, "profile");
    if (!profile || !permissions.has("profile")) return;
    if (profile.isRunning) {
      this.take.disabled = true;
      const passed = Math.max(0, (Date.now() - Date.parse(profile.start)) / 1000);
      this.profileOutcome.textContent = `Looking: ${Math.min(Math.floor(passed), number(profile.seconds))} of ${number(profile.seconds)} s`;
      return;
    }
    if (profile.start === this.profileStart) return;
    this.profileStart = profile.start;
    const whole = await request("profile");
    if (whole.isRunning || whole.start !== profile.start) { this.profileStart = null; return; }
    this.profileOutcome.textContent = `Taken ${moment(whole.start)}, ${number(whole.seconds)} s, ${number(whole.looks)} looks`
      + (whole.isCut ? ". There were more methods than are kept." : "");
    this.profile.replaceChildren(new Flame(whole.frames ?? [], number(whole.looks)).element);
  }

  // MARK: Log levels

  makeLevels() {
    const outcome = make("span", { role: "status" });
    const levels = ["trace", "debug", "info", "warning", "error"];
    const level = make("select", {}, ...levels.map((name) => make("option", { value: name }, name)));
    level.value = "debug";
    const set = (ids) => this.pull(outcome, async () => {
      const answer = await act("log-level", { ids, level: level.value });
      return `${number(answer.changed)} ${number(answer.changed) === 1 ? "log has" : "logs have"} the level ${level.value}.`;
    });
    this.setOne = make("button", { type: "button", onclick: () => set([this.grid.selected]) }, "Set for the selected line");
    const all = make("button", { type: "button", onclick: () => set([]) }, "Set for all");
    this.grid = new Grid("Logs of servers and channels", [
      { name: "Name", cell: (line) => line.name },
      { name: "Level", cell: (line) => make("span", { class: line.level === line.standard ? null : "changed" }, line.level ?? "") },
      { name: "Made with", wide: true, cell: (line) => line.quiet ?? line.standard ?? "" },
    ], ["minmax(9rem, 1fr)", "7rem", "12rem"], {
      key: (line) => line.id,
      choose: (line) => { this.grid.selected = line.id; this.guard(this.levelSection, "logLevel"); refresher.now(); },
      changed: () => refresher.now(),
    });
    const method = this.makeMethodField();
    const form = make("form", { class: "tools", onsubmit: (event) => {
      event.preventDefault();
      this.pull(outcome, async () => {
        await act("log-level", { method: method.value.trim(), level: level.value });
        return `Calls of the method log from the level ${level.value} on.`;
      });
    } }, make("label", {}, "Method", method), make("button", {}, "Set for its calls"));
    this.methodLevels = make("div");
    this.likeTheRest = (line) => this.pull(outcome, async () => {
      await act("log-level", { ids: [line.id], method: line.method });
      return "The server's level holds again.";
    });
    this.levelSection = make("section", { class: "panel" }, make("h2", {}, "Log levels"),
      make("p", { class: "soft" }, "They hold until they are set again, or the process ends. That of a method is for what its handler and interceptors log."),
      make("p", { class: "note" }),
      make("div", { class: "tools" },
        filterField("Find servers and channels", (text) => { this.filter = text; this.grid.toTop(); refresher.now(); }),
        make("label", {}, "Level", level), this.setOne, all, outcome),
      form, make("div", { class: "short" }, this.grid.element), this.methodLevels);
    return this.levelSection;
  }

  // MARK: Methods

  // A field for a method's name, with what servers have to choose from.
  makeMethodField() {
    const field = make("input", {
      type: "text", list: "methods", required: true, autocomplete: "off", placeholder: "package.Service/Method",
      oninput: () => { this.typed = field.value; refresher.now(); },
    });
    return field;
  }

  drawNames(names) {
    if (names.join() === this.names) return;
    this.names = names.join();
    this.choices.replaceChildren(...names.map((value) => make("option", { value })));
  }

  // Lines for methods, each with a button that ends what was chosen for it. What has the focus keeps it.
  drawMethods(element, columns, lines, cells, end) {
    const key = (line) => `${line.id ?? ""} ${line.method}`;
    const focused = element.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    const head = make("tr", {}, ...columns.map((name) => make("th", { scope: "col" }, name)), make("td", {}));
    element.replaceChildren(...(lines.length ? [make("table", {}, make("thead", {}, head),
      make("tbody", {}, ...lines.map((line) => make("tr", {}, make("th", { scope: "row" }, line.method),
        ...cells(line).map((text) => make("td", {}, text)),
        make("td", {}, make("button", { type: "button", "data-key": key(line), "aria-label": `End for ${line.method}`,
          onclick: () => end(line) }, "End"))))))] : []));
    if (focused) [...element.querySelectorAll("button")].find((each) => each.dataset.key === focused)?.focus();
  }

  // MARK: Sampling

  makeSampling() {
    const outcome = make("span", { role: "status" });
    this.choices = make("datalist", { id: "methods" });
    const method = this.makeMethodField();
    const share = make("input", { type: "number", min: 0, max: 100, step: "any", value: 100, required: true });
    const minutes = make("input", { type: "number", min: 1, max: 1440, value: 10, required: true });
    const form = make("form", { class: "tools", onsubmit: (event) => {
      event.preventDefault();
      this.pull(outcome, async () => {
        await act("sampling", { method: method.value.trim(), share: Number(share.value) / 100, minutes: Number(minutes.value) });
        return "It holds, and ends by itself.";
      });
    } }, make("label", {}, "Method", method), make("label", {}, "Traces in %", share), make("label", {}, "Minutes", minutes),
      make("button", {}, "Record"), outcome, this.choices);
    this.samplingList = make("div");
    this.samplingMissing = make("p", { class: "bad-text" });
    this.sampler = make("p", { class: "soft" });
    this.samplingSection = make("section", { class: "panel" }, make("h2", {}, "Traces"), this.sampler, this.samplingMissing,
      make("p", { class: "note" }), form, this.samplingList);
    this.back = (line) => this.pull(outcome, async () => {
      await act("sampling", { method: line.method });
      return "The options decide again.";
    });
    return this.samplingSection;
  }

  drawSampling(data) {
    this.sampler.textContent = data.sampler
      ? `The options record ${data.sampler}. Another share of a method's traces can be recorded for some minutes, whatever callers have decided.` : "";
    this.samplingMissing.textContent = data.samplingMissing ?? "";
    this.samplingMissing.hidden = !data.samplingMissing;
    this.drawMethods(this.samplingList, ["Method", "Traces", "Still for"], data.sampling ?? [],
      (line) => [`${shortNumber(number(line.share) * 100)} %`, this.left(number(line.secondsLeft))], this.back);
    this.guard(this.samplingSection, "sampling", Boolean(data.samplingMissing));
  }

  left(seconds) { return seconds >= 90 ? `${Math.round(seconds / 60)} min` : `${Math.ceil(seconds)} s`; }

  // MARK: Drawing

  parameters() {
    const { from, count } = this.grid.window;
    this.asked = from;
    return [["filter", this.filter], ["from", from], ["count", count], ["selected", this.typed]];
  }

  draw(data) {
    this.drawProfile(data.profile).catch(() => { this.profileStart = null; });
    this.grid.draw(data.logs ?? [], this.asked, number(data.logCount));
    this.drawNames(data.methods ?? []);
    this.drawMethods(this.methodLevels, ["Method", "Server", "Level"], data.methodLogs ?? [],
      (line) => [line.name, line.level], this.likeTheRest);
    this.guard(this.levelSection, "logLevel");
    if (!this.grid.selected) this.setOne.disabled = true;
    this.drawSampling(data);
  }
}

// The views, and how one gets from one to another.

// Each has a name, which is its path and that of its answers in JSON, a title, a key that leads to it, elements, the parameters
// of its requests, and a function that draws what is answered. Those with a permission are for viewers who have it.
const views = [
  new NowView(), new CallsView(), new ConnectionsView(), new TryView(), new ConfigurationView(), new LeversView(),
];
let current = views[0];

function show(name, { push = false } = {}) {
  current = views.find((view) => view.name === name) ?? views[0];
  if (push) history.pushState(null, "", `${prefix}/${current.name}`);
  document.title = `${current.title} – Console`;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === current.name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  main.replaceChildren(...current.element);
  refresher.now();
}

const nameInPath = () => location.pathname.slice(prefix.length + 1) || "now";
document.querySelector("nav").append(...views.map((view) => make("a", {
  href: `${prefix}/${view.name}`, "data-view": view.name, "aria-keyshortcuts": view.key,
  onclick: (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    show(view.name, { push: true });
    main.focus();
  },
}, view.title)));
function showLinks() {
  for (const link of document.querySelectorAll("nav a")) {
    link.hidden = !permissions.allow(views.find((view) => view.name === link.dataset.view));
  }
}
showLinks();
window.addEventListener("popstate", () => show(nameInPath()));

// Keys: / finds; others change the view.
document.addEventListener("keydown", (event) => {
  if (access.open || event.ctrlKey || event.metaKey || event.altKey) return;
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "")) {
    if (event.key === "Escape") document.activeElement.blur();
    return;
  }
  if (event.key === "/") { event.preventDefault(); main.querySelector("[data-search]")?.focus(); }
  const view = views.find((view) => view.key === event.key && permissions.allow(view));
  if (view) show(view.name, { push: true });
});

takeToken();
show(nameInPath());
"""##
}
