/** Checks the proxy, the host name and the TLS certificate. Sends nothing over the connection. */
import { TransportReason } from "@plaza-legacy/client"
import * as Node from "@plaza-legacy/client/node"
import * as Remediation from "@plaza/cli-kit/Remediation"
import { ofFailure } from "@plaza/cli-kit/Report"
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import * as Data from "effect/Data"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { lookup } from "node:dns/promises"
import { isIP } from "node:net"
import { connect, type TLSSocket } from "node:tls"
import { type Check, failed, ok, unknown, warning } from "./Check.ts"

class Unreachable extends Data.TaggedError("Unreachable")<{ readonly reason: string }> {}

const unreachable = (cause: unknown): Unreachable => new Unreachable({ reason: TransportReason.reasonOfCause(cause, "Transport").reason })

const inTime = <A>(effect: Effect.Effect<A, Unreachable>, limit: Duration.DurationInput): Effect.Effect<A, Unreachable> =>
  Effect.timeoutFail(effect, { duration: limit, onTimeout: () => new Unreachable({ reason: "ETIMEDOUT" }) })

/** The host name; an IPv6 address without brackets. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, "$1")

export const dns = (url: URL): Effect.Effect<Check> => {
  const host = hostOf(url)
  if (isIP(host) !== 0) return Effect.succeed(ok("dns", `${host} is an IP address`))
  return inTime(Effect.tryPromise({ try: () => lookup(host, { all: true }), catch: unreachable }), "5 seconds").pipe(
    Effect.match({
      onFailure: ({ reason }) => failed("dns", `${host} has no address (${reason})`, Remediation.forReason(reason)),
      onSuccess: (found) => ok("dns", `${host} resolves to ${found.map(({ address }) => address).join(", ")}`)
    })
  )
}

/** Which proxy connects to the service, from the proxy variables. */
export const proxy = (url: URL): Effect.Effect<readonly [check: Check, address: string | undefined]> =>
  Node.proxyFor(url).pipe(
    Effect.match({
      onFailure: (error) => [failed("proxy", ofFailure(error).message, "Correct or remove that variable."), undefined] as const,
      onSuccess: Option.match({
        onNone: () => [ok("proxy", `${url.host} is reached without a proxy`), undefined] as const,
        onSome: (address) => [ok("proxy", `${url.host} is reached through ${address}`), address] as const
      })
    })
  )

export interface Certificate {
  /** Node's error code if the certificate is not trusted. */
  readonly error: string | undefined
  readonly validTo: number
  readonly subject: string
}

/** Accepts any certificate, to inspect it. Nothing is sent over the connection. */
const inspect = (url: URL): Effect.Effect<Certificate, Unreachable> =>
  Effect.async<Certificate, Unreachable>((resume) => {
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
      resume(Effect.fail(unreachable(cause)))
    })
    return Effect.sync(() => socket.destroy())
  })

const renewalPeriod = Duration.days(14)

/** Checks a certificate. */
export const checkCertificate = ({ error, subject, validTo }: Certificate, now: number, isDisabled: boolean): Check => {
  const until = Number.isNaN(validTo) ? "an unknown date" : DateTime.formatIso(DateTime.unsafeMake(validTo))
  const text = `certificate of ${subject}, valid until ${until}`
  if (isDisabled)
    return warning("tls", `${text}; NODE_TLS_REJECT_UNAUTHORIZED=0 disables the check, so an attacker can read the key`,
      "Unset NODE_TLS_REJECT_UNAUTHORIZED.")
  if (error !== undefined) return failed("tls", `${text}, is not trusted (${error})`, Remediation.forReason(error))
  return validTo - now < Duration.toMillis(renewalPeriod)
    ? warning("tls", `${text}, which is less than 14 days`, "Ask the service's operator to renew it.")
    : ok("tls", text)
}

const isCheckDisabled = Effect.orElseSucceed(
  Effect.map(Config.option(Config.string("NODE_TLS_REJECT_UNAUTHORIZED")), Option.contains("0")),
  () => false
)

export const tls = (url: URL): Effect.Effect<Check> =>
  Effect.matchEffect(inTime(inspect(url), "10 seconds"), {
    onFailure: ({ reason }) =>
      Effect.succeed(
        /SSL|TLS|CERT/.test(reason)
          ? failed("tls", `${url.host} does not speak TLS (${reason})`, Remediation.forReason(reason))
          : unknown("tls", `no connection to ${url.host} (${reason})`)
      ),
    onSuccess: (certificate) =>
      Effect.zipWith(Clock.currentTimeMillis, isCheckDisabled, (now, isDisabled) => checkCertificate(certificate, now, isDisabled))
  })
