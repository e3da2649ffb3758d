// A form of a message, which edits a map of its JSON. Forms of messages inside are made when they are opened, so that types may
// refer to themselves.

// Longer lists, and what is nested more deeply, are edited as JSON.
const mostItems = 100;
const mostLevels = 20;

// The first field of each enum has its names.
function shareChoices(fields) {
  const known = new Map();
  for (const field of fields) {
    if (field.choices) known.set(field.type, field.choices);
    else field.choices = known.get(field.type);
  }
}

class MessageForm {
  // `types` finds forms by the names of types; `changed` is called after each change.
  constructor(types, changed) {
    this.types = types;
    this.changed = changed;
    this.element = make("div", { class: "form" });
  }

  // Shows a value of this type.
  async show(type, members, level = 0) {
    this.level = level;
    let form;
    try { form = await this.types(type); } catch (error) {
      this.element.replaceChildren(make("p", { class: "bad-text" }, `There is no form: ${error.message}`),
        make("button", { type: "button", class: "small", onclick: () => this.show(type, members, level) }, "Try again"));
      return;
    }
    shareChoices(form.fields ?? []);
    this.element.replaceChildren(...(form.comment && level === 0 ? [make("p", { class: "hint" }, form.comment.trim())] : []),
      ...this.rows(form.fields ?? [], members));
    if (form.remark) this.element.append(make("p", { class: "hint" }, form.remark));
    else if (!form.fields?.length) this.element.append(make("p", { class: "hint" }, "It has no fields."));
  }

  // A row for each field, and one for each oneof.
  rows(fields, members) {
    const rows = [], oneofs = new Map();
    for (const field of fields) {
      if (!field.oneof) { rows.push(this.row(field, members)); continue; }
      if (!oneofs.has(field.oneof)) {
        oneofs.set(field.oneof, []);
        rows.push(() => this.oneof(field.oneof, oneofs.get(field.oneof), members));
      }
      oneofs.get(field.oneof).push(field);
    }
    return rows.map((row) => (typeof row === "function" ? row() : row));
  }

  // The place of a field's value: JSON may have it under either name.
  place(field, members) {
    const key = () => (members.has(field.name) && !members.has(field.jsonName) ? field.name : field.jsonName);
    return {
      get: () => members.get(key()),
      set: (value) => { members.set(key(), value); this.changed(); },
      clear: () => { members.delete(key()); this.changed(); },
    };
  }

  // Replaces an element by a new one of `build`, which gets a function that does it again.
  dynamic(build) {
    let element;
    const redraw = (focus) => {
      const next = build(redraw);
      element?.replaceWith(next);
      element = next;
      if (focus) (element.querySelector(focus) ?? element.querySelector("input, select, textarea, button"))?.focus();
    };
    redraw();
    return element;
  }

  row(field, members) {
    const place = this.place(field, members);
    if (field.mapKey) return this.dynamic((redraw) => this.map(field, place, redraw));
    if (field.isRepeated) return this.dynamic((redraw) => this.list(field, place, redraw));
    if (isNested(field)) return this.dynamic((redraw) => this.nested(field, place, redraw));
    return this.dynamic((redraw) => make("div", { class: "field" }, this.title(field), valueEditor(field, place, field.jsonName),
      make("button", { type: "button", class: "small", "aria-label": `clear ${field.jsonName}`, title: "Clear",
        onclick: () => { place.clear(); redraw("input, select, textarea"); } }, "×"), ...this.hints(field)));
  }

  title(field) {
    const isRequired = field.isRequired || (field.rules ?? []).some((rule) => /field_behavior.*REQUIRED/.test(rule));
    return make("span", { class: "title" }, make("b", { class: field.isDeprecated ? "gone" : null }, field.jsonName),
      " ", make("span", { class: "type" }, typeOf(field)), isRequired ? make("em", {}, " required") : null,
      field.isDeprecated ? make("em", {}, " deprecated") : null);
  }

  hints(field) {
    const texts = [field.comment?.trim(), field.defaultValue !== undefined ? `default: ${field.defaultValue}` : null, ...(field.rules ?? [])];
    return texts.filter(Boolean).map((text) => make("p", { class: "hint" }, text));
  }

  // A message inside another.
  nested(field, place, redraw, name = field.jsonName) {
    const value = place.get();
    const isThere = value instanceof Map;
    const button = make("button", { type: "button", class: "small", "aria-label": `${isThere ? "remove" : "add"} ${name}`, onclick: () => {
      if (isThere) place.clear(); else place.set(new Map());
      redraw();
    } }, isThere ? "Remove" : "Add");
    const body = make("div", {});
    if (isThere) this.open(field.type, value, body);
    else if (value !== undefined && value !== null) body.append(foreign(name));
    return make("fieldset", {}, make("legend", {}, this.title(field), " ", button), ...this.hints(field), body);
  }

  open(type, value, body) {
    if (this.level >= mostLevels) { body.append(make("p", { class: "hint" }, "What is nested more deeply is edited as JSON.")); return; }
    const inner = new MessageForm(this.types, this.changed);
    body.append(inner.element);
    inner.show(type, value, this.level + 1);
  }

