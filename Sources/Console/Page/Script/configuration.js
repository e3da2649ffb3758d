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
