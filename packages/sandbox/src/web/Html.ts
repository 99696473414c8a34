/**
 * HTML that can't be broken by what is put into it: a template whose values are escaped unless they are HTML already, which
 * the type tells. Attributes have to be written in double quotes. Knows nothing of pages.
 *
 * @since 0.1.0
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

/**
 * Text that is HTML: everything in it was written in a template or escaped.
 *
 * @since 0.1.0
 * @category models
 */
export type { Html }

/**
 * What may stand in a template. What isn't there (`undefined`, `null`, `false`) leaves nothing.
 *
 * @since 0.1.0
 * @category models
 */
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

/** @since 0.1.0 @category constructors */
export const html = (strings: TemplateStringsArray, ...pieces: ReadonlyArray<Piece>): Html =>
  new Html(String.raw({ raw: strings }, ...pieces.map(write)))
