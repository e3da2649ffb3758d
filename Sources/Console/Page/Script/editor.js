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
