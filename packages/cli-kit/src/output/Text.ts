/**
 * Makes untrusted text safe for a terminal: it can't move the cursor, change colours or reverse the writing
 * direction.
 */

// C0, DEL and C1; bidirectional controls, which can reorder a line; lone surrogates.
const unsafe = /[\p{Control}\p{Bidi_Control}\p{Surrogate}]/gu

const picture = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  // Unicode has a symbol for each C0 control and for DEL.
  return code < 0x20 ? String.fromCodePoint(0x2400 + code) : code === 0x7f ? "\u2421" : "\ufffd"
}

/** Replaces control characters by their symbols. Keeps line feeds and tabs. */
export const visible = (text: string): string =>
  text.replace(/\r\n/g, "\n").replace(unsafe, (character) => character === "\n" || character === "\t" ? character : picture(character))

/** {@link visible} on one line: a run of white space becomes one space. */
export const oneLine = (text: string): string => visible(text).replace(/\s+/g, " ").trim()

const colour = new RegExp(`${String.fromCodePoint(0x1b)}\\[[\\d;]*m`, "g")

/** Removes ANSI colours. */
export const withoutColour = (text: string): string => text.replace(colour, "")

/** Encodes a value as JSON on one line, or indented. Escapes control characters. `undefined` becomes null. */
export const json = (value: unknown, indent?: number): string =>
  // JSON.stringify escapes the rest. The line feeds are those of the indentation.
  (JSON.stringify(value ?? null, null, indent) ?? "null").replace(/[\p{Control}\p{Bidi_Control}\u2028\u2029]/gu,
    (character) => character === "\n" ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)
