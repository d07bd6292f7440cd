// What every page needs beyond mdBook: little, and nothing from elsewhere.
(() => {
  "use strict";

  // mdBook has put the page's headings into the contents by then: what stands below them is
  // shown where it stays.
  document.addEventListener("DOMContentLoaded", () => document.documentElement.classList.add("has-contents"));

  // A page loads what draws its figures, and the print page, which holds all chapters,
  // each script once. They run in the order given: what a later chapter adds comes before
  // what follows it there.
  const names = [];
  for (const place of document.querySelectorAll("[data-figure-scripts]")) {
    let next = names.length;
    for (const name of place.dataset.figureScripts.split(" ").filter(Boolean).reverse()) {
      const at = names.indexOf(name);
      if (at < 0) names.splice(next, 0, name);
      else next = at;
    }
  }
  for (const name of names) {
    if (name.includes(".css?")) {
      const style = Object.assign(document.createElement("link"), { rel: "stylesheet" });
      style.href = path_to_root + name;
      document.head.append(style);
      continue;
    }
    const script = document.createElement("script");
    script.src = path_to_root + name;
    script.async = false;
    document.head.append(script);
  }

  // A page of “Questions people ask” comes before a section that fits as well, but not before
  // one that has these very words as its title, or in front of its colon.
  const index = window.elasticlunr?.Index.prototype;
  if (index) {
    const { search } = index;
    const isQuestion = ({ ref }) => window.search.doc_urls[ref].startsWith("questions/");
    index.search = function (words, ...options) {
      const found = search.call(this, words, ...options);
      const isTitle = ({ ref }) =>
        this.documentStore.getDoc(ref).title.split(":")[0].toLowerCase() === words.toLowerCase();
      for (const page of found) page.score *= isTitle(page) ? 10 : isQuestion(page) ? 1.5 : 1;
      return found.sort((a, b) => b.score - a.score);
    };
  }

  // A notebook that the text names is opened in the JupyterLab of `cargo learn`, while it runs.
  const notebooks = [...document.querySelectorAll("main code")].filter(({ textContent }) => /^notebooks\/\d\S*\.ipynb$/.test(textContent));
  if (notebooks.length && ["127.0.0.1", "localhost"].includes(location.hostname)) {
    const lab = fetch(`${path_to_root}assets/lab.json`, { cache: "no-cache" }).then((answer) => (answer.ok ? answer.json() : {}));
    lab.then(({ lab: address }) => {
      for (const name of address ? notebooks : []) {
        const link = Object.assign(document.createElement("a"), { href: address + name.textContent.replace("notebooks/", ""), target: "_blank", rel: "noopener" });
        name.replaceWith(link);
        link.append(name);
      }
    }).catch(() => {});
  }

  // Past the contents, for the keyboard.
  const text = document.querySelector("#mdbook-content main");
  if (text) {
    text.id = "text";
    text.tabIndex = -1;
    const skip = Object.assign(document.createElement("a"), { href: "#text", className: "skip", textContent: "Skip to the text" });
    document.body.prepend(skip);
  }

  // What scrolls sideways can be scrolled with the keyboard.
  const scrolls = "pre > code, .table-wrapper, .formula";
  const reach = () => {
    for (const element of document.querySelectorAll(scrolls)) {
      if (element.scrollWidth > element.clientWidth) element.tabIndex = 0;
    }
  };
  reach();
  addEventListener("resize", reach);

  // mdBook makes the contents' switch of a label, which no keyboard reaches.
  const contents = document.getElementById("mdbook-sidebar-toggle");
  if (contents) {
    contents.setAttribute("role", "button");
    contents.tabIndex = 0;
    contents.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      contents.click();
    });
  }

  // At #card the page is a picture of itself, for links to it, and at #thumbnail its figure.
  if (["#card", "#thumbnail"].includes(location.hash)) {
    const content = document.querySelector("main");
    const [title, figure] = [content.querySelector("h1"), content.querySelector("figure, .first-look")];
    const about = document.createElement("p");
    about.textContent = document.querySelector('meta[name="description"]').content.replace("The question of this chapter: ", "");
    const card = document.createElement("main");
    card.className = location.hash.slice(1);
    const text = document.createElement("div");
    text.append(Object.assign(document.createElement("b"), { className: "menu-title", textContent: "Many Heads" }), title, about);
    card.append(text, figure ?? "");
    document.body.replaceChildren(card);
    const fit = () => {
      const [wide, high] = [text.offsetWidth ? 580 : 440, text.offsetWidth ? 540 : 230];
      figure.style.zoom = Math.min(wide / figure.scrollWidth, high / figure.scrollHeight);
    };
    if (figure) addEventListener("load", () => setTimeout(fit, 1500));
  }

  // A printed page cannot be unfolded.
  addEventListener("beforeprint", () => {
    for (const folded of document.querySelectorAll("main details")) folded.open = true;
  });
})();
