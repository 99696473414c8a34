/**
 * What each failure of a call means, and what the user can do. Names no command: a program passes its own instructions
 * as {@link Overrides}.
 *
 * Source: interface v1, "Errors" and "Retry rules".
 */
import type { Category, ErrorCode, UnrecognizedError } from "@plaza/domain/Errors"
import { type OperationName, operations } from "@plaza/domain/Operations"
import { texts } from "@plaza/domain/OperationTexts"

export interface Remediation {
  /** What happened, as a clause without a full stop. */
  readonly summary: string
  /** What to do, as a sentence in the imperative. */
  readonly action: string
}

/** Instructions of a program in place of the general ones. */
export interface Overrides {
  /** What to do when the service rejects the key or the key lacks a scope. Precedes the general instruction. */
  readonly key?: string
  /** What to do when the outcome of an operation is unknown. */
  readonly outcomeUnknown?: Partial<Readonly<Record<OperationName, string>>>
}

const developers = "in the web app under Settings, then Developers"

export const byCode: Readonly<Record<ErrorCode, Remediation>> = {
  VALIDATION_ERROR: { summary: "the service rejects a value", action: "Correct that value and run the command again." },
  INVALID_JSON: { summary: "the service rejects the JSON", action: "Correct the JSON and run the command again." },
  INVALID_API_KEY: { summary: "the service rejects the API key", action: `Use an active key. Create one ${developers}.` },
  INSUFFICIENT_SCOPE: { summary: "the API key lacks a scope", action: `Create a key with this scope ${developers}, and use it.` },
  DEVELOPER_ACCESS_REVOKED: {
    summary: "developer access of the account is suspended or revoked",
    action: "Contact the service's support. No key of this account works until access is granted again."
  },
  PROFILE_INCOMPLETE: {
    summary: "the account can't write yet",
    action: "Add a profile photo and a cover in the web app, then run the command again."
  },
  CHAT_NOT_ALLOWED: { summary: "the account can't message this user", action: "Ask the user to follow or message the account first." },
  CHAT_BLOCKED: {
    summary: "the account can't message this user",
    action: "One of the two accounts blocks the other. Unblock it in the web app."
  },
  STORE_BLOCKED: { summary: "the store blocks this account", action: "Ask the owner of the store." },
  USER_UNAVAILABLE: { summary: "the user is blocked, private or suspended", action: "Check the id, or use another user." },
  FORBIDDEN: { summary: "the account does not have permission", action: "Check the id: it may belong to another account." },
  NOT_FOUND: { summary: "not found", action: "Check the id or the path. The account may not have access to it." },
  CONFLICT: {
    summary: "the request conflicts with the current state",
    action: "Check the current state: the change may already be made."
  },
  PAYLOAD_TOO_LARGE: { summary: "the request is too large", action: "Send a smaller request." },
  RATE_LIMITED: { summary: "the rate limit or a quota is used up", action: "Run the command again later." },
  INTERNAL_ERROR: { summary: "the service has a fault", action: "Run the command again later." }
}

/** For codes that the document doesn't list, by the category of their status. */
export const byCategory: Readonly<Record<Category, Remediation>> = {
  InvalidRequest: { summary: "the service rejects the request", action: "Check the input and the base URL." },
  Unauthenticated: byCode.INVALID_API_KEY,
  Forbidden: { summary: byCode.FORBIDDEN.summary, action: "Check the id, the scopes of the key, and the account in the web app." },
  NotFound: byCode.NOT_FOUND,
  Conflict: byCode.CONFLICT,
  TooLarge: byCode.PAYLOAD_TOO_LARGE,
  RateLimited: byCode.RATE_LIMITED,
  ServiceFault: byCode.INTERNAL_ERROR
}

const checkBaseUrl = "Check that the base URL is correct and ends with /open/v1, and check any proxy."

