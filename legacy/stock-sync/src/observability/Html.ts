/**
 * An HTML template literal that escapes every value which is not HTML already. Attributes must be in double quotes.
 */

/** Not exported as a value, so that only {@link html} creates instances. */
class Html {
  readonly #text: string
  constructor(text: string) {
    this.#text = text
  }
  toString(): string {
    return this.#text
  }
}

/** HTML whose interpolated values were escaped. */
export type { Html }

/** An interpolated value; `false` renders nothing. */
export type Piece = Html | string | number | false | ReadonlyArray<Piece>

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;" }

const write = (piece: Piece): string => {
  if (piece === false) return ""
  if (piece instanceof Html) return piece.toString()
  return typeof piece === "object" ? piece.map(write).join("") : String(piece).replace(/[&<>"']/g, (character) => entities[character] ?? "")
}

export const html = (strings: TemplateStringsArray, ...pieces: ReadonlyArray<Piece>): Html =>
  new Html(String.raw({ raw: strings }, ...pieces.map(write)))