  // One item of a list, or one value of a map.
  item(field, place, name) {
    const single = { ...field, isRepeated: false, mapKey: "" };
    if (!isNested(single)) return valueEditor(single, place, name);
    const body = make("div", { class: "inner" });
    if (place.get() instanceof Map) this.open(field.type, place.get(), body); else body.append(foreign(name));
    return body;
  }

  // What a new item is.
  fresh(field) {
    if (isNested(field)) return new Map();
    switch (field.kind === "MESSAGE" ? wellKnown[field.type].form : field.kind) {
      case "INTEGER": case "FRACTION": return new Digits("0");
      case "LONG": return "0";
      case "BOOL": return false;
      case "ENUM": return field.choices?.[0]?.name ?? new Digits("0");
      case "json": return field.type === "google.protobuf.ListValue" ? [] : field.type === "google.protobuf.Value" ? null : new Map();
      default: return "";
    }
  }

  list(field, place, redraw) {
    const items = place.get();
    const isThere = Array.isArray(items);
    const lines = !isThere ? [] : items.slice(0, mostItems).map((_, index) => make("div", { class: "item" },
      this.item(field, { get: () => items[index], set: (value) => { items[index] = value; this.changed(); },
        clear: () => { items[index] = this.fresh(field); this.changed(); } }, `${field.jsonName} ${index + 1}`),
      make("button", { type: "button", class: "small", "aria-label": `remove ${field.jsonName} ${index + 1}`, onclick: () => {
        items.splice(index, 1);
        if (items.length) this.changed(); else place.clear();
        redraw(".add");
      } }, "×")));
    if (isThere && items.length > mostItems) lines.push(make("p", { class: "hint" }, `${items.length - mostItems} more are in its JSON.`));
    const add = make("button", { type: "button", class: "small add", "aria-label": `add to ${field.jsonName}`, onclick: () => {
      place.set([...(isThere ? items : []), this.fresh(field)]);
      redraw(".item:last-of-type :is(input, select, textarea, button)");
    } }, "Add");
    const isForeign = !isThere && items !== undefined && items !== null;
    return make("fieldset", {}, make("legend", {}, this.title(field), " ", add), ...this.hints(field),
      ...(isForeign ? [foreign(field.jsonName)] : lines));
  }

  map(field, place, redraw) {
    const members = place.get();
    const isThere = members instanceof Map;
    const lines = !isThere ? [] : [...members.keys()].slice(0, mostItems).map((key) => {
      let current = key;
      const name = make("input", { "aria-label": `key of ${field.jsonName}`, autocomplete: "off", value: key, oninput: () => {
        const isTaken = name.value !== current && members.has(name.value);
        name.setAttribute("aria-invalid", String(isTaken));
        name.title = isTaken ? "This key is there already" : "";
        if (isTaken) return;
        // The order of the others stays.
        const entries = [...members].map(([each, value]) => [each === current ? name.value : each, value]);
        members.clear();
        for (const [each, value] of entries) members.set(each, value);
        current = name.value;
        this.changed();
      } });
      return make("div", { class: "item" }, name, this.item(field, { get: () => members.get(current),
        set: (value) => { members.set(current, value); this.changed(); },
        clear: () => { members.set(current, this.fresh(field)); this.changed(); } }, `value of ${key || field.jsonName}`),
      make("button", { type: "button", class: "small", "aria-label": `remove ${key} of ${field.jsonName}`, onclick: () => {
        members.delete(current);
        if (members.size) this.changed(); else place.clear();
        redraw(".add");
      } }, "×"));
    });
    const add = make("button", { type: "button", class: "small add", "aria-label": `add to ${field.jsonName}`, onclick: () => {
      const all = isThere ? members : new Map();
      all.set(this.freshKey(field, all), this.fresh(field));
      place.set(all);
      redraw(".item:last-of-type input");
    } }, "Add");
    return make("fieldset", {}, make("legend", {}, this.title(field), " ", add), ...this.hints(field), ...lines);
  }

  freshKey(field, members) {
    const candidates = field.mapKey === "bool" ? ["false", "true"] : null;
    if (candidates) return candidates.find((key) => !members.has(key)) ?? "false";
    let number = members.size;
    const name = () => (field.mapKey === "string" ? (number ? `key${number}` : "") : String(number));
    while (members.has(name())) number += 1;
    return name();
  }

  // At most one of some fields.
  oneof(name, fields, members) {
    return this.dynamic((redraw) => {
      const places = fields.map((field) => this.place(field, members));
      const set = fields.findIndex((_, index) => places[index].get() !== undefined);
      const which = make("select", { "aria-label": `which of ${name}`, onchange: () => {
        const next = which.value === "" ? -1 : Number(which.value);
        places.forEach((place, index) => { if (index !== next && place.get() !== undefined) place.clear(); });
        if (next >= 0) places[next].set(fields[next].type === "google.protobuf.NullValue" ? null : this.fresh(fields[next]));
        redraw("select");
      } }, make("option", { value: "" }, "none"), ...fields.map((field, index) => make("option", { value: index }, field.jsonName)));
      which.value = set < 0 ? "" : String(set);
      const chosen = fields[set];
      return make("fieldset", {}, make("legend", {}, make("span", { class: "title" }, make("b", {}, name), " ", make("span", { class: "type" }, "one of")), " ", which),
        ...(chosen ? [this.row(chosen, members)] : []));
    });
  }
}
