/**
 * The text that a cell stands for: without invisible characters at its ends and without the marks by which a spreadsheet keeps a number a
 * text.
 */

// Byte order marks, zero-width and direction marks, which copying leaves behind.
const invisible = /[\s\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/
// DOS ends a file with this character.
const substitute = 0x1a

const isInvisible = (code: number): boolean =>
  code < 0x7f ? code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === substitute : invisible.test(String.fromCharCode(code))

/**
 * The text without white space and invisible characters at its ends. A loop, because a pattern takes quadratic time over a long cell.
 */
export const trimmed = (text: string): string => {
  let start = 0
  let end = text.length
  while (start < end && isInvisible(text.charCodeAt(start))) start++
  while (start < end && isInvisible(text.charCodeAt(end - 1))) end--
  return start === 0 && end === text.length ? text : text.slice(start, end)
}

const formula = /^="((?:[^"]|"")*)"$/
// A second mark inside the first is no mark of a spreadsheet.
const nested = /^\s*(?:'|=")/

/**
 * The trimmed text, or the one inside Excel's `="..."`. A leading apostrophe, by which spreadsheets mark a text, is taken away where
 * `isUsable` accepts what follows it. An apostrophe at both ends is a quote, not a mark. What was read once is read the same again.
 */
export const plain = (cell: string, isUsable: (text: string) => boolean): string => {
  const outer = trimmed(cell)
  const inner = formula.exec(outer)?.[1]?.replaceAll("\"\"", "\"")
  const text = inner === undefined || nested.test(inner) ? outer : trimmed(inner)
  if (!text.startsWith("'") || text.endsWith("'")) return text
  const marked = trimmed(text.slice(1))
  return isUsable(marked) && !nested.test(marked) ? marked : text
}
