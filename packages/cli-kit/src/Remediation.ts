/**
 * What each failure of a call means to the user, and what to do about it. Independent of the program and its exit
 * codes.
 *
 * Source: interface v1, "Errors" and "Retry rules".
 */
import type { OperationName } from "@plaza/client"
import type { Category } from "@plaza/domain/Category"
import type { ErrorCode } from "@plaza/domain/Errors"

export interface Remediation {
  /** What happened, as a clause without a full stop. */
  readonly meaning: string
  /** What to do, as a sentence. */
  readonly advice: string
}

const developers = "in the web app under Settings, then Developers"

export const byCode: Readonly<Record<ErrorCode, Remediation>> = {
  VALIDATION_ERROR: { meaning: "the service refuses a value", advice: "Correct the value that it names and run this again." },
  INVALID_JSON: { meaning: "the service can't read the JSON", advice: "Correct the JSON and run this again." },
  INVALID_API_KEY: {
    meaning: "the service doesn't accept the key",
    advice: `Use an active key, as by PLAZA_API_KEY: keys are made ${developers}.`
  },
  INSUFFICIENT_SCOPE: { meaning: "the key lacks a scope for this", advice: `Make a key with that scope ${developers}, and use it here.` },
  DEVELOPER_ACCESS_REVOKED: {
    meaning: "the account's developer access is suspended or revoked",
    advice: "Write to the service's support: no key of this account works until it is granted again."
  },
  PROFILE_INCOMPLETE: {
    meaning: "the account may not write yet",
    advice: "Add a profile photo and a cover in the web app, then run this again."
  },
  CHAT_NOT_ALLOWED: { meaning: "this person can't be written to", advice: "The person has to write to the account or follow it first." },
  CHAT_BLOCKED: {
    meaning: "this person can't be written to",
    advice: "One of the two has blocked the other; nothing can be done from here."
  },
  STORE_BLOCKED: { meaning: "the store has blocked this account", advice: "Ask the owner of the store." },
  USER_UNAVAILABLE: { meaning: "the user is blocked, private or suspended", advice: "Nothing can be done from here." },
  FORBIDDEN: { meaning: "this account may not do that", advice: "Check the id: it may belong to someone else." },
  NOT_FOUND: { meaning: "the service doesn't find it", advice: "Check the id or the path: it doesn't exist, or the account can't see it." },
  CONFLICT: {
    meaning: "this doesn't go with the present state",
    advice: "It may have been done already; there is no use in running it again."
  },
  PAYLOAD_TOO_LARGE: { meaning: "it is too large for the service", advice: "Send something smaller." },
  RATE_LIMITED: { meaning: "the key has used up its requests, or the account its quota for the day", advice: "Run this again later." },
  INTERNAL_ERROR: { meaning: "the service has a fault", advice: "Run this again later." }
}

/** For codes that the document doesn't list, by the category of their status. */
export const byCategory: Readonly<Record<Category, Remediation>> = {
  InvalidRequest: { meaning: "the service refuses the request", advice: "Check the input, and that the base address is the service's." },
  Unauthenticated: byCode.INVALID_API_KEY,
  Forbidden: { meaning: byCode.FORBIDDEN.meaning, advice: "Check the id, the key's scopes and the account in the web app." },
  NotFound: byCode.NOT_FOUND,
  Conflict: byCode.CONFLICT,
  TooLarge: byCode.PAYLOAD_TOO_LARGE,
  RateLimited: byCode.RATE_LIMITED,
  ServiceFault: byCode.INTERNAL_ERROR
}

const address = "Check that the base address is the service's and ends with /open/v1, and what proxy stands on the way."

