// The page of the console. It draws what the server sends as text only: nothing that the server sends is read as HTML.
"use strict";

const prefix = document.documentElement.dataset.prefix;
const main = document.getElementById("main");
const statusLine = document.getElementById("status");

// An element with attributes, properties for events, and children, which are elements or texts.
function make(tag, attributes = {}, ...children) {
  const svg = ["svg", "path", "line", "text"].includes(tag);
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}
