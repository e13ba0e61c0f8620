// Bars that share 100% among answers: one takes the share that it is dragged to, and the others keep their proportions.

/**
 * A slider for each answer, with its share; true shares, once known, stand under the bars.
 * @param {{label: string, answers: string[], given?: number[] | null, start?: number[] | null, shares?: number[], means?: number[]}} asked true
 *   shares, and the class's mean ones, are in percent; they stand alone if there was no guess
 * @param {string} send the label of the button that submits
 * @param {(values: number[]) => void} take
 */
function bars({ label, answers, given, start, shares, means }, send, take) {
  const form = make("form", "bars");
  form.setAttribute("aria-label", label);
  // Once the truth is known, bars are scaled like the true ones below them.
  const stand = shares ? given?.map((each) => (100 * each) / (sum(given) || 1)) : (given ?? start);
  const rows = answers.map((answer, index) => {
    const row = make("label", "shared");
    const input = make("input");
    Object.assign(input, { type: "range", min: "0", max: "100", step: "any", disabled: Boolean(shares) });
    input.value = String(stand?.[index] ?? 100 / answers.length);
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
  const values = () => rows.map(({ input }) => Number(input.value));
  const show = () => wholes(values()).forEach((whole, index) => (rows[index].share.textContent = `${whole}%`));
  show();
  if (shares) return form;
  // As they stood before this one was dragged.
  let before = values();
  form.onchange = () => (before = values());
  form.oninput = ({ target }) => {
    shareRest(rows.map(({ input }) => input), target, before);
    show();
    setText(button, send);
  };
  const button = make("button", "framed", given ? message("Sent ✓") : send);
  form.append(button);
  form.onsubmit = (event) => {
    event.preventDefault();
    take(wholes(values()));
  };
  return form;
}

/** Share what one bar leaves of 100% among the others in the proportions that they had, or evenly if they had nothing. */
function shareRest(inputs, moved, before) {
  const rest = 100 - Number(moved.value);
  const others = sum(before.filter((_, index) => inputs[index] !== moved));
  inputs.forEach((input, index) => {
    if (input !== moved) input.value = String(rest * (others ? before[index] / others : 1 / (inputs.length - 1)));
  });
}

/** Shares as whole percents that add up to 100: those with the largest remainders are rounded up. */
function wholes(values) {
  const total = sum(values) || 1;
  const shares = values.map((value) => (100 * value) / total);
  const whole = shares.map(Math.floor);
  const order = shares.map((_, index) => index).sort((one, other) => shares[other] % 1 - (shares[one] % 1));
  for (const index of order.slice(0, 100 - sum(whole))) whole[index] += 1;
  return whole;
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
