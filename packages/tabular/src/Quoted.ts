/** Quotes text of a file in a message. */

const upTo = (longest: number, text: string): string => text.length > longest ? `${text.slice(0, longest)}…` : text

/** Up to a number of characters, on one line. */
export const lineUpTo = (longest: number) => (text: string): string => upTo(longest, text.trim().replace(/\s+/g, " "))

/** Quotes up to a number of characters, on one line, with control characters escaped. */
export const quotedUpTo = (longest: number) => (text: string): string => JSON.stringify(upTo(longest, text))

/** The text in double quotes: enough to find the cell, short enough for one line of a terminal. */
export const quoted = quotedUpTo(60)
