/** An HTML template literal that escapes every value except HTML. Attributes must be in double quotes. */

/** Not exported as a value, so that only {@link html} creates one. */
class Html {
  readonly #text: string
  constructor(text: string) {
    this.#text = text
  }
  toString(): string {
    return this.#text
  }
}

/** Safe HTML: each part was written in a template or escaped. */
export type { Html }

/** A value in a template. `undefined`, `null` and `false` render nothing. */
export type Piece = Html | string | number | null | undefined | false | ReadonlyArray<Piece>

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;" }

const write = (piece: Piece): string =>
  piece === undefined || piece === null || piece === false
    ? ""
    : piece instanceof Html
    ? piece.toString()
    : typeof piece === "object"
    ? piece.map(write).join("")
    : String(piece).replace(/[&<>"']/g, (character) => entities[character] ?? "")

export const html = (strings: TemplateStringsArray, ...pieces: ReadonlyArray<Piece>): Html =>
  new Html(String.raw({ raw: strings }, ...pieces.map(write)))
