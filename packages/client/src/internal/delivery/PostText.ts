/**
 * Compares a listed post with one that was sent, by text and media alone. Services change texts when they store them: line
 * ends, white space, Unicode form, HTML escapes, truncation.
 *
 * Source: interface v1, "Resources and their fields", which does not document changes of texts.
 *
 * @since 0.1.0
 */
import type { NewPost } from "@plaza/domain/Requests"
import type { Post } from "@plaza/domain/Resources"

/**
 * - `same`: equal but for changes that services make.
 * - `possible`: the listed fields leave open whether it is the same post.
 * - `different`: another post.
 *
 * @since 0.1.0
 * @category models
 */
export type Resemblance = "same" | "possible" | "different"

const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: "\"", apos: "'", nbsp: " " }

const reference = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos|nbsp));/g

const character = (code: number): string => code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd"

const unescapedOnce = (text: string): string =>
  text.replace(reference, (_, decimal?: string, hex?: string, name?: string) =>
    name !== undefined
      ? named[name] ?? ""
      : character(decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal)))

// A text with more levels of escapes was written with them. Each round reads the whole text.
const unescapingRounds = 3

/** The text without escapes, which a service may apply more than once. */
const unescaped = (text: string): string => {
  let plain = text
  for (let round = 0; round < unescapingRounds; round++) {
    plain = unescapedOnce(plain)
  }
  return plain
}

// HTML has about two thousand named characters.
const unknownReference = /&[A-Za-z][A-Za-z0-9]{1,30};/

/**
 * A text in a normal form: equal for texts that can't be distinguished once they are stored.
 *
 * @since 0.1.0
 * @category normalisation
 */
export const canonical = (text: string): string => unescaped(text).normalize("NFC").replace(/\s+/g, " ").trim()

/** The letters and digits of a text, which every change but truncation leaves as they are. */
const essence = (text: string): string => unescaped(text).normalize("NFKD").toLowerCase().replace(/[^\p{L}\p{N}]/gu, "")

/** A text without the traces of truncation: an ellipsis, or half of an escape at its end. */
const withoutCut = (text: string): string => text.replace(/(?:\u2026|\.\.\.)\s*$/, "").replace(/&#?\w{0,8}$/, "")

const wordsOf = (text: string): ReadonlySet<string> =>
  new Set(unescaped(text).normalize("NFKD").toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])

/** Whether most words of one text are in the other, as in a text with changed markup, names or links. */
const sharesWords = (sent: string, listed: string): boolean => {
  const [one, other] = [wordsOf(sent), wordsOf(listed)]
  const shared = [...one].filter((word) => other.has(word)).length
  return shared > Math.min(one.size, other.size) / 2
}

const textResemblance = (sent: string, listed: string): Resemblance => {
  if (canonical(sent) === canonical(listed)) {
    return "same"
  }
  if (sharesWords(sent, listed) || unknownReference.test(unescaped(listed))) {
    return "possible"
  }
  const whole = essence(sent)
  // An escape may be cut in its stored form or in its decoded form.
  const shown = [listed, withoutCut(listed), withoutCut(unescaped(listed)), withoutCut(unescaped(withoutCut(listed)))]
  return shown.some((text) => whole.startsWith(essence(text))) ? "possible" : "different"
}

const mediaResemblance = (sent: ReadonlyArray<string>, listed: ReadonlyArray<string>): Resemblance =>
  JSON.stringify([...sent].sort()) === JSON.stringify([...listed].sort())
    ? "same"
    : listed.length === 0 || listed.some((id) => sent.includes(id))
    ? "possible"
    : "different"

/**
 * Compares a post that was sent with one that is listed.
 *
 * @since 0.1.0
 * @category comparison
 */
export const resemblance = (sent: NewPost, listed: Pick<Post, "text" | "mediaIds">): Resemblance => {
  const listedMedia = listed.mediaIds ?? []
  const media = mediaResemblance(sent.mediaIds ?? [], listedMedia)
  const text = textResemblance(sent.text ?? "", listed.text ?? "")
  if (media === "different" || text === "different") {
    return "different"
  }
  // Null, omitted and empty media may all mean that lists leave out media. Then an equal text is enough.
  const isShown = media === "same" || (listedMedia.length === 0 && canonical(sent.text ?? "") !== "")
  return text === "same" && isShown ? "same" : "possible"
}