/** For responses that are not the service's, a proxy's page for example. */
export const foreign = (category: Category): Remediation => {
  switch (category) {
    case "ServiceFault":
      return { meaning: "the service can't be reached behind what answers for it", advice: `Run this again later; if it stays: ${address}` }
    case "RateLimited":
      return { meaning: "something on the way to the service lets no more requests through", advice: byCode.RATE_LIMITED.advice }
    case "TooLarge":
      return { meaning: "it is too large for something on the way to the service", advice: byCode.PAYLOAD_TOO_LARGE.advice }
    case "InvalidRequest":
    case "Unauthenticated":
    case "Forbidden":
    case "NotFound":
    case "Conflict":
      return { meaning: "what answers is not the service", advice: address }
  }
}

/** The scope that an error names, by the form that the document gives scopes. */
const scope = /(?<![\w:/])[a-z][a-z_-]*:[a-z][a-z_-]*(?![\w:/])/

/**
 * What to do about a key without a scope. Names the scope if the service names it.
 * Source: interface v1, "Authentication", rule 6.
 */
export const forScope = (texts: ReadonlyArray<string>): string => {
  const name = texts.flatMap((text) => scope.exec(text)?.[0] ?? [])[0]
  return name === undefined ? byCode.INSUFFICIENT_SCOPE.advice : `Make a key with the scope ${name} ${developers}, and use it here.`
}

const reading = "Run this again: it changes nothing."
const harmless = "Run this again: a second time should change nothing more."
const inTheWebApp = (what: string) => `Look in the web app whether ${what} before you run this again: the interface can't tell.`

/**
 * What to do about a call with an unknown outcome.
 * Source: interface v1, "Retry rules".
 */
export const byOperation: Readonly<Record<OperationName, string>> = {
  getMe: reading,
  getUser: reading,
  getUserByUsername: reading,
  listPosts: reading,
  listConversations: reading,
  followUser: harmless,
  likePost: harmless,
  setStock: harmless,
  uploadMedia: "Run this again: the service may then hold a second file that no post names.",
  createPost: "Look for the post among the newest ones (plaza posts list) before you run this again.",
  shipOrder: "Run this again: a conflict then says that the order is shipped, perhaps with another carrier and number.",
  createComment: inTheWebApp("the comment is there"),
  sendMessage: inTheWebApp("the message is there"),
  createStory: inTheWebApp("the story is there")
}

const isOperation = (name: string): name is OperationName => Object.hasOwn(byOperation, name)

/** {@link byOperation} for any operation, also one that the document doesn't show. */
export const forOutcome = (operation: string): string => isOperation(operation) ? byOperation[operation] : inTheWebApp("it happened")

/** What to do about a success that can't be read. */
export const forUnreadable = (operation: string): string =>
  forOutcome(operation) === reading
    ? address
    : "Don't run this again: it most likely happened. Look at the result in the web app, and check what proxy stands on the way."

/** What to do when a connection failed, by the system's reason. */
const reasons: ReadonlyArray<readonly [reason: RegExp, advice: string]> = [
  [/^(ENOTFOUND|EAI_)/, "Check the name of the host in the base address, and this machine's network."],
  [/^ECONNREFUSED$/, "Nothing listens there: check the host and the port in the base address, and that the service runs."],
  [/^(EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL)$/, "Check this machine's network."],
  [/TIMEOUT|TIMEDOUT/, "Nothing answers there: check the host and the port in the base address, and any firewall on the way."],
  [/^CERT_HAS_EXPIRED$/, "The certificate has expired: check this machine's clock; otherwise the service's operator has to renew it."],
  [/^CERT_NOT_YET_VALID$/, "The certificate isn't valid yet: check this machine's clock."],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, "The certificate is for another host: check the host in the base address."],
  [
    /SELF_SIGNED|ISSUER|^UNABLE_TO_VERIFY|^CERT_|^ERR_TLS_CERT/,
    "This machine doesn't trust the certificate: name a file with its issuer's by NODE_EXTRA_CA_CERTS, if you do."
  ],
  [/^ERR_SSL_/, "What listens there doesn't speak TLS as it should: check the port, and https or http, in the base address."]
]

/** What to do when the service can't be reached. */
export const forReason = (reason: string): string =>
  reasons.find(([pattern]) => pattern.test(reason))?.[1] ?? "Check the base address and this machine's network."
