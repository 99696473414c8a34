/**
 * The catalogue beside the tables of the document and of the design, row by row.
 */
import { describe, expect, it } from "@effect/vitest"
import { commonErrors, isWrite, names, type Operation, operations } from "../src/Operations.ts"
import { texts } from "../src/OperationTexts.ts"

// What the document says of each endpoint beyond what it says of all of them.
const user = ["NOT_FOUND", "USER_UNAVAILABLE"]
const store = ["INVALID_JSON", "NOT_FOUND", "STORE_BLOCKED"]
const table = [
  ["GET /me", "Read", "nothing", []],
  ["GET /users/:id", "Read", "parameters", user],
  ["GET /users/by-username/:username", "Read", "parameters", user],
  ["POST /media", "Repeatable", "write", []],
  ["POST /posts", "Checkable", "write", ["INVALID_JSON", "NOT_FOUND"]],
  ["GET /me/posts", "Read", "parameters", []],
  ["POST /posts/:id/comments", "Once", "write", ["INVALID_JSON", ...user]],
  ["POST /posts/:id/like", "Repeatable", "write", user],
  ["POST /users/:id/follow", "Repeatable", "write", user],
  ["PATCH /store/products/:id/stock", "Repeatable", "write", store],
  ["POST /store/orders/:id/ship", "Checkable", "write", [...store, "CONFLICT"]],
  ["GET /conversations", "Read", "parameters", []],
  ["POST /conversations/:id/messages", "Once", "write", ["INVALID_JSON", "CHAT_BLOCKED", "CHAT_NOT_ALLOWED", ...user]],
  // The document doesn't show its payload, so it may refer to media that doesn't exist.
  ["POST /stories", "Once", "write", ["INVALID_JSON", "NOT_FOUND"]]
] as const

const bySent = {
  nothing: [],
  parameters: ["VALIDATION_ERROR"],
  write: ["VALIDATION_ERROR", "PROFILE_INCOMPLETE", "PAYLOAD_TOO_LARGE"]
}

const rows = new Map<string, Operation>(names.map((name) => [`${operations[name].method} ${operations[name].path}`, operations[name]]))

describe("the catalogue", () => {
  it("has the endpoints of the document, stories, and no others", () => {
    expect([...rows.keys()].sort()).toEqual(table.map(([route]) => route).sort())
  })

  it.each(table)("%s is delivered as %s", (route, delivery) => {
    expect(rows.get(route)?.delivery).toBe(delivery)
  })

  it.each(table)("%s (%s) fails with the documented errors and no others", (route, _delivery, sent, own) => {
    expect([...rows.get(route)?.errors ?? []].sort()).toEqual([...bySent[sent], ...own].sort())
  })

  it("has the errors of every call once", () => {
    expect([...commonErrors].sort()).toEqual(
      ["DEVELOPER_ACCESS_REVOKED", "FORBIDDEN", "INSUFFICIENT_SCOPE", "INTERNAL_ERROR", "INVALID_API_KEY", "RATE_LIMITED"]
    )
  })

  it("accepts a response without a body exactly where the request determines the result, and for a story", () => {
    expect([...rows].filter(([, { mayBeEmpty }]) => mayBeEmpty).map(([route]) => route).sort()).toEqual([
      "PATCH /store/products/:id/stock",
      "POST /conversations/:id/messages",
      "POST /posts/:id/comments",
      "POST /posts/:id/like",
      "POST /store/orders/:id/ship",
      "POST /stories",
      "POST /users/:id/follow"
    ])
  })
})

describe.each(names)("%s", (name) => {
  const { action, delivery, errors, method, parameters, path, payload }: Operation = operations[name]
  const { description, summary, whenUnknown } = texts[name]

  it("writes unless it is a GET", () => {
    expect(isWrite(name)).toBe(method !== "GET")
    expect(action === "read").toBe(method === "GET")
    expect(delivery === "Read").toBe(method === "GET")
  })

  it("has a schema for each parameter of its path", () => {
    expect(Object.keys(parameters?.fields ?? {})).toEqual([...path.matchAll(/:(\w+)/g)].map((match) => match[1]))
  })

  it("fails with INVALID_JSON exactly if it has a JSON body", () => {
    expect(errors.includes("INVALID_JSON")).toBe(payload !== undefined)
  })

  it("updates exactly what its path identifies and what can't be undone", () => {
    expect(action === "update").toBe(["setStock", "shipOrder"].includes(name))
  })

  it("has a summary, a description and advice, as sentences", () => {
    expect(summary).toMatch(/^[A-Z].*[^.]$/)
    expect(description).toMatch(/^[A-Z].*\.$/)
    expect(whenUnknown).toMatch(/^[A-Z].*\.$/)
  })

  it("advises to repeat only what may be repeated", () => {
    expect(whenUnknown.startsWith("Check")).toBe(delivery === "Once" || name === "createPost")
  })
})
