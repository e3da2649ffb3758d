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
