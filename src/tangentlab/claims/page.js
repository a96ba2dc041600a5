/* The switches of a page of verdicts: which claims, which networks; links open runs. */
"use strict";
(() => {
  const pressed = (button) => button.getAttribute("aria-pressed") === "true";
  document.querySelectorAll(".filters").forEach((bar) => {
    const apply = () => {
      const off = [...bar.querySelectorAll("button[data-kind]")].filter((b) => !pressed(b)).map((b) => b.dataset.kind);
      document.querySelectorAll(bar.dataset.rows).forEach((row) => { row.hidden = off.includes(row.dataset.kind); });
    };
    bar.querySelectorAll("button[data-off]").forEach((button) => button.setAttribute("aria-pressed", "false"));
    apply();
    bar.querySelectorAll("button[data-kind]").forEach((button) => {
      button.addEventListener("click", () => {
        button.setAttribute("aria-pressed", String(!pressed(button)));
        apply();
      });
    });
  });
  document.querySelectorAll("button.open-all").forEach((button) => {
    button.addEventListener("click", () => {
      const runs = [...document.querySelectorAll("details.run")], open = runs.some((run) => !run.open);
      runs.forEach((run) => { run.open = open; });
    });
  });
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (!target) return;
    target.hidden = false;
    if (target.matches("details")) target.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();
})();
