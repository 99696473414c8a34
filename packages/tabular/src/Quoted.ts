/** Shows a piece of a file inside a sentence. */

// Enough to find the cell by, not enough to flood a terminal.
const longest = 60

/** The text in double quotes on one line, shortened, control characters escaped. */
export const quoted = (text: string): string => JSON.stringify(text.length > longest ? `${text.slice(0, longest)}…` : text)
