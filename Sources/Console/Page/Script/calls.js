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
