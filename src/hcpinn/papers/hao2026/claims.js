// Claims: buttons choose a finding.
const chips = all(".chips button");
chips.forEach((chip) => chip.addEventListener("click", () => {
  chips.forEach((other) => other.setAttribute("aria-pressed", String(other === chip)));
  all(".claim").forEach((claim) => { claim.hidden = chip.value !== "" && claim.dataset.status !== chip.value; });
  all(".topics > section").forEach((topic) => { topic.hidden = !topic.querySelector(".claim:not([hidden])"); });
}));
