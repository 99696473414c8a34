/** Files of a real SFTP server, OpenSSH's, as sources. */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, layer } from "@effect/vitest"
import { Duration, Effect, Layer, Option, Redacted } from "effect"
import { execFileSync } from "node:child_process"
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import * as Path from "node:path"
import { gzipSync } from "node:zlib"
import * as Open from "../src/source/Open.ts"
import * as KnownHosts from "../src/source/remote/KnownHosts.ts"
import type { SftpSettings } from "../src/source/remote/Sftp.ts"
import { all, containing, good } from "./support/reading.ts"
import * as Sshd from "./support/sshd.ts"

const options = {
  idColumn: "productId",
  stockColumn: "stock",
  timeout: Duration.seconds(30),
  settle: Duration.zero,
  unfinishedWait: Duration.zero
}
const csv = "productId,stock\nA,1\nB,2\n"
const rows = [good(2, "A", 1), good(3, "B", 2)]

const folder = Effect.map(Sshd.Sshd, ({ folder }) => mkdtempSync(Path.join(folder, "test-")))

/** The source at a path of the server, with the right settings unless others are given. */
const sourceAt = (path: string, more: Partial<Open.SourceOptions & { readonly login: SftpSettings }> = {}) =>
  Effect.flatMap(Sshd.Sshd, ({ address, keys, knownHosts }) => {
    const { login = {}, ...rest } = more
    const { agent, hostKeys, keyFile = keys.plain, knownHosts: known = knownHosts, passphrase, password, privateKey } = login
    return Open.make({
      ...options,
      source: address(path),
      sftp: { keyFile: agent === undefined && privateKey === undefined ? keyFile : undefined, knownHosts: known, hostKeys },
      remoteSecrets: { sftp: { agent, passphrase, password, privateKey }, credentials: undefined },
      ...rest
    })
  })

const opened = (...given: Parameters<typeof sourceAt>) => Effect.flatMap(sourceAt(...given), (source) => source.open(Option.none()))
const readAt = (...given: Parameters<typeof sourceAt>) =>
  Effect.scoped(Effect.flatMap(opened(...given), (snapshot) => all(Option.getOrThrow(snapshot).rows)))
const refusal = (...given: Parameters<typeof sourceAt>) => Effect.flip(readAt(...given))

