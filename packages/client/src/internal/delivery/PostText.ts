/**
 * Compares the text and media of a listed post with those of a sent post. Services change texts when they store them: line ends,
 * white space, Unicode form, HTML escapes, truncation, shortened links. The document doesn't show such changes.
 *
 * @since 0.1.0
 */
import type { NewPost } from "@plaza/domain/Requests"
import type { Post } from "@plaza/domain/Resources"

/**
 * - `same`: equal except for changes that keep the meaning of every character.
 * - `possible`: the service may have made it of the sent post.
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

/** A text without the end that truncation leaves: an ellipsis, half of an escape, half of an emoji's name. */
const withoutCut = (text: string): string => text.replace(/(?:\u2026|\.\.\.)\s*$/, "").replace(/(?:&#?\w{0,8}|:[\w+-]{0,40})$/, "")

/** Links, with a scheme or without, and mentions. */
const isReplaced = (word: string): boolean => word.includes("://") || word.startsWith("@") || /[\p{L}\p{N}]\.[\p{L}\p{N}]/u.test(word)

/** The words of a text, without those that services replace: links, mentions and the names of emoji. */
const keptWords = (text: string): ReadonlySet<string> =>
  new Set(
    unescaped(text).normalize("NFKD").replace(/:[\w+-]{1,40}:/g, " ").toLowerCase().split(/\s+/)
      .filter((word) => !isReplaced(word))
      .flatMap((word) => word.replace(/\p{M}/gu, "").match(/[\p{L}\p{N}]+/gu) ?? [])
  )

/** Whether a service may have made the listed text of the sent one by replacing parts of it. */
const mayBeRewritten = (sent: string, listed: string): boolean => {
  const [before, after] = [keptWords(sent), keptWords(listed)]
  // Only links or emoji: the service may replace all of it.
  if (before.size === 0) {
    return true
  }
  // The text may be cut after its first link or emoji.
  if (after.size === 0) {
    return /\p{Extended_Pictographic}/u.test(sent) || sent.split(/\s+/).some(isReplaced)
  }
  const shared = [...before].filter((word) => after.has(word)).length
  return shared > Math.min(before.size, after.size) / 2
}

const compareTexts = (sent: string, listed: string): Match => {
  if (canonical(sent) === canonical(listed)) {
    return "same"
  }
  if (canonical(sent) === "") {
    return essence(listed) === "" ? "possible" : "different"
  }
  if (unknownReference.test(unescaped(listed))) {
    return "possible"
  }
  const whole = essence(sent)
  // The service may truncate a text before or after it escapes it.
  const shown = [listed, withoutCut(listed), withoutCut(unescaped(listed)), withoutCut(unescaped(withoutCut(listed)))]
  return shown.some((text) => whole.startsWith(essence(text)) || mayBeRewritten(sent, text)) ? "possible" : "different"
}

const compareMedia = (sent: ReadonlyArray<string>, listed: ReadonlyArray<string>): Match =>
  JSON.stringify([...sent].sort()) === JSON.stringify([...listed].sort())
    ? "same"
    // The service may list media by other names, or omit them.
    : sent.length > 0
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
