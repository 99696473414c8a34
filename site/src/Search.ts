/**
 * The options of the search. VitePress makes the index with them, and passes them to the browser, where they search it. The browser gets the
 * text of each function, so a function stands alone.
 */
import type { Options } from "minisearch"

/** A section of a page, as VitePress stores it in the index. */
export interface Section {
  readonly id: string
  readonly title: string
  readonly titles: ReadonlyArray<string>
}

/**
 * The terms of a text of the index, or of a question if there is no field. A word of the index is stored as it is written, by its stem, and
 * by its synonyms. A question is searched by stems and synonyms, without the words that every question has.
 */
const tokenize = (text: string, field?: string): Array<string> => {
  const isQuestion = field === undefined
  const synonyms = [
    ["image", "picture", "photo", "photograph", "video", "jpg", "png"],
    ["rotate", "replace", "renew", "exchange"],
    ["duplicate", "twice", "double"],
    ["excel", "xlsx", "spreadsheet", "workbook"],
    ["offline", "network", "internet"],
    ["telemetry", "analytics", "privacy", "phone home"],
    ["minimum", "oldest", "least"],
    ["commonjs", "require", "cjs"],
    ["mock", "fake", "stub", "virtual"],
    ["clock", "time"],
    ["delete", "remove"],
    ["docker", "container", "compose", "podman"],
    ["slack", "discord", "notify", "notification", "alert"],
    ["wrong", "incorrect", "differ", "mismatch"],
    ["stock", "inventory", "quantity"],
    ["sync", "synchronise", "synchronize"],
    ["bundle", "set", "kit"],
    ["warehouse", "location"],
    ["revert", "undo", "restore", "roll back"],
    ["429", "throttle", "too many requests"],
    ["timeout", "hang", "deadline"],
    ["retry", "resend", "repeat"],
    ["published", "registry", "download", "released"],
    ["express", "fastify", "koa", "next", "hono"],
    ["kubernetes", "k8s", "helm"],
    ["cursor", "pagination", "paginate"],
    ["macos", "mac", "apple"],
    ["agent", "mcp", "ai", "llm", "claude", "copilot"],
    ["ship", "shipment", "parcel", "tracking number"],
    ["schedule", "cron"],
    ["worker", "process"],
    ["error", "failure", "exception", "fail"],
    ["ftp", "sftp"],
    ["limit", "quota", "allowance"],
    ["idempotent", "idempotency", "idempotence"],
    ["licence", "license", "licensing"],
    ["fast", "performance", "speed", "benchmark"]
  ]
  // Words that say nothing about what a question is about.
  const idle =
    " a an and any are as at be been by can could did do does for from get give had has have how i if in is it its like may me mean my need of on or our should so some than that the their them then there these this to use used using want was we what when where which while who why will with without work would you your "
  const stem = (word: string): string => {
    if (word.length < 4 || /\d/.test(word)) return word
    const singular = word.endsWith("ies") ? `${word.slice(0, -3)}y` : /[^su]s$/.test(word) ? word.slice(0, -1) : word
    const base = singular.length > 5 ? singular.replace(/([^aeiou])?(?:ing|ed)$/, "$1") : singular
    // "shipped" is "ship", "posting" is "post", "rotated" is "rotate" without its last letter, as that is.
    return base.replace(/([bdgmnprt])\1$/, "$1").replace(/e$/, "")
  }
  const words = text.split(/[\n\r\p{Z}\p{P}\p{S}]+/u).filter((word) => word !== "")
  const lower = words.map((word) => word.toLowerCase())
  const asked = lower.filter((word) => !idle.includes(` ${word} `))
  const kept = isQuestion && asked.length > 0 ? asked : lower
  const sentence = ` ${lower.join(" ")} `
  const groups = synonyms.flatMap((group, index) =>
    group.some((name) => name.includes(" ") ? isQuestion && sentence.includes(` ${name} `) : kept.some((word) => stem(word) === stem(name)))
      ? [`=${index}`]
      : []
  )
  if (isQuestion) return [...new Set([...kept.map(stem), ...groups])]
  // `setStock` is found by "stock" too.
  const parts = words.flatMap((word) => /[a-z][A-Z]/.test(word) ? word.split(/(?<=[a-z])(?=[A-Z])/).map((part) => part.toLowerCase()) : [])
  return [...lower.flatMap((word) => stem(word) === word ? [word] : [word, stem(word)]), ...parts, ...groups]
}

/** Options of MiniSearch, for the index and for questions. */
export const options = {
  options: {
    tokenize,
    // Terms have their final form.
    processTerm: (term: string) => term.startsWith("=") ? term : term.toLowerCase()
  },
  searchOptions: {
    // The title of a section says what it is about, and that of its page where it is.
    boost: { title: 4, text: 1, titles: 1.5 },
    // A person types the last word, and mistypes long ones. Numbers and synonyms are exact.
    prefix: (term: string, index: number, terms: Array<string>) =>
      term.length > 1 && !/^[=\d]/.test(term) && (term.length > 3 || index === terms.filter((other) => !other.startsWith("=")).length - 1),
    fuzzy: (term: string) => /^[=\d]/.test(term) || term.length < 4 ? false : term.length < 7 ? 1 : 2,
    weights: { prefix: 0.4, fuzzy: 0.1 },
    // Users look for an answer or a guide first, then for what a program can do, then for declarations and reasons.
    boostDocument: (id: string, _term: string, section?: Record<string, unknown>) => {
      const page = id.replace(/^.*?(?=(?:api|guides|concepts|decisions|reference)\/|[\w-]*\.html)/, "")
      // A heading of the questions without a question has no text.
      if (page.startsWith("questions")) return Array.isArray(section?.["titles"]) && section["titles"].length < 2 ? 0.2 : 3
      if (/^(?:guides\/|getting-started|sandbox-in-tests)/.test(page)) return 2
      if (page.startsWith("concepts/")) return 1.4
      if (/^(?:api|reference)\//.test(page)) return 0.3
      return /^(?:decisions|contributing|development|figures|benchmarks|sandbox-rules|glossary)/.test(page) ? 0.3 : 1
    }
  }
} satisfies { readonly options: Partial<Options<Section>>; readonly searchOptions: Options<Section>["searchOptions"] }
