/**
 * A file on an SFTP server as a source: one SSH connection for each read, to a server whose key is known. Uses the library `ssh2`
 * (docs/decisions/059-files-on-servers.md).
 */
import * as Text from "@plaza/cli-kit/Text"
import { lineUpTo } from "@plaza/tabular/Quoted"
import { SourceError } from "@plaza/tabular/SourceError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { connect as connectSocket } from "node:net"
import { homedir } from "node:os"
import ssh2, {
  type AnyAuthMethod,
  type FileEntryWithStats,
  type KeyboardInteractiveCallback,
  type Prompt,
  type ServerHostKeyAlgorithm,
  type SFTPWrapper,
  type Stats
} from "ssh2"
import { Wording } from "../../Wording.ts"
import type * as Rows from "../Rows.ts"
import { failIfSilent, silent, type SourceFailure, unreachable } from "../Source.ts"
import * as SourceUri from "../SourceUri.ts"
import * as WholeFile from "../WholeFile.ts"
import * as Address from "./Address.ts"
import * as KnownHosts from "./KnownHosts.ts"
import * as RemoteFile from "./RemoteFile.ts"

/** How to log in, and how to recognise the server. */
export interface SftpSettings {
  readonly password?: Redacted.Redacted | undefined
  /** The path of a private key. */
  readonly keyFile?: string | undefined
  /** A private key. */
  readonly privateKey?: Redacted.Redacted | undefined
  readonly passphrase?: Redacted.Redacted | undefined
  /** The socket of an SSH agent, which is asked if there is neither a key nor a password. */
  readonly agent?: string | undefined
  /** Default: the user's and the system's. */
  readonly knownHosts?: string | undefined
  /** Fingerprints of the server's key, instead of known hosts. */
  readonly hostKeys?: ReadonlyArray<string> | undefined
}

export interface SftpOptions extends Rows.RowOptions, WholeFile.FinishedOptions {
  readonly source: string
  readonly sftp?: SftpSettings | undefined
  readonly poll: Duration.Duration
  /** How long the server may be silent. */
  readonly timeout: Duration.Duration
}

// Far more than a folder of exports has. A server may list names without an end.
const mostListed = 100_000
// A listing of so many takes seconds.
const longestListing = Duration.minutes(2)
// What every server returns at once.
const blockSize = 32_768
// As the client of OpenSSH, so that the distance to the server does not limit the rate.
const blocksAhead = 32

// The codes of the protocol.
const endOfFile = 1
const noSuchFile = 2
const permissionDenied = 3

const codeOf = (error: unknown): unknown => Predicate.hasProperty(error, "code") ? error.code : undefined

// Enough for the reason of a server.
const told = lineUpTo(300)

/** The code of the system, else the sentence of the library or the server. */
const messageOf = (error: unknown): string => {
  const code = codeOf(error)
  return typeof code === "string" ? code : told(error instanceof Error ? error.message : String(error))
}

/** That of the user may be unknown, as in a container whose user has no name. */
const home = Option.getOrElse(Option.liftThrowable(homedir)(), () => "")
const defaultKnownHosts = [`${home}/.ssh/known_hosts`, "/etc/ssh/ssh_known_hosts"] as const

// A key of RSA has one type and several signatures.
const signatures: Readonly<Record<string, ReadonlyArray<ServerHostKeyAlgorithm>>> = {
  "ssh-ed25519": ["ssh-ed25519"],
  "ecdsa-sha2-nistp256": ["ecdsa-sha2-nistp256"],
  "ecdsa-sha2-nistp384": ["ecdsa-sha2-nistp384"],
  "ecdsa-sha2-nistp521": ["ecdsa-sha2-nistp521"],
  "ssh-rsa": ["rsa-sha2-512", "rsa-sha2-256", "ssh-rsa"]
}

/** All types, those of known keys first: a server with several keys shows the first that both have. */
const algorithmsFor = (known: ReadonlySet<string>): Array<ServerHostKeyAlgorithm> =>
  Object.entries(signatures).toSorted(([a], [b]) => Number(known.has(b)) - Number(known.has(a))).flatMap(([, each]) => each)

/** What the protocol says about a file. Servers may leave any of it out, which the types of the library don't show. */
export interface FileStats extends Pick<Stats, "isDirectory" | "isFile"> {
  readonly mode?: number | undefined
  /** In seconds since the epoch. */
  readonly mtime: number
  readonly size: number
}

const isComplete = (stats: { readonly mtime?: number | undefined; readonly size?: number | undefined }): boolean =>
  stats.mtime !== undefined && stats.size !== undefined

