/** Finds how the service changes a text before it stores it. */
import { Latitude, storedText } from "@plaza/sandbox"

const { textForms } = Latitude

/** Every subset of the forms, smaller ones first. */
const subsets: ReadonlyArray<ReadonlyArray<Latitude.TextForm>> = Array.from(
  { length: 2 ** textForms.length },
  (_, bits) => textForms.filter((_, index) => (bits & (1 << index)) !== 0)
).sort((one, other) => one.length - other.length)

const apply = (text: ReadonlyArray<Latitude.TextForm>, sent: string): string => storedText({ ...Latitude.defaults, text }, sent)

const ellipsis = "\u2026"

export type StoredText = Pick<Latitude.Latitude, "text"> | Pick<Latitude.Latitude, "storedTextLength" | "ellipsis">

/**
 * The forms that turn the sent text into the stored one. Of a text that was cut, only its length: the rest shows too little. Undefined if
 * the service changes it in another way.
 */
export const recognise = (sent: string, stored: string): StoredText | undefined => {
  const whole = subsets.find((text) => apply(text, sent) === stored)
  if (whole !== undefined) return { text: whole }
  const characters = Array.from(stored)
  const isCutAt = (kept: string) => kept !== "" && subsets.some((text) => apply(text, sent).startsWith(kept))
  return isCutAt(stored)
    ? { storedTextLength: characters.length, ellipsis: false }
    : stored.endsWith(ellipsis) && isCutAt(characters.slice(0, -1).join(""))
    ? { storedTextLength: characters.length, ellipsis: true }
    : undefined
}
