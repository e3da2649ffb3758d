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
