// Fields and figures that several views have.

// A field whose value changes what is asked for.
function filterField(label, changed) {
  const field = make("input", { type: "search", "data-search": true, oninput: () => changed(field.value) });
  return make("label", {}, label, field);
}

function choice(label, options, changed) {
  const field = make("select", { onchange: () => changed(field.value) },
    ...options.map(([value, name]) => make("option", { value }, name)));
  return make("label", {}, label, field);
}

function tiles(values) {
  return values.filter(Boolean).map(([name, value, isBad]) =>
    make("div", { class: isBad ? "bad" : null }, make("dt", {}, name), make("dd", {}, value)));
}
