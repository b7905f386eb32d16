// What the theme leaves out for people who read by keys or by ear.
for (const caption of document.querySelectorAll(".caption[role=heading]")) caption.setAttribute("aria-level", "2");
document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "Contents");
document.querySelector(".toc-drawer")?.setAttribute("aria-label", "On this page");

/** Whatever scrolls sideways is reached by Tab. */
function letScroll() {
  for (const box of document.querySelectorAll("pre, .table-wrapper, dt.sig, div.math")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
addEventListener("load", letScroll);
addEventListener("resize", letScroll);