/** For responses that are not those of the interface, such as a proxy's page. */
export const foreign = ({ category, details, status }: UnrecognizedError): Remediation => {
  if (details["isIncomplete"] === true) {
    return {
      summary: "the response was cut before its end",
      action: "Check the connection and any proxy before you run the command again."
    }
  }
  switch (category) {
    case "ServiceFault":
      return {
        summary: status < 300 ? "the response can't be read" : "a gateway can't reach the service",
        action: `Run the command again later. If it fails again: ${checkBaseUrl}`
      }
    case "RateLimited":
      return { summary: "a gateway limits the requests", action: byCode.RATE_LIMITED.action }
    case "TooLarge":
      return { summary: "the request is too large for a gateway", action: byCode.PAYLOAD_TOO_LARGE.action }
    case "InvalidRequest":
    case "Unauthenticated":
    case "Forbidden":
    case "NotFound":
    case "Conflict":
      return { summary: "the response is not from the service", action: checkBaseUrl }
  }
}

/** A scope in a text, in the form that the document gives. */
const scope = /(?<![\w:/])[a-z][a-z_-]*:[a-z][a-z_-]*(?![\w:/])/

/**
 * What to do about a key without a scope. Names the scope if the service names it.
 * Source: interface v1, "Authentication", rule 6.
 */
export const forScope = (texts: ReadonlyArray<string>): string => {
  const name = texts.flatMap((text) => scope.exec(text)?.[0] ?? [])[0]
  return name === undefined ? byCode.INSUFFICIENT_SCOPE.action : `Create a key with the scope ${name} ${developers}, and use it.`
}

/** What to check after a refusal of a write that an earlier attempt, or a request that a proxy passed on, may have made. */
export const doubtful = "The change may have been made all the same, by an earlier attempt or through a proxy: check it."

const isOperation = (name: string): name is OperationName => Object.hasOwn(operations, name)

/**
 * What to do about a call with an unknown outcome, also of an operation that the document doesn't show.
 * Source: interface v1, "Retry rules".
 */
export const forOutcome = (operation: string, { outcomeUnknown = {} }: Overrides = {}): string =>
  isOperation(operation)
    ? outcomeUnknown[operation] ?? texts[operation].whenUnknown
    : "Check in the web app whether the change was made before you run the command again."

/** What to do about a success that can't be read. */
export const forUnreadable = (operation: string): string => {
  const delivery = isOperation(operation) ? operations[operation].delivery : undefined
  return delivery === "Read"
    ? checkBaseUrl
    : delivery === "Repeatable"
    ? `The change was probably made. ${forOutcome(operation)} ${checkBaseUrl}`
    : "Don't run the command again: the change was probably made. Check it in the web app, and check any proxy."
}

const reasons: ReadonlyArray<readonly [reason: RegExp, action: string]> = [
  [/^PROXY_/, "Check the proxy in HTTPS_PROXY or HTTP_PROXY. NO_PROXY names the hosts that need none."],
  [/^(ENOTFOUND|EAI_)/, "Check the host name in the base URL, and the network of this machine."],
  [/^ECONNREFUSED$/, "Check the host and port in the base URL, and that the service is running."],
  [/^(EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL)$/, "Check the network of this machine."],
  [/TIMEOUT|TIMEDOUT/, "Check the host and port in the base URL, and any firewall."],
  [/^CERT_HAS_EXPIRED$/, "The certificate has expired. Check the clock of this machine, or ask the service's operator to renew it."],
  [/^CERT_NOT_YET_VALID$/, "The certificate is not valid yet. Check the clock of this machine."],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, "The certificate is for another host. Check the host name in the base URL."],
  [
    /SELF_SIGNED|ISSUER|^UNABLE_TO_VERIFY|^CERT_|^ERR_TLS_CERT/,
    "This machine does not trust the certificate. If you do, set NODE_EXTRA_CA_CERTS to a file with the certificate of its issuer."
  ],
  [/^ERR_SSL_/, "The server does not speak TLS. Check the port, and https or http, in the base URL."]
]

/** What to do when a connection failed, by the reason that Node reports. */
export const forReason = (reason: string): string =>
  reasons.find(([pattern]) => pattern.test(reason))?.[1] ?? "Check the base URL and the network of this machine."
