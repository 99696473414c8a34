/**
 * Text of others made safe for a terminal: what a service, a file or a person wrote must not move the cursor, change
 * colours or turn the line around. Knows nothing of where the text goes.
 */

// C0, DEL and C1; the controls of writing direction, which can make a line read as something else; half characters.
const unsafe = /[\p{Control}\p{Bidi_Control}\p{Surrogate}]/gu

const picture = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  // Unicode has a picture for each of the C0 controls, and one for DEL.
  return code < 0x20 ? String.fromCodePoint(0x2400 + code) : code === 0x7f ? "\u2421" : "\ufffd"
}

/** Shows control characters as pictures instead of sending them; line feeds and tabs stay. */
export const visible = (text: string): string =>
  text.replace(/\r\n/g, "\n").replace(unsafe, (character) => character === "\n" || character === "\t" ? character : picture(character))

/** {@link visible} on one line: a run of white space becomes one space. */
export const oneLine = (text: string): string => visible(text).replace(/\s+/g, " ").trim()

const colour = new RegExp(`${String.fromCodePoint(0x1b)}\\[[\\d;]*m`, "g")

/** Removes the colours that a library of ours has put in. */
export const withoutColour = (text: string): string => text.replace(colour, "")

/**
 * A value as JSON on one line, or indented. What a terminal could take for a command is escaped, which leaves the
 * value the same. A value that JSON doesn't know (`undefined`) is null.
 */
export const json = (value: unknown, indent?: number): string =>
  // JSON.stringify escapes the rest by itself; the line feeds of an indented text are its own.
  (JSON.stringify(value ?? null, null, indent) ?? "null").replace(/[\p{Control}\p{Bidi_Control}\u2028\u2029]/gu, (character) =>
    character === "\n" ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)
