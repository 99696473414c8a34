import { describe, expect, it } from "@effect/vitest"
import * as Generate from "@plaza/testing/Generators"
import { Arbitrary, Redacted, Result } from "effect"
import { checkBaseUrl } from "../src/internal/BaseUrl.ts"
import * as Settings from "../src/Settings.ts"

const refusal = (text: string) => Result.getOrElse(Result.flip(checkBaseUrl(text)), (accepted) => `accepted as ${accepted}`)

describe("a base URL", () => {
  it("is accepted with and without a trailing slash", () => {
    for (
      const text of [
        "https://host/open/v1",
        "https://host/open/v1/",
        "HTTPS://Host:8443/open/v1//",
        "https://[2001:db8::1]/open/v1",
        "https://host"
      ]
    ) {
      expect(checkBaseUrl(text)).toEqual(Result.succeed(text.replace(/\/+$/, "")))
    }
  })

  it("is rejected with a blank, a line end or a control character", () => {
    for (
      const text of [
        " https://host/open/v1",
        "https://host/open/v1 ",
        "https://host/open/v1\n",
        "https://host/open/\tv1",
        "https://ho\rst/open/v1",
        "\u0000https://host/open/v1",
        "https://host/open/v1\u00a0"
      ]
    ) {
      expect(refusal(text)).toContain("blanks")
    }
  })

  it("is rejected with a query or a fragment, also an empty one", () => {
    for (
      const text of [
        "https://host/open/v1?",
        "https://host/open/v1#",
        "https://host/open/v1?#",
        "https://host/open/v1?a=b",
        "https://host?/open/v1"
      ]
    ) {
      expect(refusal(text)).toContain("without ? or #")
    }
  })

  it("is rejected with a path that isn't normalised, and the error contains the normalised path", () => {
    const cases = {
      "https://host/a/../open/v1": "/open/v1",
      "https://host/open/v1/.": "/open/v1/",
      "https://host/a/%2e%2E/open": "/open",
      "https://host\\open\\v1": "/open/v1",
      "https://host/öpen": "/%C3%B6pen"
    }
    for (const [text, path] of Object.entries(cases)) {
      expect(refusal(text)).toContain(`write ${path} instead of`)
    }
  })

  it("is rejected with a user or a password, also an empty one", () => {
    for (const text of ["https://user@host/open/v1", "https://user:secret@host/open/v1", "https://@host/open/v1"]) {
      expect(refusal(text)).toContain("user name")
      expect(refusal(text)).not.toContain("secret")
    }
  })

  it("is rejected with plain http to another machine, unless the option allows it", () => {
    const elsewhere = [
      "http://host/open/v1",
      "http://127.0.0.1.evil.example/open/v1",
      "http://10.0.0.1/",
      "http://localhost.example",
      "http://128.0.0.1",
      "http://[::2]/open/v1",
      "http://notlocalhost"
    ]
    for (const text of elsewhere) {
      expect(refusal(text)).toMatch(/use https, or set PLAZA_ALLOW_INSECURE_HTTP=true$/)
      expect(Result.isSuccess(checkBaseUrl(text, { allowInsecureHttp: true }))).toBe(true)
    }
    const options = { baseUrl: "http://10.0.0.1/", apiKey: Redacted.make("key") }
    expect(Result.getOrThrow(Result.flip(Settings.fromOptions(options))).message).toMatch(/use https, or set allowInsecureHttp: true$/)
    for (const host of ["localhost", "LocalHost:4010", "shop.localhost", "127.0.0.1", "127.9.9.9:1", "127.1", "[::1]:1"]) {
      expect(Result.isSuccess(checkBaseUrl(`http://${host}/open/v1`))).toBe(true)
    }
  })

  const piece = Generate.oneOf(
    Generate.anyOf([
      "/",
      "//",
      "..",
      ".",
      "%2e",
      "%2E%2e",
      "open",
      "v1",
      "?",
      "#",
      " ",
      "\\",
      "@",
      ":",
      "\t",
      "ö",
      "%",
      "%2",
      ";",
      "a b",
      "\n",
      "host",
      ":8443",
      "[::1]"
    ]),
    Generate.unicode({ maxLength: 5 })
  )
  const scheme = Generate.anyOf(["https://", "http://", "https:/", "https:", "HTTPS://", "ftp://", "//", ""])
  const host = Generate.anyOf(["host", "host:1", "[::1]", "127.0.0.1", ""])
  const anyText = Arbitrary.map(
    Arbitrary.all([scheme, host, Generate.arrayOf(piece, { maxLength: 6 })]),
    ([scheme, host, pieces]) => scheme + host + pieces.join("")
  )
  const anyPath = Generate.anyOf(
    ["/me", "/me/posts", "/users/a%2Fb", "/posts/%23/like"]
  )

  it.prop("that is accepted, with a path appended, parses to the same origin and both paths", [anyText, anyPath], ([text, path]) => {
    const checked = checkBaseUrl(text, { allowInsecureHttp: true })
    if (Result.isSuccess(checked)) {
      const base = new URL(text)
      expect(new URL(checked.success + path).href).toBe(base.origin + base.pathname.replace(/\/+$/, "") + path)
    }
  }, { arbitrary: { runs: 2_000 } })
})
