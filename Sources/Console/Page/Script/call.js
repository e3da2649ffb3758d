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
