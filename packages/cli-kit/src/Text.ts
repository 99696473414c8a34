/**
 * Decodes text that a person wrote, and makes untrusted text safe for a terminal: it can't move the cursor, change colours or reverse the writing
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

const maxExcerpt = 60

/** {@link oneLine} of the beginning of a text, for a message that quotes what a person wrote. */
export const excerpt = (text: string): string => {
  const line = oneLine(text)
  return line.length > maxExcerpt ? `${line.slice(0, maxExcerpt)}...` : line
}

/** A number with its noun: `1 row`, `1,200 rows`. */
export const count = (number: number, noun: string): string => `${number.toLocaleString("en-US")} ${noun}${number === 1 ? "" : "s"}`

/** Wraps text between words. A word that is longer than the line stays whole. */
export const wrap = (text: string, width: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const word of text.split(" ")) {
    const line = lines.at(-1)
    if (line !== undefined && line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines
}

const colour = new RegExp(`${String.fromCodePoint(0x1b)}\\[[\\d;]*m`, "g")

/** Removes ANSI colours. */
export const withoutColour = (text: string): string => text.replace(colour, "")

/** Encodes JSON of any depth on one line. `JSON.parse` has no limit of the depth, `JSON.stringify` has the stack. */
const deepJson = (root: unknown): string => {
  const parts: Array<string> = []
  const left: Array<{ readonly text: string } | { readonly value: unknown }> = [{ value: root }]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if ("text" in next) {
      parts.push(next.text)
    } else if (typeof next.value !== "object" || next.value === null) {
      parts.push(JSON.stringify(next.value) ?? "null")
    } else {
      const isList = Array.isArray(next.value)
      parts.push(isList ? "[" : "{")
      left.push({ text: isList ? "]" : "}" })
      for (const [index, [name, value]] of [...Object.entries(next.value).entries()].toReversed()) {
        left.push({ value }, { text: `${index === 0 ? "" : ","}${isList ? "" : `${JSON.stringify(name)}:`}` })
      }
    }
  }
  return parts.join("")
}

const plainJson = (value: unknown, indent: number | undefined): string => {
  try {
    return JSON.stringify(value ?? null, null, indent) ?? "null"
  } catch (error) {
    if (error instanceof RangeError) return deepJson(value)
    throw error
  }
}

/** Encodes a value as JSON on one line, or indented unless it is nested very deeply. Escapes control characters. `undefined` becomes null. */
export const json = (value: unknown, indent?: number): string =>
  // JSON.stringify escapes the rest. The line feeds are those of the indentation.
  plainJson(value, indent).replace(/[\p{Control}\p{Bidi_Control}\u2028\u2029]/gu,
    (character) => character === "\n" ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** By the byte order mark, or by the zero byte beside the first letter, which occurs in no other text. */
const encodingOf = ([one, two]: Uint8Array): string =>
  (one === 0xff && two === 0xfe) || (one !== 0 && two === 0)
    ? "utf-16le"
    : (one === 0xfe && two === 0xff) || (one === 0 && two !== undefined && two !== 0)
    ? "utf-16be"
    : "utf-8"

/**
 * The text of a file that a person wrote, without a byte order mark. Programs of Windows write UTF-8 with one, and some of them, such as
 * `>` of PowerShell, UTF-16.
 */
export const decode = (bytes: Uint8Array): string => new TextDecoder(encodingOf(bytes)).decode(bytes)
