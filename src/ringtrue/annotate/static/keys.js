// One key an answer, Enter to save, arrows to go on; questions that an answer settles are greyed.
"use strict";
const form = document.getElementById("answers");

function settle() {
  for (const fieldset of form.querySelectorAll("fieldset[data-needless]")) {
    const [name, value] = fieldset.dataset.needless.split("=");
    fieldset.disabled = new FormData(form).get(name) === value;
  }
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("textarea")) return;
  if (event.key === "Enter") {
    if (event.target.matches("a, button")) return;
    event.preventDefault();
    form.requestSubmit();
    return;
  }
  const target = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!target || target.disabled || target.closest("fieldset:disabled")) return;
  if (event.key.startsWith("Arrow") && event.target.matches("input")) event.target.blur();
  event.preventDefault();
  target.click();
});
form.addEventListener("change", settle);
settle();
