// A picture of what event loops did: loops above, the phases of their turns below, and in these the methods. Frames are as
// wide as the share of the time that they took.

class Flame {
  static rowHeight = 26;
  // The narrowest frame that is drawn, as a share of what is shown, and the most lines of the table.
  static least = 0.001;
  static mostLines = 200;

  constructor(frames, looks) {
    this.frames = this.place(frames);
    this.looks = looks;
    this.root = null;
    this.active = this.frames[0] ?? null;
    this.info = make("p", { class: "flame-info", "aria-live": "polite" });
    this.picture = make("div", {
      class: "flame", role: "tree", "aria-label": "Profile: arrows move, Enter enlarges, Escape shows all again",
      onkeydown: (event) => this.pressed(event),
    });
    this.element = make("figure", { class: "profile" }, this.picture, this.info,
      make("details", {}, make("summary", {}, "As a table"), this.table()));
    this.draw();
  }

  // Gives each frame its place, its parent and its parts.
  place(frames) {
    const open = [];
    const all = [];
    const total = frames.filter((frame) => !frame.depth).reduce((sum, frame) => sum + number(frame.count), 0) || 1;
    let end = 0;
    for (const { name, depth = 0, count } of frames) {
      open.length = depth;
      const parent = open[depth - 1] ?? null;
      const frame = { name: name ?? "", depth, count: number(count), parts: [], parent, index: all.length };
      frame.start = parent ? parent.filled : end;
      frame.width = frame.count / total;
      frame.filled = frame.start;
      if (parent) { parent.filled += frame.width; parent.parts.push(frame); } else end += frame.width;
      open.push(frame);
      all.push(frame);
    }
    return all;
  }

  describe(frame) {
    let loop = frame;
    while (loop.parent) loop = loop.parent;
    const share = `${shortNumber((100 * frame.count) / (loop.count || 1))} %`;
    return frame === loop ? frame.name : `${frame.name}: ${share} of the time of ${loop.name}`;
  }

  draw() {
    const start = this.root?.start ?? 0;
    const width = this.root?.width || 1;
    const isIn = (frame) => !this.root || frame.start + frame.width > start + 1e-9 && frame.start < start + width - 1e-9;
    const shown = this.frames.filter((frame) => isIn(frame) && frame.width / width >= Flame.least);
    const rows = Math.max(0, ...shown.map((frame) => frame.depth)) + 1;
    this.picture.style.height = `${rows * Flame.rowHeight}px`;
    this.picture.replaceChildren(...shown.map((frame) => this.box(frame, start, width)));
    this.mark();
  }

  box(frame, start, width) {
    const left = Math.max(0, (frame.start - start) / width);
    const right = Math.min(1, (frame.start + frame.width - start) / width);
    const box = make("div", {
      class: `frame depth-${frame.depth} ${frame.name === "idle" ? "idle" : ""}`, role: "treeitem", tabindex: -1,
      "aria-level": frame.depth + 1, "aria-label": this.describe(frame), "data-index": frame.index,
      "aria-selected": frame === this.root ? "true" : "false",
      onclick: () => { this.active = frame; this.enlarge(frame === this.root ? null : frame); },
      onfocus: () => { this.active = frame; this.mark(); },
      onmouseenter: () => { this.info.textContent = this.describe(frame); },
    }, make("span", {}, frame.name));
    box.style.left = `${100 * left}%`;
    box.style.width = `${100 * (right - left)}%`;
    box.style.top = `${frame.depth * Flame.rowHeight}px`;
    return box;
  }

  // One frame can be reached by Tab; the arrows lead to the others.
  mark() {
    const boxes = [...this.picture.children];
    const active = boxes.find((box) => Number(box.dataset.index) === this.active?.index) ?? boxes[0];
    for (const box of boxes) box.tabIndex = box === active ? 0 : -1;
    if (this.active) this.info.textContent = this.describe(this.active);
    return active;
  }

  enlarge(root) {
    this.root = root;
    this.draw();
    this.mark()?.focus();
  }

  pressed(event) {
    const frame = this.active;
    if (!frame) return;
    const siblings = frame.parent ? frame.parent.parts : this.frames.filter((each) => !each.parent);
    const beside = (step) => siblings[siblings.indexOf(frame) + step];
    const moves = {
      ArrowUp: () => frame.parent, ArrowDown: () => frame.parts[0],
      ArrowLeft: () => beside(-1), ArrowRight: () => beside(1), Home: () => this.frames[0],
    };
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.enlarge(frame === this.root ? null : frame);
    } else if (event.key === "Escape") {
      this.enlarge(null);
    } else if (moves[event.key]) {
      event.preventDefault();
      const next = moves[event.key]();
      if (!next) return;
      this.active = next;
      // What is not in the enlarged part, or too narrow in it, is shown with all others.
      if (![...this.picture.children].some((box) => Number(box.dataset.index) === next.index)) this.enlarge(null);
      this.mark()?.focus();
    }
  }

  table() {
    const head = make("tr", {}, ...["Loop", "What it did", "Share"].map((name) => make("th", { scope: "col" }, name)));
    const loopOf = (frame) => (frame.parent ? loopOf(frame.parent) : frame);
    const lines = this.frames.filter((frame) => frame.parent).sort((one, other) => other.count - one.count).slice(0, Flame.mostLines);
    return make("table", {}, make("thead", {}, head), make("tbody", {}, ...lines.map((frame) => make("tr", {},
      make("td", {}, loopOf(frame).name),
      make("th", { scope: "row" }, frame.depth > 1 ? `${frame.parent.name}: ${frame.name}` : frame.name),
      make("td", {}, `${shortNumber((100 * frame.count) / (loopOf(frame).count || 1))} %`)))));
  }
}
