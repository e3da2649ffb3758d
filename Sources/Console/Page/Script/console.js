// The views, and how one gets from one to another.

// Each has a name, which is its path and that of its answers in JSON, a title, a key that leads to it, elements, the parameters
// of its requests, and a function that draws what is answered. Those with a permission are for viewers who have it.
const views = [
  new NowView(), new CallsView(), new ConnectionsView(), new TryView(), new ConfigurationView(), new LeversView(),
];
let current = views[0];

function show(name, { push = false } = {}) {
  current = views.find((view) => view.name === name) ?? views[0];
  if (push) history.pushState(null, "", `${prefix}/${current.name}`);
  document.title = `${current.title} – Console`;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === current.name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  main.replaceChildren(...current.element);
  refresher.now();
}

const nameInPath = () => location.pathname.slice(prefix.length + 1) || "now";
document.querySelector("nav").append(...views.map((view) => make("a", {
  href: `${prefix}/${view.name}`, "data-view": view.name, "aria-keyshortcuts": view.key,
  onclick: (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    show(view.name, { push: true });
    main.focus();
  },
}, view.title)));
function showLinks() {
  for (const link of document.querySelectorAll("nav a")) {
    link.hidden = !permissions.allow(views.find((view) => view.name === link.dataset.view));
  }
}
showLinks();
window.addEventListener("popstate", () => show(nameInPath()));

// Keys: / finds; others change the view.
document.addEventListener("keydown", (event) => {
  if (access.open || event.ctrlKey || event.metaKey || event.altKey) return;
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "")) {
    if (event.key === "Escape") document.activeElement.blur();
    return;
  }
  if (event.key === "/") { event.preventDefault(); main.querySelector("[data-search]")?.focus(); }
  const view = views.find((view) => view.key === event.key && permissions.allow(view));
  if (view) show(view.name, { push: true });
});

takeToken();
show(nameInPath());
