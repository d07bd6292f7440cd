// What a reader sets in the explorer of heads: one of a list, one of a few buttons, and what
// a button does.
"use strict";
window.headControls = (() => {
  const { element } = window.headWords;

  function choice(label, options, changed) {
    const select = element("select");
    select.addEventListener("change", () => changed(select.value));
    const made = element("label", {}, element("span", {}, label), select);
    const fill = (list) => select.replaceChildren(...list.map(([value, text]) => element("option", { value }, text)));
    fill(options);
    return { element: made, select, fill };
  }

  function buttons(label, options, changed) {
    const made = element("div", { className: "explorer-choice" });
    made.setAttribute("role", "group");
    made.setAttribute("aria-label", label);
    for (const [key, text] of options) {
      const button = element("button", { type: "button", value: key }, text);
      button.addEventListener("click", () => changed(key));
      made.append(button);
    }
    const press = (key) => [...made.children].forEach((button) => button.setAttribute("aria-pressed", String(button.value === key)));
    return { element: made, press };
  }

  function button(name, run) {
    const made = element("button", { type: "button" }, name);
    made.addEventListener("click", run);
    return made;
  }

  return { choice, buttons, button };
})();
