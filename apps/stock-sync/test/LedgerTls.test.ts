/** A ledger in a Postgres that admits TLS only. */
import { expect, it } from "@effect/vitest"
import * as Postgres from "@plaza/testing/Postgres"
import { selfSigned } from "@plaza/testing/SelfSigned"
import { Effect, Result } from "effect"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { eventually } from "./support/eventually.ts"
import { newSchema } from "./support/ledger/newLedger.ts"
import { freshSchema, inDatabase } from "./support/ledger/places.ts"
import { receive, row, stateOf, using } from "./support/ledger/using.ts"
import { shared } from "./support/shared.ts"

let server = ""
shared(Postgres.scoped, ({ url }) => {
  server = url
})

const kind = newSchema(() => server)
const fresh = freshSchema(() => server)

const withMode = (place: string, mode: string) => {
  const url = new URL(place)
  url.searchParams.set("sslmode", mode)
  return url.href
}

/** Writes lines into a file of the server's folder that only its user can read. */
const serverFile = (place: string, name: string, text: string) =>
  inDatabase(place, (sql) =>
    sql.unsafe(`COPY (SELECT unnest(string_to_array('${text.trim()}', E'\\n'))) TO PROGRAM 'umask 077 && cat > ${name}'`))

it.live("is used over TLS if its certificate is trusted, and is named with what to do if not", () =>
  Effect.gen(function*() {
    const place = yield* fresh
    yield* serverFile(place, "tls.key", selfSigned.key)
    yield* serverFile(place, "tls.crt", selfSigned.cert)
    yield* serverFile(place, "pg_hba.conf", "hostssl all all 127.0.0.1/32 trust")
    yield* inDatabase(place, (sql) =>
      Effect.forEach(
        ["SET ssl_cert_file = 'tls.crt'", "SET ssl_key_file = 'tls.key'", "SET ssl = on"],
        (change) => sql.unsafe(`ALTER SYSTEM ${change}`)
      ))
    yield* inDatabase(place, (sql) => sql`SELECT pg_reload_conf()`)

    const opened = (mode: string) => using({ kind, name: withMode(place, mode) }, () => Effect.void)
    const refused = (mode: string) => Effect.map(Effect.flip(opened(mode)), ({ message }) => message)
    // The server reads its settings again in its own time.
    yield* eventually(Effect.result(opened("disable")), Result.isFailure)
    expect(yield* refused("disable")).toContain("without TLS")
    for (const mode of ["prefer", "require", "verify-full"]) {
      expect(yield* refused(mode)).toContain("set NODE_EXTRA_CA_CERTS to a file with the certificate of its issuer")
    }

    const before = getCACertificates("default")
    yield* Effect.acquireRelease(
      Effect.sync(() => setDefaultCACertificates([...before, selfSigned.cert])),
      () => Effect.sync(() => setDefaultCACertificates(before))
    )
    for (const mode of ["prefer", "require", "verify-full"]) {
      yield* using({ kind, name: withMode(place, mode) }, (ledger) =>
        Effect.gen(function*() {
          yield* receive(ledger, row("A", 1))
          expect(yield* stateOf(ledger, "A")).toBe("pending")
        }))
    }
  }).pipe(Effect.scoped), 60_000)
