// The link between a picture and the app. Python puts this file after every component's script in the app, but not into
// self-contained files, which have all their numbers.

/**
 * @param {string} address from the page
 * @returns {Promise<ArrayBuffer | null>} the response; null if there is none
 */
export async function ask(address) {
  try {
    const response = await fetch(new URL(address, document.baseURI));
    return response.status === 200 ? await response.arrayBuffer() : null;
  } catch {
    return null; // the server is unreachable
  }
}