describe.skipIf(Sshd.missing !== undefined)("OpenSSH", () => {
  layer(Layer.merge(Sshd.layer, NodeServices.layer), { excludeTestServices: true })("a file of an SFTP server", (it) => {
    it.effect("is read with a private key from a known server, and only when it has changed", () =>
      Effect.gen(function*() {
        const path = `${yield* folder}/stock.csv`
        writeFileSync(path, csv)
        const source = yield* sourceAt(path)
        const { port } = yield* Sshd.Sshd
        expect(source.name).toBe(`sftp://127.0.0.1:${port}${path}`)
        const first = Option.getOrThrow(yield* source.open(Option.none()))
        expect(yield* all(first.rows)).toEqual(rows)
        expect(yield* source.open(first.version)).toEqual(Option.none())
        appendFileSync(path, "C,3\n")
        expect(yield* all(Option.getOrThrow(yield* source.open(first.version)).rows)).toEqual([...rows, good(4, "C", 3)])
      }).pipe(Effect.scoped))

    it.effect("is read with a key and known servers that PowerShell has written", () =>
      Effect.gen(function*() {
        const { keys, knownHosts } = yield* Sshd.Sshd
        const where = yield* folder
        const path = `${where}/stock.csv`
        writeFileSync(path, csv)
        const copy = (from: string, name: string) => {
          writeFileSync(`${where}/${name}`, Buffer.from(`\uFEFF${readFileSync(from, "utf8").replaceAll("\n", "\r\n")}`, "utf16le"))
          return `${where}/${name}`
        }
        expect(yield* readAt(path, { login: { keyFile: copy(keys.plain, "key"), knownHosts: copy(knownHosts, "known") } })).toEqual(rows)
      }))

    it.effect("is read through a key with a passphrase, a key in a variable, and an agent", () =>
      Effect.gen(function*() {
        const { keys } = yield* Sshd.Sshd
        const path = `${yield* folder}/stock.csv`
        writeFileSync(path, csv)
        const passphrase = Redacted.make("secret")
        expect(yield* readAt(path, { login: { keyFile: keys.encrypted, passphrase } })).toEqual(rows)
        expect(yield* readAt(path, { login: { privateKey: Redacted.make(readFileSync(keys.plain, "utf8").trim()) } })).toEqual(rows)
        const socket = Path.join(yield* folder, "agent")
        const [, pid] = /SSH_AGENT_PID=(\d+)/.exec(execFileSync("ssh-agent", ["-a", socket], { encoding: "utf8" })) ?? []
        yield* Effect.addFinalizer(() => Effect.sync(() => process.kill(Number(pid))))
        execFileSync("ssh-add", ["-q", keys.plain], { env: { ...process.env, SSH_AUTH_SOCK: socket } })
        expect(yield* readAt(path, { login: { agent: socket } })).toEqual(rows)
      }).pipe(Effect.scoped))

    it.effect("is read in blocks of any number, compressed or not, in the format of its name", () =>
      Effect.gen(function*() {
        const where = yield* folder
        const many = `productId,stock\n${Array.from({ length: 300_000 }, (_, index) => `P${index},${index % 90}\n`).join("")}`
        writeFileSync(`${where}/many.csv`, many)
        writeFileSync(`${where}/many.csv.gz`, gzipSync(many))
        writeFileSync(`${where}/stock.json`, `[{"productId":"A","stock":1}]`)
        writeFileSync(`${where}/empty.csv`, "")
        const expected = yield* readAt(`${where}/many.csv.gz`)
        expect(expected).toHaveLength(300_000)
        expect(yield* readAt(`${where}/many.csv`)).toEqual(expected)
        expect(yield* readAt(`${where}/stock.json`)).toEqual([good(1, "A", 1)])
        expect(yield* refusal(`${where}/empty.csv`)).toMatchObject({ _tag: "SourceError", message: containing("is empty") })
      }))

    it.effect("is found by any name, from the root or from the home folder", () =>
      Effect.gen(function*() {
        const where = yield* folder
        writeFileSync(`${where}/best and 100% 100? #ü.csv`, csv)
        symlinkSync(`${where}/best and 100% 100? #ü.csv`, `${where}/link.csv`)
        expect(yield* readAt(`${where}/best%20and%20100%25%20100%3F%20%23%C3%BC.csv`)).toEqual(rows)
        expect(yield* readAt(`${where}/link.csv`)).toEqual(rows)
        const home = mkdtempSync(Path.join(homedir(), "plaza-test-"))
        yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(home, { recursive: true })))
        writeFileSync(`${home}/stock.csv`, csv)
        expect(yield* readAt(`/~/${Path.basename(home)}/stock.csv`)).toEqual(rows)
      }).pipe(Effect.scoped))

    it.effect("of a pattern is the newest, then the last by name, and messages name it", () =>
      Effect.gen(function*() {
        const where = yield* folder
        mkdirSync(`${where}/stock-folder.csv`)
        for (
          const [name, stock, time] of [["stock-b.csv", 1, 3_000], ["stock-a.csv", 2, 3_000], ["stock-c.csv", 3, 2_000], [
            "x-stock-d.csv",
            4,
            9_000
          ]] as const
        ) {
          writeFileSync(`${where}/${name}`, `productId,stock\nA,${stock}\nB,many\n`)
          utimesSync(`${where}/${name}`, time, time)
        }
        const pattern = `${where}/stock-*.csv`
        expect(yield* readAt(pattern)).toMatchObject([good(2, "A", 1), { _tag: "Rejected" }])
        const source = yield* sourceAt(pattern)
        const first = Option.getOrThrow(yield* source.open(Option.none()))
        expect(yield* source.open(first.version)).toEqual(Option.none())
        writeFileSync(`${where}/stock-9.csv`, "id\n1\n")
        expect(yield* Effect.flip(readAt(pattern))).toMatchObject({ message: containing(`${where}/stock-9.csv`) })
        expect(yield* refusal(`${where}/other-?.csv`)).toMatchObject({ message: containing("there is no file with such a name") })
        expect(yield* refusal(`${where}/none/other-?.csv`)).toMatchObject({ message: containing("there is no such folder") })
      }).pipe(Effect.scoped))

    it.effect("waits for its done marker beside it, whose name may contain that of the file", () =>
      Effect.gen(function*() {
        const where = yield* folder
        writeFileSync(`${where}/stock-1.csv`, csv)
        utimesSync(`${where}/stock-1.csv`, 2_000, 2_000)
        const marked = (doneMarker: string) => readAt(`${where}/stock-*`, { doneMarker })
        expect(yield* Effect.flip(marked("*.done"))).toMatchObject({
          _tag: "SourceUnreachable",
          message: containing(`its done marker ${where}/stock-1.csv.done does not exist`)
        })
        writeFileSync(`${where}/stock-1.csv.done`, "")
        expect(yield* marked("*.done")).toEqual(rows)
        writeFileSync(`${where}/done`, "")
        utimesSync(`${where}/done`, 1_000, 1_000)
        rmSync(`${where}/stock-1.csv.done`)
        expect(yield* Effect.flip(marked("done"))).toMatchObject({ message: containing("is older than the file") })
        utimesSync(`${where}/done`, 2_000, 2_000)
        expect(yield* marked(`${where}/done`)).toEqual(rows)
      }))

    it.effect("is refused if it is missing, a folder, or not for this user", () =>
      Effect.gen(function*() {
        const where = yield* folder
        expect(yield* refusal(`${where}/none.csv`)).toMatchObject({
          _tag: "SourceError",
          message: containing("there is no such file. Name another source")
        })
        expect(yield* refusal(where)).toMatchObject({ _tag: "SourceError", message: containing("it is a folder, not a file") })
        expect(yield* refusal("/dev/null")).toMatchObject({ _tag: "SourceError", message: containing("a named pipe or a device") })
      }))

    it.effect("is not read from a server that is unknown or has another key, and the message says what to add", () =>
      Effect.gen(function*() {
        const { hostKeys, keys, port } = yield* Sshd.Sshd
        const where = yield* folder
        const path = `${where}/stock.csv`
        const known = `${where}/known_hosts`
        writeFileSync(path, csv)
        const print = KnownHosts.fingerprint(Buffer.from(Sshd.publicKey(hostKeys.ed25519).split(" ")[1] ?? "", "base64"))
        expect(execFileSync("ssh-keygen", ["-l", "-f", `${hostKeys.ed25519}.pub`], { encoding: "utf8" })).toContain(print)
        const login = { knownHosts: known }
        writeFileSync(known, "")
        expect(yield* refusal(path, { login })).toMatchObject({
          _tag: "SourceError",
          message: containing(
            `it has the key ssh-ed25519 ${print}. If its owner confirms the key, add it with "ssh-keyscan -p ${port} 127.0.0.1 >> ${known}"`
          )
        })
        writeFileSync(known, `[127.0.0.1]:${port} ${Sshd.publicKey(keys.stranger)}\n`)
        expect(yield* refusal(path, { login })).toMatchObject({
          _tag: "SourceError",
          message: containing(`the server has another key than ${known}:1 names, ssh-ed25519 ${print}`)
        })
        writeFileSync(known, execFileSync("ssh-keyscan", ["-p", String(port), "127.0.0.1"], { stdio: ["ignore", "pipe", "ignore"] }))
        expect(yield* readAt(path, { login })).toEqual(rows)
        execFileSync("ssh-keygen", ["-q", "-H", "-f", known], { stdio: "ignore" })
        expect(readFileSync(known, "utf8")).toContain("|1|")
        expect(yield* readAt(path, { login })).toEqual(rows)
        // Of the two keys of the server, the one that is known is asked for.
        writeFileSync(known, `[127.0.0.1]:${port} ${Sshd.publicKey(hostKeys.rsa)}\n`)
        expect(yield* readAt(path, { login })).toEqual(rows)
        expect(yield* readAt(path, { login: { hostKeys: [print] } })).toEqual(rows)
        expect(yield* refusal(path, { login: { hostKeys: [print.toLowerCase()] } })).toMatchObject({ message: containing(print) })
      }))

    it.effect("is not read with a wrong login, and the message says which setting is wrong and no secret", () =>
      Effect.gen(function*() {
        const { address, keys } = yield* Sshd.Sshd
        const path = `${yield* folder}/stock.csv`
        writeFileSync(path, csv)
        const secret = Redacted.make("letmein")
        const message = (login: SftpSettings) => Effect.map(refusal(path, { login }), ({ message }) => message)
        expect(yield* message({ keyFile: keys.stranger })).toContain("the server refuses the user")
        expect(yield* message({ keyFile: keys.encrypted })).toContain("set its passphrase with STOCK_SYNC_SOURCE_KEY_PASSPHRASE")
        expect(yield* message({ keyFile: keys.encrypted, passphrase: secret })).toContain("correct STOCK_SYNC_SOURCE_KEY_PASSPHRASE")
        expect(yield* message({ keyFile: `${keys.plain}.pub` })).toContain("the key is a public one")
        expect(yield* message({ keyFile: `${keys.plain}.none` })).toContain(
          "does not exist: correct --source-key or STOCK_SYNC_SOURCE_KEY"
        )
        const withoutLogin = yield* Effect.flip(Open.make({ ...options, source: address(path) }))
        expect(withoutLogin.message).toContain("there is nothing to log in with")
        const withPassword = yield* refusal(path, { source: address(path).replace("@", ":letmein@") })
        expect(withPassword.message).toContain("put the password into STOCK_SYNC_SOURCE_PASSWORD, not into the address")
        expect(withPassword.message).not.toContain("letmein")
      }).pipe(Effect.scoped))
  })
})
