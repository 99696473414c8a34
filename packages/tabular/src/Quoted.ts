/** Quotes text of a file in a message. */

// Enough to find the cell, short enough for one line of a terminal.
const maxLength = 60

/** The text in double quotes on one line, shortened, with control characters escaped. */
export const quoted = (text: string, longest = maxLength): string =>
  JSON.stringify(text.length > longest ? `${text.slice(0, longest)}…` : text)
