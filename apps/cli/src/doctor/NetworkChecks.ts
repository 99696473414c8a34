/** Checks the proxy, the host name and the TLS certificate. Sends nothing over the connection. */
import * as ConfigIssue from "@plaza/cli-kit/ConfigIssue"
import * as Remediation from "@plaza/cli-kit/Remediation"
import { Settings, TransportReason } from "@plaza/client"
import * as Node from "@plaza/client/node"
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { lookup } from "node:dns/promises"
import { isIP } from "node:net"
import { connect, type TLSSocket } from "node:tls"
import { type Check, failed, ok, unknown, warning } from "./Check.ts"

const reasonOf = (cause: unknown): string => TransportReason.reasonOfCause(cause, "Transport").reason

/** Fails with the reason. */
const inTime = <A>(effect: Effect.Effect<A, string>, limit: Duration.Input): Effect.Effect<A, string> =>
  Effect.timeoutOrElse(effect, { duration: limit, orElse: () => Effect.fail("ETIMEDOUT") })

const variable = (name: string) => Effect.orElseSucceed(Config.option(Config.String(name)), () => Option.none<string>())

/** The first of these variables that is set, or its lower-case form, which precedes it. */
const firstSet = (...names: ReadonlyArray<string>): Effect.Effect<string | undefined> =>
  Effect.map(
    Effect.filter(names.flatMap((name) => [name.toLowerCase(), name]), (name) => Effect.map(variable(name), Option.isSome)),
    ([first]) => first
  )

const proxyVariables = ({ protocol }: URL): ReadonlyArray<string> => protocol === "https:" ? ["HTTPS_PROXY", "HTTP_PROXY"] : ["HTTP_PROXY"]

// A host of this machine needs no proxy, but its lookup reads all proxy variables.
const thisMachine = new URL("http://localhost")

/** Which proxy connects to the service, and from which variable. Without a URL, whether the proxy variables are valid. */
export const proxy = (url: URL | undefined): Effect.Effect<readonly [check: Check, address: string | undefined]> =>
  Effect.matchEffect(Node.proxyFor(url ?? thisMachine), {
    onFailure: (error) => {
      const { message, variable } = ConfigIssue.of(error)
      return Effect.succeed([failed("proxy", message, "Correct or remove that variable.", { proxy: null, variable }), undefined] as const)
    },
    onSuccess: Effect.fnUntraced(function*(address) {
      if (url === undefined) return [unknown("proxy", "not checked: there is no base URL"), undefined] as const
      const variable = yield* firstSet(...proxyVariables(url))
      const details = { proxy: Option.getOrNull(address), variable: variable ?? null }
      if (Option.isSome(address)) {
        return [ok("proxy", `${url.host} is reached through ${address.value} from ${variable}`, details), address.value] as const
      }
      const why = variable === undefined
        ? ""
        : `: ${Settings.isLoopback(url.hostname) ? "it is this machine" : `${yield* firstSet("NO_PROXY")} excepts it from ${variable}`}`
      return [ok("proxy", `${url.host} is reached without a proxy${why}`, details), undefined] as const
    })
  })

/** The host name; an IPv6 address without brackets. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, "$1")

export const dns = (url: URL): Effect.Effect<Check> => {
  const host = hostOf(url)
  if (isIP(host) !== 0) return Effect.succeed(ok("dns", `${host} is an IP address`, { host, addresses: [host] }))
  return inTime(Effect.tryPromise({ try: () => lookup(host, { all: true }), catch: reasonOf }), "5 seconds").pipe(
    Effect.match({
      onFailure: (reason) => failed("dns", `${host} has no address (${reason})`, Remediation.forReason(reason), { host, reason }),
      onSuccess: (records) => {
        const addresses = records.map(({ address }) => address)
        return ok("dns", `${host} resolves to ${addresses.join(", ")}`, { host, addresses })
      }
    })
  )
}

interface Certificate {
  /** Node's error code if the certificate is not trusted. */
  readonly error: string | undefined
  readonly validTo: number
  readonly subject: string
}

/** Accepts any certificate, to inspect it. Nothing is sent over the connection. */
const inspect = (url: URL): Effect.Effect<Certificate, string> =>
  Effect.callback((resume) => {
    const host = hostOf(url)
    const socket: TLSSocket = connect({
      host,
      port: Number(url.port === "" ? 443 : url.port),
      rejectUnauthorized: false,
      ...(isIP(host) === 0 ? { servername: host } : {})
    })
    socket.once("secureConnect", () => {
      const { subject, valid_to } = socket.getPeerCertificate()
      // Typed as an error, but usually an error code.
      const error: unknown = socket.authorizationError
      const code = error instanceof Error && "code" in error ? error.code : error
      const names = [subject?.CN ?? []].flat()
      socket.destroy()
      resume(
        Effect.succeed({
          error: socket.authorized ? undefined : String(code),
          validTo: Date.parse(valid_to),
          subject: names[0] ?? "an unnamed host"
        })
      )
    })
    socket.once("error", (cause) => {
      socket.destroy()
      resume(Effect.fail(reasonOf(cause)))
    })
    return Effect.sync(() => socket.destroy())
  })

const renewalPeriod = Duration.days(14)

/** Checks a certificate. */
export const checkCertificate = ({ error, subject, validTo }: Certificate, now: number, isDisabled: boolean): Check => {
  const until = Number.isNaN(validTo) ? undefined : DateTime.formatIso(DateTime.makeUnsafe(validTo))
  const text = `certificate of ${subject}, valid until ${until ?? "an unknown date"}`
  const details = { subject, validTo: until ?? null, error: error ?? null }
  if (isDisabled) {
    return warning("tls", `${text}; NODE_TLS_REJECT_UNAUTHORIZED=0 disables the check, so an attacker can read the key`,
      "Unset NODE_TLS_REJECT_UNAUTHORIZED.", details)
  }
  if (error !== undefined) return failed("tls", `${text}, is not trusted (${error})`, Remediation.forReason(error), details)
  return validTo - now < Duration.toMillis(renewalPeriod)
    ? warning("tls", `${text}, which is less than 14 days`, "Ask the service's operator to renew it.", details)
    : ok("tls", text, details)
}

const isCheckDisabled = Effect.map(variable("NODE_TLS_REJECT_UNAUTHORIZED"), Option.contains("0"))

export const tls = (url: URL): Effect.Effect<Check> =>
  Effect.matchEffect(inTime(inspect(url), "10 seconds"), {
    onFailure: (reason) =>
      Effect.succeed(
        /SSL|TLS|CERT/.test(reason)
          ? failed("tls", `${url.host} does not speak TLS (${reason})`, Remediation.forReason(reason), { reason })
          : unknown("tls", `no connection to ${url.host} (${reason})`, null, { reason })
      ),
    onSuccess: (certificate) =>
      Effect.zipWith(Clock.currentTimeMillis, isCheckDisabled, (now, isDisabled) => checkCertificate(certificate, now, isDisabled))
  })
