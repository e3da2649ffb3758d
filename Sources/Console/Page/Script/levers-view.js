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
