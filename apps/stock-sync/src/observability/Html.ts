/**
 * HTML that can't be broken by what is put into it: a template whose values are escaped unless they are HTML already, which the type
 * tells. Attributes have to be written in double quotes. Knows nothing of pages.
 */

/** Not exported as a value, so that nothing but {@link html} makes one. */
class Html {
  readonly #text: string
  constructor(text: string) {
    this.#text = text
  }
  toString(): string {
    return this.#text
  }
}

/** Text that is HTML: everything in it was written in a template or escaped. */
export type { Html }

/** What may stand in a template; `false` leaves nothing. */
export type Piece = Html | string | number | false | ReadonlyArray<Piece>

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;" }

const write = (piece: Piece): string => {
  if (piece === false) return ""
  if (piece instanceof Html) return piece.toString()
  return typeof piece === "object" ? piece.map(write).join("") : String(piece).replace(/[&<>"']/g, (character) => entities[character] ?? "")
}

export const html = (strings: TemplateStringsArray, ...pieces: ReadonlyArray<Piece>): Html =>
  new Html(String.raw({ raw: strings }, ...pieces.map(write)))
