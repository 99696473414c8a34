/**
 * Fields and paths of `plaza api` reach the service as they are typed.
 */
import { it } from "@effect/vitest"
import { json, text, unicode } from "@plaza/testing/Generators"
import { Arbitrary, Result } from "effect"
import { describe, expect } from "vitest"
import * as Fields from "../src/commands/api/Fields.ts"

const name = Arbitrary.filter(unicode({ minLength: 1 }), (name) => !name.includes("=") && !name.endsWith(":"))
const parsed = (...written: ReadonlyArray<string>) => Result.map(Fields.parse(written), (fields) => Object.fromEntries(fields))
const refusal = (result: Result.Result<unknown, { readonly message: string }>) =>
  Result.match(result, { onFailure: ({ message }) => message, onSuccess: () => "accepted" })

describe("a field", () => {
  it.prop("of the form name=text is that text, whatever its characters", [name, text], ([name, text]) => {
    expect(Result.getOrThrow(Fields.parse([`${name}=${text}`])).get(name)).toBe(text)
  })

  it.prop("of the form name:=json is that value", [name, json], ([name, value]) => {
    expect(Result.getOrThrow(Fields.parse([`${name}:=${JSON.stringify(value)}`])).get(name)).toEqual(value)
  })

  it("stays text where it looks like a number", () => {
    expect(parsed("stock=7", "exact:=7", "list:=[1,2]", "empty=", "a=b=c")).toEqual(
      Result.succeed({ stock: "7", exact: 7, list: [1, 2], empty: "", a: "b=c" })
    )
  })

  it("in a query is its text, or its JSON", () => {
    const target = { path: "/me", query: { d: "1" } }
    expect(Fields.query(target, new Map<string, unknown>([["a", "x y"], ["b", 5], ["c", [1]]]))).toEqual(
      Result.succeed({ a: "x y", b: "5", c: "[1]", d: "1" })
    )
    expect(refusal(Fields.query(target, new Map([["d", "2"]])))).toBe("d is in the path and in --field: remove one of them")
  })

  it.each([
    ["stock", `--field "stock" has no value: write name=value or name:=json`],
    ["=7", `--field "=7" has no name: write name=value or name:=json`],
    [":=7", `--field ":=7" has no name: write name=value or name:=json`]
  ])("%s is refused", (written, sentence) => {
    expect(refusal(Fields.parse([written]))).toBe(sentence)
  })

  it("is refused when its JSON is broken or its name is there already", () => {
    expect(refusal(Fields.parse(["a:={"]))).toMatch(/^the value of --field a is not valid JSON: /)
    expect(refusal(Fields.parse(["a=1", "a=2"]))).toBe("--field a is given twice: remove one of them")
  })
})

describe("a path", () => {
  it("may have a slash at its beginning or not, and a query", () => {
    expect(Result.all([Fields.target("me"), Fields.target("/me"), Fields.target("/me/posts?limit=5&cursor=a%2Bb")])).toEqual(
      Result.succeed([{ path: "/me", query: {} }, { path: "/me", query: {} }, { path: "/me/posts", query: { limit: "5", cursor: "a+b" } }])
    )
  })

  it.each([
    ["https://x/me", "/me"],
    ["http://127.0.0.1:4010/open/v1/me/posts?limit=5", "/me/posts?limit=5"],
    ["HTTPS://host/open/v1", "/me"],
    ["https://host", "/me"],
    ["https://host/api/x", "/api/x"],
    ["ftp://host/a", "/a"]
  ])("is refused when it is the URL %s", (written, path) => {
    expect(refusal(Fields.target(written))).toBe(
      `PATH is a path below the base URL, not a whole URL: write ${path}, and set another base URL with --base-url`
    )
  })

  it("is refused when its query names one thing twice", () => {
    expect(refusal(Fields.target("/me?a=1&a=2"))).toBe(`the query of "/me?a=1&a=2" has a duplicate parameter: remove one of them`)
  })
})
