// The pages that the book's search gives first for some words, one per line.
(async (words, n) => {
  const bar = document.getElementById("mdbook-searchbar");
  const header = document.getElementById("mdbook-searchresults-header");
  if (!document.getElementById("mdbook-search-index")) {
    document.getElementById("mdbook-search-toggle").click();
  }
  header.innerText = "";
  bar.value = words;
  bar.dispatchEvent(new KeyboardEvent("keyup"));
  while (!header.innerText.includes(words)) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const found = [...document.querySelectorAll("#mdbook-searchresults a")];
  const root = new URL(path_to_root || ".", location.href).pathname;
  const pages = found.map((link) => new URL(link.href).pathname.slice(root.length));
  return [...new Set(pages)].slice(0, n).join("\n");
})