export const infoOf = (address: Address.SftpAddress, path: string, stats: FileStats): WholeFile.FileInfo => ({
  // A server without rights shows no type. It refuses to open what is no file.
  type: stats.isFile() || stats.mode === undefined ? "file" : stats.isDirectory() ? "folder" : "other",
  path,
  name: Address.shownPath(address, path),
  version: [path, stats.size, stats.mtime].join("/"),
  // The protocol has no identity of a file.
  identity: "",
  size: BigInt(stats.size),
  mtime: stats.mtime * 1_000,
  // The clock of the server is not known, and some clients set the time of the file that they transfer.
  writtenAt: undefined
})

export const make = Effect.fnUntraced(function*(options: SftpOptions) {
  const fs = yield* FileSystem.FileSystem
  const { place } = yield* Wording
  const settings = options.sftp ?? {}
  const shown = SourceUri.shown(options.source)
  const refused = (reason: string, name = shown) => new SourceError({ source: name, line: undefined, message: `${name}: ${reason}` })
  const address = yield* Effect.mapError(Effect.fromResult(Address.parseSftp(options.source, place("source-password"))),
    (why) => refused(why))
  const { host, port, user } = address
  const name = Address.shownPath(address, address.path)
  const isAgentUsed = settings.password === undefined && settings.keyFile === undefined && settings.privateKey === undefined
  if (isAgentUsed && settings.agent === undefined) {
    return yield* refused(
      `there is nothing to log in with: name a private key with ${place("source-key")}, or set a password with ${place("source-password")}`
    )
  }

  const readText = (path: string) => Effect.map(fs.readFile(path), Text.decode)

  const readFile = (path: string, what: string, setting: string) =>
    Effect.mapError(readText(path), ({ reason }) =>
      refused(
        `the ${what} ${path} ${
          reason._tag === "NotFound"
            ? "does not exist"
            : reason._tag === "PermissionDenied"
            ? "may not be read by this user"
            : "can't be read"
        }: correct ${place(setting)}`
      ))

  // For each connection, so that a new key or a new host counts without a restart.
  const privateKey = Effect.gen(function*() {
    const text = settings.keyFile === undefined
      ? settings.privateKey === undefined ? undefined : Redacted.value(settings.privateKey)
      : yield* readFile(settings.keyFile, "private key", "source-key")
    if (text === undefined) return undefined
    const passphrase = settings.passphrase === undefined ? undefined : Redacted.value(settings.passphrase)
    const parsed = yield* Effect.try({
      try: () => ssh2.utils.parseKey(text, passphrase),
      catch: () => refused("the private key can't be read")
    })
    // The library returns a list for some forms.
    const [key] = [parsed].flat()
    const setting = settings.keyFile === undefined ? "source-private-key" : "source-key"
    if (key === undefined || key instanceof Error) {
      const isEncrypted = /passphrase|encrypted/i.test(key?.message ?? "")
      return yield* refused(
        isEncrypted && passphrase === undefined
          ? `the private key is encrypted: set its passphrase with ${place("source-key-passphrase")}`
          : isEncrypted || passphrase !== undefined
          ? `the private key can't be decrypted: correct ${place("source-key-passphrase")}`
          : `the private key has an unknown form: name one of OpenSSH, PEM or PuTTY with ${place(setting)}`
      )
    }
    return key.isPrivateKey() ? key : yield* refused(`the key is a public one: name the private key with ${place(setting)}`)
  })

  const knownHosts: Effect.Effect<ReadonlyArray<KnownHosts.Entry>, SourceError> = Effect.suspend(() => {
    if (settings.hostKeys !== undefined) return Effect.succeed([])
    const entries = (path: string) => (text: string) => KnownHosts.entriesOf(text, path, host, port)
    return settings.knownHosts === undefined
      ? Effect.map(
        Effect.forEach(defaultKnownHosts, (path) => Effect.orElseSucceed(Effect.map(readText(path), entries(path)), () => [])),
        (found) => found.flat()
      )
      : Effect.map(readFile(settings.knownHosts, "file of known hosts", "known-hosts"), entries(settings.knownHosts))
  })

  const file = settings.knownHosts ?? defaultKnownHosts[0]
  const server = port === 22 ? host : `[${host}]:${port}`
  const scan = `ssh-keyscan ${port === 22 ? "" : `-p ${port} `}${host} >> ${file}`

  /** Why a key of the server is refused; undefined if it is known. */
  const complaint = (entries: ReadonlyArray<KnownHosts.Entry>, key: KnownHosts.HostKey): string | undefined => {
    const print = KnownHosts.fingerprint(key)
    const shownKey = `${KnownHosts.typeOf(key)} ${print}`
    if (settings.hostKeys !== undefined) {
      return settings.hostKeys.includes(print)
        ? undefined
        : `the server has another key than ${
          place("host-key")
        } names, ${shownKey}. Ask its owner whether the key was replaced, and change the setting only then`
    }
    const verdict = KnownHosts.judge(entries, key)
    switch (verdict._tag) {
      case "Known":
        return undefined
      case "Revoked":
        return `the key of the server, ${shownKey}, is revoked in ${verdict.place}. Ask its owner for the new key`
      case "Changed":
        return `the server has another key than ${verdict.place} names, ${shownKey}. Another server may have taken its place. If its owner confirms the ` +
          `new key, remove the old one with "ssh-keygen -R '${server}' -f ${file}", and add the new one with "${scan}"`
      case "Unknown":
        return `the server is unknown${
          verdict.onlyAuthorities ? ", because certificates of @cert-authority are not supported" : ""
        }: it has the key ${shownKey}. If its owner confirms the key, add it with "${scan}", or set ${place("host-key")} to ${print}`
    }
  }

  const unreadableFile = (path: string, error: unknown): SourceFailure => {
    const where = Address.shownPath(address, path)
    return codeOf(error) === permissionDenied
      ? refused(`the user ${user} may not read it: correct its rights at the server, or ${place("source")}`, where)
      : unreachable(name, `the server could not read ${where} (${messageOf(error)})`)
  }

  const connect = Effect.gen(function*() {
    const key = yield* privateKey
    const entries = yield* knownHosts
    const client = new ssh2.Client()
    // Each request is one small packet, which would wait for the acknowledgement of the packet before it.
    const socket = connectSocket({ host, port, noDelay: true })
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        client.end()
        // A server that hangs would keep its end of the connection open.
        socket.destroy()
      })
    )
    let hostRefusal: string | undefined
    let lost: SourceFailure | undefined
    const waiting = new Set<(failure: SourceFailure) => void>()
    const lose = (failure: SourceFailure) => {
      lost ??= failure
      for (const resume of waiting) resume(lost)
    }
    client.on("error", (error) => lose(hostRefusal === undefined ? failureOf(error) : refused(hostRefusal)))
    client.on("close", () => lose(unreachable(name, "the connection was lost")))
    socket.on("error", () => undefined)
    const failureOf = (error: unknown): SourceFailure => {
      switch (Predicate.hasProperty(error, "level") ? error.level : undefined) {
        case "client-authentication":
          return refused(
            `the server refuses the user ${user}: check the user, and ${
              isAgentUsed
                ? "the keys of the SSH agent"
                : key === undefined
                ? place("source-password")
                : settings.password === undefined
                ? place(settings.keyFile === undefined ? "source-private-key" : "source-key")
                : `${place("source-key")} and ${place("source-password")}`
            }`
          )
        case "handshake":
          return refused(`the server has no way of encryption that this program knows (${messageOf(error)}): update the server`)
        case "agent":
          return refused(`the SSH agent can't be asked: name a private key with ${place("source-key")}`)
        default:
          return unreachable(name, `the connection failed (${messageOf(error)})`)
      }
    }

    /** A call of the library, which fails if the server is silent or the connection is lost. */
    const ask = <A>(call: (done: (error: Error | null | undefined, value: A) => void) => void, failed: (error: unknown) => SourceFailure) =>
      Effect.callback<A, SourceFailure>((resume) => {
        if (lost !== undefined) return resume(Effect.fail(lost))
        const onLost = (failure: SourceFailure) => end(Effect.fail(failure))
        const end = (result: Effect.Effect<A, SourceFailure>) => {
          waiting.delete(onLost)
          resume(result)
        }
        waiting.add(onLost)
        try {
          call((error, value) => end(error ? Effect.fail(lost ?? failed(error)) : Effect.succeed(value)))
        } catch (error) {
          end(Effect.fail(failed(error)))
        }
        return Effect.sync(() => void waiting.delete(onLost))
      }).pipe(
        Effect.timeoutOrElse({ duration: options.timeout, orElse: () => Effect.fail(silent(name, options.timeout)) })
      )

    const password = settings.password === undefined ? undefined : Redacted.value(settings.password)
    const methods: Array<AnyAuthMethod> = [
      { type: "none", username: user },
      ...(key === undefined ? [] : [{ type: "publickey" as const, username: user, key }]),
      ...(isAgentUsed && settings.agent !== undefined ? [{ type: "agent" as const, username: user, agent: settings.agent }] : []),
      // Many servers ask for the password as a question.
      ...(password === undefined ? [] : [
        { type: "password" as const, username: user, password },
        {
          type: "keyboard-interactive" as const,
          username: user,
          prompt: (
            _name: string,
            _instructions: string,
            _language: string,
            prompts: ReadonlyArray<Prompt>,
            finish: KeyboardInteractiveCallback
          ) => finish(prompts.map(({ echo }) => echo === true ? "" : password))
        }
      ])
    ]
    yield* ask<void>((done) => {
      client.once("ready", () => done(undefined, undefined))
      client.connect({
        sock: socket,
        username: user,
        algorithms: { serverHostKey: algorithmsFor(KnownHosts.knownTypes(entries)) },
        authHandler: methods,
        readyTimeout: 0,
        hostVerifier: (shownKey: Buffer) => {
          hostRefusal = complaint(entries, shownKey)
          return hostRefusal === undefined
        }
      })
    }, failureOf)
    const sftp = yield* ask<SFTPWrapper>(
      (done) => client.sftp(done),
      () => refused("the server offers no SFTP to this user: ask its owner for it")
    )
    sftp.on("error", (error: Error) => lose(failureOf(error)))

    const open = (path: string) =>
      Effect.acquireRelease(
        ask<Buffer>((done) => sftp.open(path, "r", done), (error) => unreadableFile(path, error)),
        // The end of the connection closes it too.
        (handle) => Effect.sync(() => sftp.close(handle, () => undefined))
      )

    /** The bytes of a block; less than `length` at the end of the file. */
    const read = (path: string, handle: Buffer, position: number, length: number) =>
      Effect.gen(function*() {
        const block = Buffer.alloc(length)
        let filled = 0
        while (filled < length) {
          const count = yield* ask<number>(
            (done) => sftp.read(handle, block, filled, length - filled, position + filled, (error, count) => done(error, count)),
            (error) => unreadableFile(path, error)
          )
          if (count === 0) break
          filled += count
        }
        return filled === length ? block : block.subarray(0, filled)
      })

    const files: RemoteFile.RemoteFiles = {
      stat: (path) =>
        ask<Option.Option<Stats>>(
          (done) =>
            sftp.stat(path,
              (error, stats) => codeOf(error) === noSuchFile ? done(undefined, Option.none()) : done(error, Option.some(stats))),
          (error) => unreadableFile(path, error)
        ).pipe(
          Effect.filterOrFail(
            Option.match({ onNone: () => true, onSome: isComplete }),
            () => refused("the server does not show its size and time, so a change of it can't be seen", Address.shownPath(address, path))
          ),
          Effect.map(Option.map((stats) => infoOf(address, path, stats)))
        ),
      bytes: ({ path }, position, count) =>
        Effect.scoped(Effect.flatMap(open(path), (handle) => read(path, handle, Number(position), count))),
      stream: (info) =>
        Stream.unwrap(Effect.gen(function*() {
          const handle = yield* open(info.path)
          const stats = yield* ask<Stats>((done) => sftp.fstat(handle, done), (error) => unreadableFile(info.path, error))
          if (infoOf(address, info.path, stats).version !== info.version) return Stream.fail(WholeFile.changedWhileRead(info.name))
          const size = Number(info.size)
          const blocks = Array.from({ length: Math.ceil(size / blockSize) }, (_, index) => index * blockSize)
          return Stream.fromIterable(blocks).pipe(
            Stream.rechunk(1),
            Stream.mapEffect((position) => {
              const length = Math.min(blockSize, size - position)
              return Effect.filterOrFail(
                read(info.path, handle, position, length),
                (block) => block.length === length,
                () => WholeFile.changedWhileRead(info.name)
              )
            }, { concurrency: blocksAhead }),
            failIfSilent(name, options.timeout)
          )
        })),
      list: (folder, prefix) =>
        Effect.scoped(Effect.gen(function*() {
          const path = folder === "" ? "." : folder
          const handle = yield* Effect.acquireRelease(
            ask<Buffer>((done) => sftp.opendir(path, done), (error) =>
              codeOf(error) === noSuchFile
                ? refused(`there is no such folder: correct ${place("source")}`)
                : unreadableFile(path, error)),
            (handle) => Effect.sync(() => sftp.close(handle, () => undefined))
          )
          const found: Array<Address.Listed> = []
          let count = 0
          while (true) {
            const batch = yield* ask<ReadonlyArray<FileEntryWithStats>>(
              (done) => sftp.readdir(handle, (error, list) => codeOf(error) === endOfFile ? done(undefined, []) : done(error, list)),
              (error) => unreadableFile(path, error)
            )
            if (batch.length === 0) return found
            count += batch.length
            if (count > mostListed) {
              return yield* refused(`its folder has more than ${mostListed.toLocaleString("en")} files: move old ones away`)
            }
            for (const { attrs, filename } of batch) {
              if (filename.startsWith(prefix) && !attrs.isDirectory()) found.push({ name: filename, mtime: attrs.mtime * 1_000 })
            }
          }
        })).pipe(
          Effect.timeoutOrElse({
            duration: Duration.max(longestListing, options.timeout),
            orElse: () => Effect.fail(unreachable(name, "the list of its folder has not come to an end"))
          })
        )
    }
    return files
  })

  return yield* RemoteFile.make({ ...options, address, connect, isAtomic: false })
})
