// Fields of forms that have one value. A place is where the value is: `get`, `set` and `clear`.

// Types of protobuf whose JSON is not that of a message with fields, and what is typed for them.
const wellKnown = {
  "google.protobuf.Timestamp": { form: "text", example: "2026-01-31T12:00:00Z" },
  "google.protobuf.Duration": { form: "text", example: "1.5s" },
  "google.protobuf.FieldMask": { form: "text", example: "name,address.city" },
  "google.protobuf.Struct": { form: "json", example: '{"any": "JSON"}' },
  "google.protobuf.Value": { form: "json", example: "any JSON" },
  "google.protobuf.ListValue": { form: "json", example: '["any", "JSON"]' },
  "google.protobuf.Any": { form: "json", example: '{"@type": "type.googleapis.com/package.Message"}' },
  "google.protobuf.DoubleValue": { form: "FRACTION" }, "google.protobuf.FloatValue": { form: "FRACTION" },
  "google.protobuf.Int64Value": { form: "LONG" }, "google.protobuf.UInt64Value": { form: "LONG" },
  "google.protobuf.Int32Value": { form: "INTEGER" }, "google.protobuf.UInt32Value": { form: "INTEGER" },
  "google.protobuf.BoolValue": { form: "BOOL" }, "google.protobuf.StringValue": { form: "STRING" },
  "google.protobuf.BytesValue": { form: "BYTES" },
};

// Whether a field holds a message that has a form of its own.
const isNested = (field) => field.kind === "MESSAGE" && !wellKnown[field.type];

// What a field is, in words.
function typeOf(field) {
  const type = field.type.startsWith("google.protobuf.") ? field.type.slice(16) : field.type;
  return field.mapKey ? `map of ${field.mapKey} to ${type}` : field.isRepeated ? `list of ${type}` : type;
}

// The editor of a value that has no parts. Returns an element with one control, to which a label leads.
function valueEditor(field, place, name) {
  const special = field.kind === "MESSAGE" ? wellKnown[field.type] : null;
  switch (special?.form ?? field.kind) {
    case "BOOL": return choiceEditor([["true", "true"], ["false", "false"]], place, name,
      (value) => (typeof value === "boolean" ? String(value) : undefined), (text) => text === "true");
    case "ENUM": return choiceEditor((field.choices ?? []).map((each) => [each.name, `${each.name} = ${each.number ?? 0}`]), place, name,
      (value) => (value instanceof Digits
        ? (field.choices ?? []).find((each) => String(each.number ?? 0) === value.text)?.name ?? value.text : value),
      (text) => text);
    case "BYTES": return bytesEditor(place, name);
    case "json": return jsonEditor(special.example, place, name);
    case "text": return textEditor({ place, name, example: special.example, read: (text) => text, lines: false });
    case "INTEGER": return textEditor({ place, name, mode: "numeric", lines: false, isEmptyNothing: true,
      read: (text) => (/^-?(0|[1-9][0-9]*)$/.test(text) ? new Digits(text) : text), wrong: (text) => !/^-?[0-9]+$/.test(text), needs: "a whole number" });
    case "LONG": return textEditor({ place, name, mode: "numeric", lines: false, isEmptyNothing: true,
      read: (text) => text, wrong: (text) => !/^-?[0-9]+$/.test(text), needs: "a whole number" });
    case "FRACTION": return textEditor({ place, name, mode: "decimal", lines: false, isEmptyNothing: true,
      read: (text) => (isDigits(text) ? new Digits(text) : text),
      wrong: (text) => !isDigits(text) && !["NaN", "Infinity", "-Infinity"].includes(text), needs: "a number, NaN, Infinity or -Infinity" });
    default: return textEditor({ place, name, read: (text) => text, lines: true, example: field.defaultValue });
  }
}

const isDigits = (text) => /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$/.test(text);

// What a value is as the text of a field; nothing if it is no text.
const plain = (value) => (value === undefined || value === null ? "" : value instanceof Digits ? value.text
  : typeof value === "string" ? value : undefined);

