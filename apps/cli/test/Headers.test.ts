/**
 * `--header` as it is typed, and what it can't set.
 */
import { Result } from "effect"
import { describe, expect, it } from "vitest"
import * as HeaderOption from "../src/commands/api/Headers.ts"

const refusal = (written: ReadonlyArray<string>) =>
  Result.match(HeaderOption.parse(written), { onFailure: ({ message }) => message, onSuccess: () => "accepted" })

describe("a header", () => {
  it("is a name, a colon and a value, with space or none", () => {
    expect(HeaderOption.parse(["X-Source: import, again", "accept:text/plain", "x-empty:"])).toEqual(
      Result.succeed({ "x-source": "import, again", accept: "text/plain", "x-empty": "" })
    )
  })

  it.each(["Authorization: Bearer x", "proxy-authorization:x"])("%s is refused, because the key has its own options", (written) => {
    expect(refusal([written])).toMatch(/^--header can't set (proxy-)?authorization: the key comes from the profile or PLAZA_API_KEY$/)
  })

  it.each([
    "Host: x",
    "Content-Length: 3",
    "transfer-encoding: chunked",
    "Connection: close",
    "Keep-Alive: timeout=5",
    "proxy-connection: close",
    "Upgrade: websocket",
    "Expect: 100-continue",
    "TE: trailers",
    "Trailer: x"
  ])(
    "%s is refused, for it follows from the request",
    (written) => {
      expect(refusal([written])).toContain("the HTTP client sets it")
    }
  )

  it("is refused without telling it again when it is none, for it may be a key", () => {
    for (const written of [`key_${"x".repeat(40)}`, "two words: x", ": x", "a\nb: c", ""]) {
      expect(refusal([written])).toBe(`write a header as --header "Name: value"`)
    }
  })

  it("is refused when its value would end it, or its name is there already", () => {
    expect(refusal(["x: a\r\nauthorization: b"])).toBe(
      "the value of --header x is invalid: remove line breaks and control characters"
    )
    expect(refusal(["x: a", "X: b"])).toBe("--header x is given twice: remove one of them")
  })
})
