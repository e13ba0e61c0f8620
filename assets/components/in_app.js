// What stands between a picture and the app around it. Python puts this file after every component's own script there,
// and not into a file that stands alone: that has all its numbers, and asks nobody.

/**
 * @param {string} address from the page
 * @returns {Promise<ArrayBuffer | null>} what lies there; nothing, if it cannot be had
 */
export async function ask(address) {
  try {
    const response = await fetch(new URL(address, document.baseURI));
    return response.ok ? await response.arrayBuffer() : null;
  } catch {
    return null; // the server is out of reach
  }
}
