// How many periods the server keeps, and how many of them a line of the table draws.
const periods = 180;
const recentPeriods = 36;

// A chart of some curves: { name, values, style }. `shown` makes a text of a value.
function chart(title, curves, step, shown) {
  const width = 600, height = 140, top = 14, bottom = 16;
  const values = curves.flatMap((curve) => curve.values).filter((value) => !Number.isNaN(value));
  const most = Math.max(...values, 0) || 1;
  const y = (value) => height - bottom - ((height - bottom - top) * value) / most;
  const picture = make("svg", {
    viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img",
    "aria-label": `${title}: ${curves.map((curve) => `${curve.name} ${shown(last(curve.values))}`).join(", ")}`,
  });
  for (const part of [0, 0.5, 1]) {
    picture.append(make("line", { class: "grid-line", x1: 0, x2: width, y1: y(most * part), y2: y(most * part) }));
  }
  for (const curve of curves) {
    // The latest is at the right, however many there are.
    const first = periods - curve.values.length;
    const x = (index) => (width * (first + index)) / (periods - 1);
    picture.append(make("path", { class: `curve ${curve.style}`, d: pathOf(curve.values, x, y) }));
  }
  const minutes = Math.round((periods * step) / 60);
  return make("figure", {},
    make("figcaption", {}, make("b", {}, title), ...curves.map((curve) => make("span", {},
      make("span", { class: `key ${curve.style}` }), `${curve.name} ${shown(last(curve.values))}`)),
      make("span", { class: "wide" }, `up to ${shown(most)}, ${minutes} min`)),
    picture);
}

function pathOf(values, x, y) {
  let path = "", isDown = false;
  values.forEach((value, index) => {
    if (Number.isNaN(value)) { isDown = false; return; }
    path += `${isDown ? "L" : "M"}${x(index).toFixed(1)} ${y(value).toFixed(1)}`;
    // A value between gaps is a short line.
    if (!isDown && Number.isNaN(values[index + 1] ?? NaN)) path += "h-2";
    isDown = true;
  });
  return path;
}

function rowChart(values) {
  const most = Math.max(...values, 0) || 1;
  const picture = make("svg", { class: "row-chart", viewBox: "0 0 100 20", preserveAspectRatio: "none", "aria-hidden": "true" });
  const first = recentPeriods - values.length;
  picture.append(make("path", { class: "curve one",
    d: pathOf(values, (index) => (100 * (first + index)) / (recentPeriods - 1), (value) => 18 - (16 * value) / most) }));
  return picture;
}

// The three charts of calls.
function chartsOf(series, step) {
  return make("div", { class: "charts" },
    chart("Calls per second", [
      { name: "ended", values: numbers(series.rate), style: "one" },
      { name: "failed", values: numbers(series.errors), style: "three" },
    ], step, shortNumber),
    chart("Duration", [
      { name: "median", values: numbers(series.median), style: "one" },
      { name: "p90", values: numbers(series.p90), style: "two" },
      { name: "p99", values: numbers(series.p99), style: "three" },
    ], step, shortTime),
    chart("Calls in progress", [{ name: "now", values: numbers(series.inFlight), style: "one" }], step, shortNumber));
}
