/**
 * Compares the text and media of a listed post with those of a sent post. Services change texts when they store them: line ends,
 * white space, Unicode form, HTML escapes, truncation. The document doesn't show such changes.
 *
 * @since 0.1.0
 */
import type { NewPost } from "@plaza-legacy/domain/Requests"
import type { Post } from "@plaza-legacy/domain/Resources"

/**
 * - `same`: equal except for changes that services make.
 * - `possible`: the listed fields don't show whether it is the same post.
 * - `different`: another post.
 */
type Match = "same" | "possible" | "different"

const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: "\"", apos: "'", nbsp: " " }

const reference = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos|nbsp));/g

const character = (code: number): string => code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd"

const unescapedOnce = (text: string): string =>
  text.replace(reference, (_, decimal?: string, hex?: string, name?: string) =>
    name !== undefined
      ? named[name] ?? ""
      : character(decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal)))

// Services escape a text once or twice. Deeper escapes are part of the text.
const unescapingRounds = 3

/** The text without HTML escapes, which a service may apply more than once. */
const unescaped = (text: string): string => {
  let plain = text
  for (let round = 0; round < unescapingRounds; round++) {
    plain = unescapedOnce(plain)
  }
  return plain
}

// An entity that `named` doesn't contain: HTML has about two thousand.
const unknownReference = /&[A-Za-z][A-Za-z0-9]{1,30};/

/**
 * The normal form of a text. Texts with equal normal forms may be indistinguishable once the service has stored them.
 *
 * @since 0.1.0
 * @category normalisation
 */
export const canonical = (text: string): string => unescaped(text).normalize("NFC").replace(/\s+/g, " ").trim()

/** The letters and digits of a text. Only truncation changes them. */
const essence = (text: string): string => unescaped(text).normalize("NFKD").toLowerCase().replace(/[^\p{L}\p{N}]/gu, "")

/** A text without the end that truncation leaves: an ellipsis, or half of an escape. */
const withoutCut = (text: string): string => text.replace(/(?:\u2026|\.\.\.)\s*$/, "").replace(/&#?\w{0,8}$/, "")

const wordsOf = (text: string): ReadonlySet<string> =>
  new Set(unescaped(text).normalize("NFKD").toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])

/** Whether most words of one text are also in the other, as after a change of markup, names or links. */
const sharesWords = (sent: string, listed: string): boolean => {
  const [one, other] = [wordsOf(sent), wordsOf(listed)]
  const shared = [...one].filter((word) => other.has(word)).length
  return shared > Math.min(one.size, other.size) / 2
}

const compareTexts = (sent: string, listed: string): Match => {
  if (canonical(sent) === canonical(listed)) {
    return "same"
  }
  if (sharesWords(sent, listed) || unknownReference.test(unescaped(listed))) {
    return "possible"
  }
  const whole = essence(sent)
  // The service may truncate a text before or after it escapes it.
  const shown = [listed, withoutCut(listed), withoutCut(unescaped(listed)), withoutCut(unescaped(withoutCut(listed)))]
  return shown.some((text) => whole.startsWith(essence(text))) ? "possible" : "different"
}

const compareMedia = (sent: ReadonlyArray<string>, listed: ReadonlyArray<string>): Match =>
  JSON.stringify([...sent].sort()) === JSON.stringify([...listed].sort())
    ? "same"
    : listed.length === 0 || listed.some((id) => sent.includes(id))
    ? "possible"
    : "different"

/**
 * Compares a sent post with a listed post.
 *
 * @since 0.1.0
 * @category comparison
 */
export const compare = (sent: NewPost, listed: Pick<Post, "text" | "mediaIds">): Match => {
  const listedMedia = listed.mediaIds ?? []
  const media = compareMedia(sent.mediaIds ?? [], listedMedia)
  const text = compareTexts(sent.text ?? "", listed.text ?? "")
  if (media === "different" || text === "different") {
    return "different"
  }
  // Null, omitted and empty media can all mean that lists omit media. Then an equal text is enough.
  const isShown = media === "same" || (listedMedia.length === 0 && canonical(sent.text ?? "") !== "")
  return text === "same" && isShown ? "same" : "possible"
}
