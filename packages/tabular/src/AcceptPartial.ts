/**
 * What shows that a source is only a part, and what a reader accepts all the same: the fields of an envelope by their names, and the marks of
 * a source that was cut.
 */

/** The marks that have no field. */
export type Mark =
  /** The last row is no row. */
  | "last-row"
  /** An error message is among the rows. */
  | "error-text"
  /** The last line has no line end. */
  | "line-end"
  /** Nothing shows that the bytes are all. */
  | "length"

/** What a reader accepts. Without it, a source is not checked for these. */
export interface AcceptPartial {
  /** The names of fields and marks that are accepted. */
  readonly names: ReadonlyArray<string>
  /** The option that accepts a name, for messages. */
  readonly option: (name: string) => string
}

// Letter case and punctuation don't matter, except for the dots of a path.
const normalized = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}.]/gu, "")

export const accepts = (accepted: AcceptPartial | undefined, name: string): boolean =>
  accepted?.names.some((one) => normalized(one) === normalized(name)) === true

// A name as one word of a command line, without the comma that separates names. `accepts` ignores what is replaced.
const word = (name: string): string => name.replace(/[^\p{L}\p{N}._@:-]/gu, "-")

const refusal = (remedy: string, accepted: AcceptPartial | undefined, names: ReadonlyArray<string>, reason: string): string =>
  `${reason}. ${remedy}${accepted === undefined ? "" : `, or accept it with ${accepted.option(names.map(word).join(","))}`}`

/** Why a page of several is refused, and what to do. `names` are all fields that show it. */
export const pageRefusal = (
  accepted: AcceptPartial | undefined,
  names: ReadonlyArray<string>,
  reason: string,
  remedy = "Provide a document with all items"
): string => refusal(remedy, accepted, names, reason)

/** Why a source that was cut is refused, and what to do. */
export const cutRefusal = (accepted: AcceptPartial | undefined, mark: Mark, reason: string): string =>
  refusal("Export or transfer it again", accepted, [mark], reason)
