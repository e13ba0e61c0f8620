// Bars that share 100% among answers; their relative lengths are the guess.

/**
 * A slider for each answer, with its share; true shares, once known, stand under the bars.
 * @param {{label: string, answers: string[], given?: number[] | null, shares?: number[], means?: number[]}} asked true
 *   shares, and the class's mean ones, are in percent; they stand alone if there was no guess
 * @param {string} send the label of the button that submits
 * @param {(values: number[]) => void} take
 */
function bars({ label, answers, given, shares, means }, send, take) {
  const form = make("form", "bars");
  form.setAttribute("aria-label", label);
  // Once the truth is known, bars are scaled like the true ones below them.
  const stand = shares ? given?.map((each) => (100 * each) / (sum(given) || 1)) : given;
  const rows = answers.map((answer, index) => {
    const row = make("label", "bar");
    const input = make("input");
    Object.assign(input, { type: "range", min: "0", max: "100", disabled: Boolean(shares) });
    if (shares) input.step = "any";
    input.value = String(stand?.[index] ?? Math.round(100 / answers.length));
    input.dataset.answer = String(index);
    const share = make("output", "share");
    row.append(make("bdi", "name", visible(answer)), input, share);
    if (shares) {
      row.append(...(means ? [drawn(means[index], "mean", message("class"))] : []), drawn(shares[index], "truth"));
      input.hidden = share.hidden = !given?.length;
    }
    form.append(row);
    return { input, share };
  });
  const show = () => {
    const total = sum(rows.map(({ input }) => Number(input.value)));
    for (const { input, share } of rows) {
      share.textContent = total ? `${Number(((100 * Number(input.value)) / total).toFixed(1))}%` : "–";
    }
    return total;
  };
  show();
  if (shares) return form;
  form.oninput = () => {
    show();
    setText(button, send);
  };
  const button = make("button", "framed", given ? message("Sent ✓") : send);
  form.append(button);
  form.onsubmit = (event) => {
    event.preventDefault();
    if (show()) take(rows.map(({ input }) => Number(input.value)));
  };
  return form;
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

/** A share in percent, as a bar and a number. */
function drawn(share, look, name = "") {
  const found = make("span", `drawn ${look}`);
  const length = make("i");
  length.style.width = `${share}%`;
  found.append(length, make("b", "", `${name} ${share.toFixed(1)}%`.trim()));
  return found;
}
