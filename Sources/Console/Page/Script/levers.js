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