// For a value that is of another kind than the field: only its JSON can say what is meant.
const foreign = (name) => make("input", { "aria-label": name, disabled: true, value: "of another kind: see its JSON" });

function textEditor({ place, name, read, example, mode, wrong, needs, lines, isEmptyNothing }) {
  const text = plain(place.get());
  if (text === undefined) return foreign(name);
  const field = make(lines ? "textarea" : "input", { "aria-label": name, placeholder: example || null, spellcheck: "false",
    autocomplete: "off", ...(lines ? { rows: Math.min(8, text.split("\n").length) } : { inputmode: mode }) });
  field.value = text;
  const check = () => {
    const isWrong = Boolean(wrong && field.value !== "" && wrong(field.value));
    field.setAttribute("aria-invalid", String(isWrong));
    field.title = isWrong ? `It needs ${needs}` : "";
  };
  field.addEventListener("input", () => {
    check();
    if (field.value === "" && (isEmptyNothing || example !== undefined && !lines)) place.clear(); else place.set(read(field.value));
  });
  check();
  return field;
}

function choiceEditor(options, place, name, shown, read) {
  const value = place.get();
  const text = value === undefined || value === null ? "" : shown(value);
  if (typeof text !== "string") return foreign(name);
  const isKnown = text === "" || options.some(([each]) => each === text);
  const field = make("select", { "aria-label": name, onchange: () => {
    if (field.value === "") place.clear(); else place.set(read(field.value));
  } }, make("option", { value: "" }, "–"), ...options.map(([each, title]) => make("option", { value: each }, title)),
  isKnown ? null : make("option", { value: text }, text));
  field.value = text;
  return field;
}

// Bytes are base64 in JSON. They can be typed as text, too.
function bytesEditor(place, name) {
  const value = place.get();
  if (plain(value) === undefined) return foreign(name);
  const field = make("input", { "aria-label": name, autocomplete: "off", spellcheck: "false", placeholder: "base64" });
  field.value = plain(value);
  const way = make("select", { "aria-label": `how ${name} is typed` }, make("option", { value: "base64" }, "base64"),
    make("option", { value: "text" }, "text"));
  const change = () => {
    const isText = way.value === "text";
    const isWrong = !isText && !/^[A-Za-z0-9+/_-]*={0,2}$/.test(field.value);
    field.setAttribute("aria-invalid", String(isWrong));
    place.set(isText ? base64(new TextEncoder().encode(field.value)) : field.value);
  };
  way.addEventListener("change", () => {
    const bytes = way.value === "text" ? bytesOf(plain(place.get())) : null;
    const text = bytes && textOf(bytes);
    // What is no text stays base64.
    if (way.value === "text" && text === null) way.value = "base64";
    field.value = way.value === "text" ? text : plain(place.get());
    field.placeholder = way.value;
  });
  field.addEventListener("input", change);
  return make("span", { class: "pair" }, field, way);
}

const base64 = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
function bytesOf(text) {
  try { return Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0)); } catch { return null; }
}
function textOf(bytes) {
  try { return new TextDecoder("utf-8", { fatal: true }).decode(bytes); } catch { return null; }
}

function jsonEditor(example, place, name) {
  const value = place.get();
  const field = make("textarea", { "aria-label": `${name}, in JSON`, class: "code", placeholder: example, spellcheck: "false" });
  field.value = value === undefined ? "" : writeJSON(value, "  ");
  field.rows = Math.min(12, Math.max(2, field.value.split("\n").length));
  field.addEventListener("input", () => {
    if (field.value.trim() === "") { field.setAttribute("aria-invalid", "false"); place.clear(); return; }
    try {
      place.set(readJSON(field.value));
      field.setAttribute("aria-invalid", "false");
      field.title = "";
    } catch (mistake) {
      field.setAttribute("aria-invalid", "true");
      field.title = mistake.message;
    }
  });
  return field;
}
