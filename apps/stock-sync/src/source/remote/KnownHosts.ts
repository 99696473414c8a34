/**
 * Decides by OpenSSH's `known_hosts` whether a server is the one that its address means. Plain, hashed and wildcard entries, `[host]:port`
 * and `@revoked` count. `@cert-authority` does not, because the library of SSH knows no certificates.
 */
import { createHash, createHmac } from "node:crypto"

/** A key of a server in the form of the protocol. */
export type HostKey = Uint8Array

/** The fingerprint as OpenSSH prints it, such as `SHA256:47DEQpj8HBSa...`. */
export const fingerprint = (key: HostKey): string => `SHA256:${createHash("sha256").update(key).digest("base64").replace(/=+$/, "")}`

/** The type of a key, such as `ssh-ed25519`. */
export const typeOf = (key: HostKey): string => {
  const bytes = Buffer.from(key)
  return bytes.length < 4 ? "" : bytes.toString("latin1", 4, Math.min(bytes.length, 4 + bytes.readUInt32BE(0)))
}

/** A line about a host. */
export interface Entry {
  readonly marker: string | undefined
  readonly key: string
  /** The file and the line, such as `known_hosts:3`. */
  readonly place: string
}

const hostName = (host: string, port: number): string => port === 22 ? host.toLowerCase() : `[${host.toLowerCase()}]:${port}`

const isHashOf = (text: string, host: string): boolean => {
  const [, , salt = "", hash] = text.split("|")
  return createHmac("sha1", Buffer.from(salt, "base64")).update(host).digest("base64") === hash
}

const matches = (pattern: string, host: string): boolean =>
  new RegExp(`^${pattern.toLowerCase().replace(/[\\^$.*+?()[\]{}|]/g, "\\$&").replaceAll("\\*", ".*").replaceAll("\\?", ".")}$`, "s").test(
    host
  )

const names = (hosts: string, host: string): boolean => {
  if (hosts.startsWith("|1|")) return isHashOf(hosts, host)
  const patterns = hosts.split(",")
  return !patterns.some((each) => each.startsWith("!") && matches(each.slice(1), host)) &&
    patterns.some((each) => !each.startsWith("!") && matches(each, host))
}

/** The entries of a file for a host. Lines that are no entries are ignored, as OpenSSH does. */
export const entriesOf = (text: string, file: string, host: string, port: number): ReadonlyArray<Entry> =>
  text.split(/\r?\n/).flatMap((line, index) => {
    const [, marker, hosts, key] = /^\s*(?:(@\S+)\s+)?([^\s#@]\S*)\s+\S+\s+([A-Za-z0-9+/]+=*)/.exec(line) ?? []
    return hosts !== undefined && key !== undefined && names(hosts, hostName(host, port))
      ? [{ marker, key, place: `${file}:${index + 1}` }]
      : []
  })

const isKey = (marker: string | undefined) => ({ marker: of }: Entry) => of === marker

/** The types of the keys that are known, so that the server is asked for one of these. */
export const knownTypes = (entries: ReadonlyArray<Entry>): ReadonlySet<string> =>
  new Set(entries.filter(isKey(undefined)).map(({ key }) => typeOf(Buffer.from(key, "base64"))))

export type Verdict =
  | { readonly _tag: "Known" }
  | { readonly _tag: "Revoked"; readonly place: string }
  /** The host has other keys. */
  | { readonly _tag: "Changed"; readonly place: string }
  | { readonly _tag: "Unknown"; readonly onlyAuthorities: boolean }

/** Decides about the key that a server has shown. */
export const judge = (entries: ReadonlyArray<Entry>, key: HostKey): Verdict => {
  const text = Buffer.from(key).toString("base64")
  const revoked = entries.filter(isKey("@revoked")).find((entry) => entry.key === text)
  if (revoked !== undefined) return { _tag: "Revoked", place: revoked.place }
  const plain = entries.filter(isKey(undefined))
  if (plain.some((entry) => entry.key === text)) return { _tag: "Known" }
  const [other] = plain
  return other === undefined
    ? { _tag: "Unknown", onlyAuthorities: entries.some(isKey("@cert-authority")) }
    : { _tag: "Changed", place: other.place }
}
