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
