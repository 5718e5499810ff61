(() => {
  const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));

  // Each of several concepts has candidates of its own.
  for (const section of all(".candidates")) {
    const radios = all('input[type="radio"]', section);

    const show = (index) => {
      for (const panel of all(".panel", section)) panel.hidden = panel.dataset.index !== index;
      for (const row of all("[data-row]", section)) row.classList.toggle("shown", row.dataset.row === index);
    };

    for (const radio of radios) radio.addEventListener("change", () => show(radio.value));
    for (const row of all("[data-row]", section)) {
      row.addEventListener("click", () => {
        const radio = radios.find((candidate) => candidate.value === row.dataset.row);
        radio.checked = true;
        show(radio.value);
      });
    }

    // Browsers restore the radio that was checked before a reload.
    const checked = radios.find((radio) => radio.checked);
    if (checked) show(checked.value);
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

  document.documentElement.classList.add("scripted");
})();
