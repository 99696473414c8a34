/** Which keys of SFTP servers are known by a file of OpenSSH, and what addresses of files on servers mean. */
import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import { createHmac } from "node:crypto"
import * as Address from "../src/source/remote/Address.ts"
import * as KnownHosts from "../src/source/remote/KnownHosts.ts"
import * as SourceUri from "../src/source/SourceUri.ts"

/** A key in the form of the protocol: its type, and some bytes. */
const keyOf = (type: string, content: string): Buffer => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(type.length)
  return Buffer.concat([length, Buffer.from(type), Buffer.from(content)])
}
const key = keyOf("ssh-ed25519", "the right key, 32 bytes long ...")
const other = keyOf("ssh-ed25519", "another key, also 32 bytes long.")
const line = (hosts: string, of = key) => `${hosts} ${KnownHosts.typeOf(of)} ${of.toString("base64")} comment`
const hash = (host: string) => {
  const salt = Buffer.from("twenty bytes of salt")
  return `|1|${salt.toString("base64")}|${createHmac("sha1", salt).update(host).digest("base64")}`
}
const verdict = (text: string, host = "sftp.example", port = 22) => KnownHosts.judge(KnownHosts.entriesOf(text, "known", host, port), key)

describe("a key of a server", () => {
  for (
    const [what, text, host, port] of [
      ["its name", line("sftp.example"), "sftp.example", 22],
      ["its name in capitals", line("SFTP.example"), "sftp.EXAMPLE", 22],
      ["one of several names", line("a.example,sftp.example,192.0.2.7"), "192.0.2.7", 22],
      ["its name and port", line("[sftp.example]:2222"), "sftp.example", 2222],
      ["a pattern", line("*.example"), "sftp.example", 22],
      ["a hash of its name", line(hash("sftp.example")), "sftp.example", 22],
      ["a hash of its name and port", line(hash("[sftp.example]:2222")), "sftp.example", 2222],
      ["one of several keys", `${line("sftp.example", other)}\n${line("sftp.example")}`, "sftp.example", 22],
      [
        "an entry among comments and mistakes",
        `# ${line("sftp.example", other)}\n\nnonsense\n${line("sftp.example")}\r\n`,
        "sftp.example",
        22
      ]
    ] as const
  ) {
    it(`is known by ${what}`, () => expect(verdict(text, host, port)).toEqual({ _tag: "Known" }))
  }

  for (
    const [what, text, host, port] of [
      ["is in no line", "", "sftp.example", 22],
      ["is known for another host", line("other.example"), "sftp.example", 22],
      ["is known for another port", line("sftp.example"), "sftp.example", 2222],
      ["is excepted from a pattern", line("*.example,!sftp.example"), "sftp.example", 22],
      ["has a name that a dot of a pattern is no wildcard for", line("sftp.example"), "sftpxexample", 22],
      ["has the hash of another host", line(hash("other.example")), "sftp.example", 22]
    ] as const
  ) {
    it(`is unknown if it ${what}`, () => expect(verdict(text, host, port)).toEqual({ _tag: "Unknown", onlyAuthorities: false }))
  }

  it("is unknown if only an authority is known for it", () =>
    expect(verdict(`@cert-authority ${line("*.example")}`)).toEqual({ _tag: "Unknown", onlyAuthorities: true }))

  it("has changed if others are known", () =>
    expect(verdict(`\n${line("sftp.example", other)}`)).toEqual({ _tag: "Changed", place: "known:2" }))

  it("is revoked, although it is known", () =>
    expect(verdict(`${line("sftp.example")}\n@revoked ${line("*")}`)).toEqual({ _tag: "Revoked", place: "known:2" }))
})

describe("an address of a file on a server", () => {
  const sftp = (text: string) => Address.parseSftp(text, "PASSWORD")
  const s3 = (text: string) => Address.parseS3(text, "KEYS")

  it("has a user, a host, a port and a path", () => {
    expect(sftp("sftp://me%40shop@[2001:db8::1]:2022/out/a%20b.csv")).toMatchObject(
      Result.succeed({ user: "me@shop", host: "2001:db8::1", port: 2022, path: "/out/a b.csv" })
    )
    expect(sftp("SFTP://me@shop@host/~/stock.csv")).toMatchObject(
      Result.succeed({ user: "me@shop", host: "host", port: 22, path: "stock.csv" })
    )
  })

  it("is shown without its user, with the port if it is another one, and with the home folder", () => {
    const shown = (text: string) => Result.map(sftp(text), (address) => Address.shownPath(address, address.path))
    expect(shown("sftp://me@[::1]:2022/~/stock.csv")).toEqual(Result.succeed("sftp://[::1]:2022/~/stock.csv"))
    expect(SourceUri.display("sftp://me:secret@host/in/stock-?.csv")).toBe("sftp://host/in/stock-?.csv")
    expect(SourceUri.display("s3://key:secret@bucket/a?b#c")).toBe("s3://bucket/a?b#c")
    expect(["sftp://me:secret@host/x", "s3://a:b@c/d", "sftp://me@host/a:b@c"].map(SourceUri.mayHoldSecret)).toEqual([true, true, false])
  })

  for (
    const [parsed, reason] of [
      [sftp("sftp://host/stock.csv"), "the address lacks the user"],
      [sftp("sftp://me:secret@host/stock.csv"), "put the password into PASSWORD"],
      [sftp("sftp://me@host:70000/stock.csv"), "this is not an address such as"],
      [sftp("sftp://me@/stock.csv"), "this is not an address such as"],
      [sftp("sftp://me@host"), "it names a folder"],
      [sftp("sftp://me@host/out/"), "it names a folder"],
      [sftp("sftp://me@host/*/stock.csv"), "a pattern can't be in the name of a folder"],
      [sftp("sftp://me@host/100%.csv"), "write %25"],
      [s3("s3://bucket"), "it names a folder"],
      [s3("s3:///stock.csv"), "this is not an address such as"],
      [s3("s3://id:secret@bucket/stock.csv"), "put keys into KEYS"],
      [s3("s3://bucket/a/../b.csv"), "its key has . or .."]
    ] as const
  ) {
    it(`is refused with the reason: ${reason}`, () => {
      const failure = Result.getOrElse(Result.flip<unknown, string>(parsed), () => "")
      expect(failure).toContain(reason)
      expect(failure).not.toContain("secret")
    })
  }

  it("may have a pattern, whose percent signs stand for its wildcards themselves", () => {
    const matches = (text: string, name: string) => Result.getOrThrow(sftp(text)).pattern?.test(name)
    expect(matches("sftp://me@host/stock-??.csv*", "stock-07.csv.gz")).toBe(true)
    expect(matches("sftp://me@host/stock-??.csv", "stock-7.csv")).toBe(false)
    expect(matches("sftp://me@host/a%2Ab?.csv", "a*b1.csv")).toBe(true)
    expect(matches("sftp://me@host/a%2Ab?.csv", "axb1.csv")).toBe(false)
    expect(matches("sftp://me@host/a%2Ab.csv", "a*b.csv")).toBe(undefined)
  })
})
