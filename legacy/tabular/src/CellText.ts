/** Normalises the text of a cell: removes invisible characters at its ends and the marks with which a spreadsheet keeps a number as text. */

// Byte order marks, zero-width and direction marks, which are copied along with text.
const invisible = /[\s\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/
// DOS ends a file with this character.
const substitute = 0x1a

const isInvisible = (code: number): boolean =>
  code < 0x7f ? code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === substitute : invisible.test(String.fromCharCode(code))

/** Removes white space and invisible characters at the ends. A loop, because a pattern takes quadratic time over a long cell. */
export const trim = (text: string): string => {
  let start = 0
  let end = text.length
  while (start < end && isInvisible(text.charCodeAt(start))) start++
  while (start < end && isInvisible(text.charCodeAt(end - 1))) end--
  return start === 0 && end === text.length ? text : text.slice(start, end)
}

const formula = /^="((?:[^"]|"")*)"$/
// A mark inside a mark is not one of a spreadsheet.
const nested = /^\s*(?:'|=")/

/**
 * The trimmed text, or the text inside Excel's `="..."`. A leading apostrophe, the text mark of spreadsheets, is removed if `isUsable`
 * accepts the rest. Apostrophes at both ends are quotes and stay. Idempotent.
 */
export const normalize = (cell: string, isUsable: (text: string) => boolean): string => {
  const outer = trim(cell)
  const inner = formula.exec(outer)?.[1]?.replaceAll("\"\"", "\"")
  const text = inner === undefined || nested.test(inner) ? outer : trim(inner)
  if (!text.startsWith("'") || text.endsWith("'")) return text
  const marked = trim(text.slice(1))
  return isUsable(marked) && !nested.test(marked) ? marked : text
}
