// The shell of the desk: Ctrl K goes to the search. Without it, everything is still there.
document.addEventListener("keydown", (event) => {
  const search = document.getElementById("seek");
  if (!search || !(event.ctrlKey || event.metaKey) || event.key !== "k") return;
  event.preventDefault();
  if (!search.offsetParent) location.hash = "menu";
  search.focus();
});
