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
