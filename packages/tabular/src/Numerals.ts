/**
 * Reads whole numbers as people and programs write them. A separator can group thousands or begin a fraction. A text with one reading as a
 * whole number is read, and one with several is rejected, unless settings say which separator is which.
 */

/** What the separators of a source mean. Undefined: as each number shows. */
export interface Separators {
  readonly decimal?: Decimal | undefined
  readonly thousands?: Thousands | undefined
}

export const decimals = [".", ","] as const
export type Decimal = (typeof decimals)[number]

/** `none`: no separator groups thousands. */
export const thousands = [".", ",", "'", "space", "none"] as const
export type Thousands = (typeof thousands)[number]

export type Reading =
  | {
    readonly _tag: "Whole"
    readonly value: number
    /** The separator of a text such as "5.500", which would be a fraction if the separator began one. */
    readonly doubtful?: Decimal
    readonly decimal?: Decimal
  }
  | { readonly _tag: "Fraction"; readonly decimal: Decimal }
  /** Such as "1.000": one, or a thousand. */
  | { readonly _tag: "Ambiguous" }
  | { readonly _tag: "NoNumber" }

const shape = /^\d+(?:[.,'\u2019\s]\d+)*$/

const separatorOf = (character: string): Thousands => {
  switch (character) {
    case ".":
    case ",":
      return character
    case "'":
    case "\u2019":
      return "'"
    default:
      return "space"
  }
}

const isDecimal = (separator: Thousands | undefined): separator is Decimal => separator === "." || separator === ","

/** Groups of three digits, or of two and at last three, as in India. */
const areGroups = ([first = "", ...rest]: ReadonlyArray<string>): boolean =>
  /^[1-9]\d{0,2}$/.test(first) && (rest.every((group) => group.length === 3) ||
    (first.length < 3 && rest.length > 1 && rest.at(-1)?.length === 3 && rest.slice(0, -1).every((group) => group.length === 2)))

/** The digits of a number without a fraction; undefined if its groups are none. */
const grouped = (
  parts: ReadonlyArray<string>,
  separators: ReadonlyArray<Thousands>,
  { decimal, thousands }: Separators
): string | undefined => {
  const [separator] = separators
  return separator === undefined
    ? parts[0]
    : separators.every((other) => other === separator) && (thousands === undefined ? separator !== decimal : separator === thousands) &&
        areGroups(parts)
    ? parts.join("")
    : undefined
}

/** Reads a text without a sign and without white space at its ends. */
export const read = (text: string, settings: Separators = {}): Reading => {
  if (!shape.test(text)) return { _tag: "NoNumber" }
  const parts = text.split(/[.,'\u2019\s]/)
  const separators = Array.from(text.matchAll(/[.,'\u2019\s]/g), ([character]) => separatorOf(character))
  const decimal = separators.at(-1)
  const whole = grouped(parts, separators, settings)
  const before = isDecimal(decimal) && (settings.decimal === undefined ? decimal !== settings.thousands : decimal === settings.decimal)
    ? grouped(parts.slice(0, -1), separators.slice(0, -1), { ...settings, decimal })
    : undefined
  if (before === undefined || !isDecimal(decimal)) {
    return whole === undefined ? { _tag: "NoNumber" } : { _tag: "Whole", value: Number(whole) }
  }
  const hasFraction = !/^0*$/.test(parts.at(-1) ?? "")
  return whole === undefined
    ? hasFraction ? { _tag: "Fraction", decimal } : { _tag: "Whole", value: Number(before), decimal }
    : hasFraction
    ? { _tag: "Whole", value: Number(whole), doubtful: decimal }
    : { _tag: "Ambiguous" }
}

/**
 * What the numbers of one source show about its separators. A number such as "5.500" is read as 5,500 because 5.5 is no stock; a "2.5" in the
 * same source shows that it is 5.5 all the same.
 */
export class Evidence {
  private readonly fractions = new Map<Decimal, string>()
  private readonly doubtful = new Map<Decimal, string>()

  /** `place` names the number, such as `line 3: stock "5.500"`. */
  add(reading: Reading, place: () => string): void {
    if (reading._tag === "Whole" && reading.doubtful !== undefined) {
      if (!this.doubtful.has(reading.doubtful)) this.doubtful.set(reading.doubtful, place())
    } else if ((reading._tag === "Whole" || reading._tag === "Fraction") && reading.decimal !== undefined) {
      if (!this.fractions.has(reading.decimal)) this.fractions.set(reading.decimal, place())
    }
  }

  /** Two numbers that contradict each other; undefined if there are none. */
  get contradiction(): { readonly separator: Decimal; readonly grouped: string; readonly fraction: string } | undefined {
    for (const [separator, grouped] of this.doubtful) {
      const fraction = this.fractions.get(separator)
      if (fraction !== undefined) return { separator, grouped, fraction }
    }
    return undefined
  }
}
