"""What a page shows that it should not, as a script that runs in the page: a function of what is not ours, which returns a
list of findings."""

SCRIPT = r"""(() => {
  const found = [];
  const shown = (selector) => [...document.querySelectorAll(selector)].filter((each) => each.offsetParent);
  const wide = document.scrollingElement.scrollWidth;
  if (wide > innerWidth) found.push(`it is ${wide} wide`);
  if (!document.title) found.push('it has no title');
  if (shown('h1').length !== 1) found.push(`it has ${shown('h1').length} headings of the first level`);
  let level = 1;
  for (const heading of shown('main h2, main h3, main h4, main h5, main h6')) {
    const next = Number(heading.tagName[1]);
    if (next > level + 1) found.push(`a heading skips a level: ${heading.innerText}`);
    level = next;
  }

  // A color as red, green, blue and opacity.
  const parts = (text) => { const [red, green, blue, opacity = 1] = text.match(/[\d.]+/g).map(Number); return [red, green, blue, opacity]; };
  const over = (front, back) => [0, 1, 2].map((i) => front[i] * front[3] + back[i] * (1 - front[3]));
  const light = (color) => {
    const [red, green, blue] = color.map((value) => value / 255).map((value) => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const behind = (element) => {
    if (!element) return matchMedia('(prefers-color-scheme: dark)').matches ? [0, 0, 0] : [255, 255, 255];
    const style = getComputedStyle(element);
    if (style.backgroundImage !== 'none') return null;
    const color = parts(style.backgroundColor);
    const back = color[3] < 1 ? behind(element.parentElement) : color;
    return back && over(color, back);
  };
  const faint = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.data.trim(), element = walker.currentNode.parentElement;
    if (!text || !element.offsetParent || element.closest(NOT_OURS)) continue;
    const style = getComputedStyle(element), back = behind(element);
    if (style.visibility !== 'visible' || !back) continue;
    const [low, high] = [light(over(parts(style.color), back)), light(back)].sort((a, b) => a - b);
    const size = parseFloat(style.fontSize), isLarge = size >= 24 || size >= 18.66 && style.fontWeight >= 700;
    const ratio = (high + 0.05) / (low + 0.05), least = isLarge ? 3 : 4.5;
    const kind = element.tagName + '.' + element.className;
    if (ratio < least && !faint.has(kind)) found.push(`the contrast is ${ratio.toFixed(2)}, and not ${least}: ${kind}: ${text.slice(0, 60)}`);
    if (ratio < least) faint.add(kind);
  }
  return found;
})()"""


def script(not_ours="script, style, noscript"):
    """Looks at all but what this selector names."""
    return SCRIPT.replace("NOT_OURS", repr(not_ours))
