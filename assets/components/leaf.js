// Tells the page that it can be turned, leaf by leaf. There is nothing to see.

/**
 * @typedef {object} LeafData
 * @property {string} address where its leaves can be had
 * @property {string} outline what of it no leaf changes; empty if the app has to run for every change
 */

const stateOf = remembering(() => ({}));

/** @param {Mount} mount */
export default function ({ data, parentElement }) {
  const state = stateOf(parentElement);
  const page = { ...data };
  document[LEAF] = page;
  return whenGone(state, () => {
    if (document[LEAF] === page) delete document[LEAF];
  });
}
