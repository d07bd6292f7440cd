// The page that the book's search gives first for some words, or "" if it finds none.
(async (words) => {
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
  const first = document.querySelector("#mdbook-searchresults a");
  const root = new URL(path_to_root || ".", location.href).pathname;
  return first ? new URL(first.href).pathname.slice(root.length) : "";
})
