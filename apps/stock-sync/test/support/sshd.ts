/**
 * Starts an `sshd` of OpenSSH for tests, which serves SFTP to the user of the test: Debian's `openssh-server`, or the program that `SSHD`
 * names.
 */
import { Context, Effect, Layer } from "effect"
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir, userInfo } from "node:os"
import * as Path from "node:path"
import { env, stderr } from "node:process"
import { freePort } from "./freePort.ts"

const program = [...(env["SSHD"] === undefined ? [] : [env["SSHD"]]), "/usr/sbin/sshd"].find((path) => existsSync(path))

/** Why there is none; undefined where there is one. */
export const missing = program === undefined
  ? "no sshd is installed: install Debian's openssh-server, or name sshd in SSHD, to test a real SFTP server"
  : undefined
if (missing !== undefined) stderr.write(`skipped: ${missing}\n`)

/** Creates a key pair. Returns the path of the private key. */
export const keyPair = (folder: string, name: string, type = "ed25519", passphrase = ""): string => {
  const path = Path.join(folder, name)
  execFileSync("ssh-keygen", ["-q", "-t", type, "-N", passphrase, "-C", "test", "-f", path])
  return path
}

/** The type and the key of a public key, as in a file of known hosts. */
export const publicKey = (path: string): string => readFileSync(`${path}.pub`, "utf8").trim().split(" ").slice(0, 2).join(" ")

const listening = (server: ChildProcess) =>
  Effect.callback<void>((resume) => {
    let said = ""
    server.stderr?.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-4_000)
      if (said.includes("Server listening on")) resume(Effect.void)
    })
    server.once("exit", () => resume(Effect.die(new Error(`sshd ended: ${said}`))))
  })

/** The server, and what a client of it needs. */
export class Sshd extends Context.Service<Sshd, {
  readonly port: number
  /** The address of a path, with the user. */
  readonly address: (path: string) => string
  /** A folder for files of tests. */
  readonly folder: string
  /** The private key of the user; one with the passphrase `secret`, and one that the server does not know. */
  readonly keys: { readonly plain: string; readonly encrypted: string; readonly stranger: string }
  /** The private keys of the server. */
  readonly hostKeys: { readonly ed25519: string; readonly rsa: string }
  /** A file with all keys of the server. */
  readonly knownHosts: string
}>()("test/Sshd") {}

export const layer = Layer.effect(
  Sshd,
  Effect.gen(function*() {
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(Path.join(tmpdir(), "plaza-sshd-"))),
      (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
    )
    // Where the server of the system has its place, sshd insists on it.
    if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true, mode: 0o755 })
    const port = yield* freePort
    const hostKeys = { ed25519: keyPair(folder, "host-ed25519"), rsa: keyPair(folder, "host-rsa", "rsa") }
    const keys = {
      plain: keyPair(folder, "user"),
      encrypted: keyPair(folder, "user-encrypted", "rsa", "secret"),
      stranger: keyPair(folder, "stranger")
    }
    writeFileSync(Path.join(folder, "authorized"), `${publicKey(keys.plain)}\n${publicKey(keys.encrypted)}\n`)
    const config = Path.join(folder, "sshd_config")
    writeFileSync(
      config,
      [
        `Port ${port}`,
        "ListenAddress 127.0.0.1",
        ...Object.values(hostKeys).map((path) => `HostKey ${path}`),
        `AuthorizedKeysFile ${Path.join(folder, "authorized")}`,
        "PidFile none",
        "StrictModes no",
        "UsePAM no",
        "PasswordAuthentication no",
        "PermitRootLogin prohibit-password",
        "Subsystem sftp internal-sftp"
      ].join("\n")
    )
    const knownHosts = Path.join(folder, "known_hosts")
    writeFileSync(knownHosts, Object.values(hostKeys).map((path) => `[127.0.0.1]:${port} ${publicKey(path)}\n`).join(""))
    const server = yield* Effect.acquireRelease(
      Effect.sync(() => spawn(program ?? "", ["-D", "-e", "-f", config], { stdio: ["ignore", "ignore", "pipe"] })),
      (running) =>
        Effect.callback<void>((resume) => {
          if (running.exitCode !== null || running.signalCode !== null) return resume(Effect.void)
          running.once("exit", () => resume(Effect.void))
          running.kill("SIGKILL")
        })
    )
    yield* listening(server)
    const files = Path.join(folder, "files")
    mkdirSync(files)
    return {
      port,
      address: (path) => `sftp://${encodeURIComponent(userInfo().username)}@127.0.0.1:${port}${path}`,
      folder: files,
      keys,
      hostKeys,
      knownHosts
    }
  })
)
