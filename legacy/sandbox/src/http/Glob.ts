/**
 * Matches paths against patterns with `*` for any run of characters, in linear time. The parts between the stars are searched
 * one after the other with the algorithm of Knuth, Morris and Pratt. The leftmost match of a part leaves the most room for the
 * following parts, so no backtracking is necessary.
 *
 * @since 0.1.0
 */

/** Whether a text matches, and how many characters were compared. */
export interface GlobMatch {
  readonly matches: boolean
  readonly steps: number
}

/** The failure table: for each matched length, how much stays matched if the next character differs. */
const fallbacks = (part: string): ReadonlyArray<number> => {
  const table = [0]
  let length = 0
  for (let index = 1; index < part.length; index++) {
    while (length > 0 && part[index] !== part[length]) {
      length = table[length - 1] ?? 0
    }
    length += part[index] === part[length] ? 1 : 0
    table.push(length)
  }
  return table
}

/**
 * Compiles a pattern. A match takes at most twice as many steps as text and pattern have characters.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (pattern: string): (text: string) => GlobMatch => {
  const [head = "", ...rest] = pattern.split("*")
  const tail = rest.pop()
  if (tail === undefined) {
    return (text) => ({ matches: text === pattern, steps: text.length })
  }
  const middle = rest.filter((part) => part !== "").map((part) => ({ part, table: fallbacks(part) }))
  return (text) => {
    let steps = head.length + tail.length
    const end = text.length - tail.length
    if (end < head.length || !text.startsWith(head) || !text.endsWith(tail)) {
      return { matches: false, steps }
    }
    let at = head.length
    for (const { part, table } of middle) {
      let found = 0
      while (found < part.length) {
        if (at >= end) {
          return { matches: false, steps }
        }
        steps++
        if (text[at] === part[found]) {
          at++
          found++
        } else if (found > 0) {
          found = table[found - 1] ?? 0
        } else {
          at++
        }
      }
    }
    return { matches: true, steps }
  }
}
