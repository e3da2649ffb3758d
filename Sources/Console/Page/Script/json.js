// JSON that loses nothing: numbers keep their digits, and objects the order of their members, of which any name may be one.

// A number, as it is written.
class Digits {
  constructor(text) { this.text = text; }
}

// What is wrong with a text, and the index of the character where it is.
class JSONMistake extends Error {
  constructor(message, at) { super(message); this.at = at; }
}

// Reads a text: objects become maps, numbers `Digits`.
function readJSON(text) {
  let at = 0;
  const deepest = 100;
  const fail = (message) => { throw new JSONMistake(message, at); };
  const blank = () => { while (at < text.length && " \t\n\r".includes(text[at])) at += 1; };
  const take = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };

  function string() {
    const start = at;
    const found = take(/"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y);
    if (found !== undefined) return JSON.parse(found);
    // The place of what is wrong, and not that of the quote.
    take(/"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y);
    if (at >= text.length) { at = start; fail("this string does not end"); }
    return fail(text[at] === "\\" ? "no such escape in a string" : "a string has no line breaks and control characters");
  }

  function value(depth) {
    blank();
    if (depth > deepest) fail("it is nested too deeply");
    if (at >= text.length) fail("a value is missing");
    if (text[at] === "{") return object(depth);
    if (text[at] === "[") return list(depth);
    if (text[at] === '"') return string();
    const start = at;
    const digits = take(/-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y);
    if (digits !== undefined) {
      if (/[\w.+-]/.test(text[at] ?? "")) { at = start; fail("no number has this form"); }
      return new Digits(digits);
    }
    const word = take(/[A-Za-z_]\w*/y);
    if (word === "true" || word === "false") return word === "true";
    if (word === "null") return null;
    at = start;
    return fail(word ? `${word} is no value: texts are in double quotes` : "a value is missing");
  }

  function list(depth) {
    at += 1;
    const items = [];
    blank();
    if (text[at] === "]") { at += 1; return items; }
    for (;;) {
      items.push(value(depth + 1));
      blank();
      if (text[at] === "]") { at += 1; return items; }
      if (text[at] !== ",") fail("a comma or ] is missing");
      at += 1;
    }
  }

  function object(depth) {
    at += 1;
    const members = new Map();
    blank();
    if (text[at] === "}") { at += 1; return members; }
    for (;;) {
      blank();
      if (text[at] !== '"') fail("a name in double quotes is missing");
      const start = at;
      const name = string();
      if (members.has(name)) { at = start; fail("this name is there twice"); }
      blank();
      if (text[at] !== ":") fail("a colon is missing");
      at += 1;
      members.set(name, value(depth + 1));
      blank();
      if (text[at] === "}") { at += 1; return members; }
      if (text[at] !== ",") fail("a comma or } is missing");
      at += 1;
    }
  }

  const found = value(0);
  blank();
  if (at < text.length) fail("nothing may follow the value");
  return found;
}

// A string without characters that control a terminal or reorder what stands beside it, as JSON.
const quoted = (text) => JSON.stringify(text).replace(/[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
  (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`);

// Writes what `readJSON` reads: on one line without `indent`.
function writeJSON(value, indent = "", before = "") {
  if (value instanceof Digits) return value.text;
  if (typeof value === "string") return quoted(value);
  if (!(value instanceof Map) && !Array.isArray(value)) return String(value);
  const [open, close] = value instanceof Map ? "{}" : "[]";
  const inner = before + indent;
  const parts = value instanceof Map
    ? [...value].map(([name, each]) => `${quoted(name)}:${indent ? " " : ""}${writeJSON(each, indent, inner)}`)
    : value.map((each) => writeJSON(each, indent, inner));
  if (!parts.length) return open + close;
  return indent ? `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${before}${close}` : open + parts.join(",") + close;
}

// The same JSON with a member on each line; a text that is none stays.
function prettyJSON(text) {
  try { return writeJSON(readJSON(text), "  "); } catch { return text; }
}

// The line and the column of a character, from 1.
function positionIn(text, at) {
  const lines = text.slice(0, at).split("\n");
  return { line: lines.length, column: [...lines[lines.length - 1]].length + 1 };
}

// The index of the character at a line and a column.
function indexIn(text, line, column) {
  const lines = text.split("\n");
  const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  return Math.min(text.length, before + [...(lines[line - 1] ?? "")].slice(0, column - 1).join("").length);
}
