/** Checks the host name and the TLS certificate. Sends nothing over the connection. */
import * as Remediation from "@plaza/cli-kit/Remediation"
import { TransportReason } from "@plaza/client"
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
import { type Check, failed, ok, unknown, warning } from "./Check.js"

class Unreached extends Data.TaggedError("Unreached")<{ readonly reason: string }> {}

const unreached = (cause: unknown): Unreached => new Unreached({ reason: TransportReason.reasonOfCause(cause, "Transport").reason })

const inTime = <A>(effect: Effect.Effect<A, Unreached>, limit: Duration.DurationInput): Effect.Effect<A, Unreached> =>
  Effect.timeoutFail(effect, { duration: limit, onTimeout: () => new Unreached({ reason: "ETIMEDOUT" }) })

/** The host name; an IPv6 address without brackets. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, "$1")

export const dns = (url: URL): Effect.Effect<Check> => {
  const host = hostOf(url)
  if (isIP(host) !== 0) return Effect.succeed(ok("dns", `${host} needs no look-up`))
  return inTime(Effect.tryPromise({ try: () => lookup(host, { all: true }), catch: unreached }), "5 seconds").pipe(
    Effect.match({
      onFailure: ({ reason }) => failed("dns", `${host} has no address (${reason})`, Remediation.forReason(reason)),
      onSuccess: (found) => ok("dns", `${host} is ${found.map(({ address }) => address).join(", ")}`)
    })
  )
}

export interface Seen {
  /** Node's error code if the certificate is not accepted. */
  readonly refused: string | undefined
  readonly validTo: number
  readonly subject: string
}

/** Accepts any certificate, to inspect it. Nothing is sent over the connection. */
const certificate = (url: URL): Effect.Effect<Seen, Unreached> =>
  Effect.async<Seen, Unreached>((resume) => {
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
      const refused: unknown = socket.authorizationError
      const code = refused instanceof Error && "code" in refused ? refused.code : refused
      const names = [subject?.CN ?? []].flat()
      socket.destroy()
      resume(
        Effect.succeed({
          refused: socket.authorized ? undefined : String(code),
          validTo: Date.parse(valid_to),
          subject: names[0] ?? "no name"
        })
      )
    })
    socket.once("error", (cause) => {
      socket.destroy()
      resume(Effect.fail(unreached(cause)))
    })
    return Effect.sync(() => socket.destroy())
  })

const soon = Duration.days(14)

/** Checks a certificate. */
export const judge = ({ refused, subject, validTo }: Seen, now: number, isUnchecked: boolean): Check => {
  const until = Number.isNaN(validTo) ? "an unknown day" : DateTime.formatIso(DateTime.unsafeMake(validTo))
  const text = `certificate of ${subject}, valid until ${until}`
  if (isUnchecked)
    return warning("tls", `${text}; NODE_TLS_REJECT_UNAUTHORIZED=0 lets everybody read the key who can stand in between`,
      "Remove NODE_TLS_REJECT_UNAUTHORIZED.")
  if (refused !== undefined) return failed("tls", `${text}, is not accepted (${refused})`, Remediation.forReason(refused))
  return validTo - now < Duration.toMillis(soon)
    ? warning("tls", `${text}, which is soon`, "Ask the service's operator to renew it.")
    : ok("tls", text)
}

const uncheckedVariable = Effect.orElseSucceed(
  Effect.map(Config.option(Config.string("NODE_TLS_REJECT_UNAUTHORIZED")), Option.contains("0")),
  () => false
)

export const tls = (url: URL): Effect.Effect<Check> =>
  Effect.matchEffect(inTime(certificate(url), "10 seconds"), {
    onFailure: ({ reason }) =>
      Effect.succeed(
        /SSL|TLS|CERT/.test(reason)
          ? failed("tls", `${url.host} doesn't speak TLS as it should (${reason})`, Remediation.forReason(reason))
          : unknown("tls", `no connection to ${url.host} (${reason})`)
      ),
    onSuccess: (seen) => Effect.zipWith(Clock.currentTimeMillis, uncheckedVariable, (now, isUnchecked) => judge(seen, now, isUnchecked))
  })
