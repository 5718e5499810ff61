(() => {
  const all = (selector) => Array.from(document.querySelectorAll(selector));
  const radios = all('input[name="candidate"]');

  const show = (index) => {
    for (const panel of all(".panel")) panel.hidden = panel.dataset.index !== index;
    for (const row of all("[data-row]")) row.classList.toggle("shown", row.dataset.row === index);
  };

  for (const radio of radios) radio.addEventListener("change", () => show(radio.value));
  for (const row of all("[data-row]")) {
    row.addEventListener("click", () => {
      const radio = radios.find((candidate) => candidate.value === row.dataset.row);
      radio.checked = true;
      show(radio.value);
    });
  }

  for (const button of all("[data-copy]")) {
    button.addEventListener("click", async () => {
      const text = document.getElementById(button.dataset.copy).textContent;
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = "Copied";
      } catch {
        const range = document.createRange();
        range.selectNodeContents(document.getElementById(button.dataset.copy));
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
  }

  // Browsers restore the radio that was checked before a reload.
  const checked = radios.find((radio) => radio.checked);
  if (checked) show(checked.value);
  document.documentElement.classList.add("scripted");
})();
