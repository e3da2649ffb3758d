const lineHeight = 32;

// A list of any length, of which only the lines that can be seen exist. `columns`: { name, sort, wide, cell(line) }.
class Grid {
  constructor(label, columns, layout, { tree = false, key, choose, fold, sort, changed }) {
    Object.assign(this, { columns, key, choose, fold, changed, lines: [], from: 0, count: 0, active: 0, selected: null });
    this.head = make("div", { class: "head", role: "row", style: null }, ...columns.map((column) =>
      make("span", { role: "columnheader", class: column.wide ? "wide" : null },
        column.sort ? make("button", { type: "button", onclick: () => sort(column.sort) }, column.name) : column.name)));
    this.space = make("div", { role: "presentation" });
    this.body = make("div", { class: "body", role: "rowgroup" }, this.space);
    // Has the focus, whichever line is active: lines come and go.
    this.element = make("div", {
      class: "grid", role: tree ? "treegrid" : "grid", tabindex: 0, "aria-label": label,
      onscroll: () => this.scrolled(), onkeydown: (event) => { if (event.target === this.element) this.pressed(event); },
    }, this.head, this.body);
    this.layout = layout;
    this.tree = tree;
    this.fit();
    new ResizeObserver(() => this.fit()).observe(this.element);
  }

  // The widths of the columns, without those that a narrow window does not show.
  fit() {
    const narrow = matchMedia("(max-width: 40rem)").matches;
    const template = this.columns.map((column, index) => (narrow && column.wide ? null : this.layout[index]))
      .filter((width) => width !== null).map((width) => {
        // Most of the space is for the name: those of methods differ at their ends.
        const most = narrow && /([\d.]+rem)\)?$/.exec(width);
        return most ? `minmax(3rem, min(7.5rem, ${most[1]}))` : width;
      })
      .join(" ");
    this.head.style.gridTemplateColumns = template;
    for (const line of this.body.querySelectorAll(".line")) line.style.gridTemplateColumns = template;
    this.template = template;
  }

  // The part that the server should send: what can be seen, and a little around it.
  get window() {
    const first = Math.max(0, Math.floor(this.element.scrollTop / lineHeight) - 10);
    const seen = Math.ceil((this.height || 480) / lineHeight) + 20;
    return { from: first, count: Math.min(seen, 200) };
  }

  // Of the part that shows lines: the head stays above them.
  get height() { return Math.max(0, this.element.clientHeight - this.head.offsetHeight); }

  toTop() { this.element.scrollTop = 0; }

  scrolled() {
    const { from, count } = this.window;
    const isMissing = from < this.from || Math.min(from + count, this.count) > this.from + this.lines.length;
    if (isMissing) this.changed();
  }

  draw(lines, from, count) {
    Object.assign(this, { lines, from, count });
    this.active = Math.min(this.active, Math.max(0, count - 1));
    this.element.setAttribute("aria-rowcount", count + 1);
    this.space.style.height = `${count * lineHeight}px`;
    const elements = lines.map((line, index) => this.line(line, from + index));
    this.body.replaceChildren(this.space, ...elements);
    if (!count) this.body.append(make("p", { class: "empty" }, "There is nothing to show."));
    const active = this.body.querySelector(".active");
    if (active) this.element.setAttribute("aria-activedescendant", active.id);
    else this.element.removeAttribute("aria-activedescendant");
  }

  line(line, index) {
    const key = this.key(line);
    const isSelected = key === this.selected;
    const classes = ["line", isSelected ? "selected" : "", index === this.active ? "active" : ""].join(" ").trim();
    const element = make("div", {
      class: classes, role: "row", id: `line-${index}`, "aria-rowindex": index + 2, "aria-selected": String(isSelected),
      "aria-level": this.tree ? line.level : null,
      "aria-expanded": this.tree && line.children ? String(!line.isClosed) : null,
      onclick: () => { this.active = index; this.choose(line); },
    }, ...this.columns.map((column) => {
      const content = column.cell(line);
      // What does not fit is shown to a pointer.
      const title = typeof content === "string" ? content : null;
      return make("span", { role: "gridcell", class: column.wide ? "wide" : null, title }, content);
    }));
    element.style.top = `${index * lineHeight}px`;
    element.style.gridTemplateColumns = this.template;
    return element;
  }

  pressed(event) {
    const page = Math.max(1, Math.floor(this.height / lineHeight) - 1);
    const line = this.lines[this.active - this.from];
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in moves) this.move(Math.min(Math.max(this.active + moves[event.key], 0), Math.max(0, this.count - 1)));
    else if (event.key === "Enter" && line) this.choose(line);
    else if (event.key === "ArrowRight" && line && this.fold) this.fold(line, false);
    else if (event.key === "ArrowLeft" && line && this.fold) this.fold(line, true);
    else return;
    event.preventDefault();
  }

  move(index) {
    this.active = index;
    const top = index * lineHeight;
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    const bottom = top + lineHeight - this.height;
    if (bottom > this.element.scrollTop) this.element.scrollTop = bottom;
    this.draw(this.lines, this.from, this.count);
    this.scrolled();
  }
}
