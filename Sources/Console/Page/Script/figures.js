// Figures, as the page shows them.

function shortNumber(value) {
  if (value === null || Number.isNaN(value)) return "–";
  const units = [[1e9, "G"], [1e6, "M"], [1e4, "k"]];
  for (const [size, unit] of units) {
    if (value >= size) return `${(value / (unit === "k" ? 1e3 : size)).toFixed(1)} ${unit}`;
  }
  return value >= 100 || Number.isInteger(value) ? Math.round(value).toString() : value.toFixed(value < 1 ? 2 : 1);
}

function shortTime(seconds) {
  if (seconds === null || Number.isNaN(seconds)) return "–";
  if (seconds >= 1) return `${seconds.toFixed(seconds >= 10 ? 0 : 1)} s`;
  if (seconds >= 1e-3) return `${(seconds * 1e3).toFixed(seconds >= 1e-2 ? 0 : 1)} ms`;
  return `${Math.round(seconds * 1e6)} µs`;
}

function shortBytes(bytes) {
  if (!bytes) return "–";
  const units = ["B", "KB", "MB", "GB", "TB"];
  let index = 0;
  while (bytes >= 1024 && index < units.length - 1) { bytes /= 1024; index += 1; }
  return `${bytes.toFixed(bytes >= 100 || index === 0 ? 0 : 1)} ${units[index]}`;
}

// In the server's JSON, what is no number is a text, and what is zero is missing.
const number = (value) => (value === undefined ? 0 : value === "NaN" ? NaN : Number(value));
const numbers = (values) => (values ?? []).map(number);
const last = (values) => (values.length ? values[values.length - 1] : NaN);
