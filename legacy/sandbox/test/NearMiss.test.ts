/** What the refusal of an unknown route says about a similar one. */
import { assert, describe, it } from "@effect/vitest"
import { Sandbox } from "@plaza-legacy/sandbox"
import { Effect, FastCheck as fc } from "effect"
import { assumedOperations, documentedOperations } from "../src/http/Admission.ts"
import * as NearMiss from "../src/http/NearMiss.ts"
import { call, control, layerInProcess, layerSocket, messageOf, refusal } from "./support.ts"

const nearMiss = NearMiss.make([...documentedOperations, ...assumedOperations], "/open/v1")

describe("the refusal of an unknown route", () => {
  it.each([
    ["POST", "/open/v1/store/products/7/stock", "PATCH /store/products/{id}/stock (PATCH instead of POST)"],
    ["GET", "/open/v1/posts/7/like", "POST /posts/{id}/like (POST instead of GET)"],
    ["PUT", "/open/v1/posts/7", "GET, PATCH or DELETE /posts/{id} (GET, PATCH or DELETE instead of PUT)"],
    ["HEAD", "/open/v1/me", "GET /me (GET instead of HEAD)"],
    ["GET", "/me", "GET /open/v1/me (with /open/v1 in front)"],
    ["GET", "/v1/me", "GET /open/v1/me (/open/v1 instead of /v1)"],
    ["GET", "/open/v2/me/posts", "GET /open/v1/me/posts (/open/v1 instead of /open/v2)"],
    ["GET", "/open/v1/open/v1/me", "GET /me (with /open/v1 only once)"],
    ["GET", "/open/v1/me/", "GET /me (without a slash at the end)"],
    ["POST", "/open/v1//posts", "POST /posts (without empty segments)"],
    ["POST", "/open/v1/post", "POST /posts (\"posts\" instead of \"post\")"],
    ["POST", "/open/v1/story", "POST /stories (\"stories\" instead of \"story\")"],
    ["GET", "/open/v1/Me", "GET /me (\"me\" instead of \"Me\")"],
    ["GET", "/open/v1/conversatoins", "GET /conversations (\"conversations\" instead of \"conversatoins\")"],
    ["GET", "/open/v1/posts", "GET /me/posts (\"me\" is missing)"],
    ["GET", "/open/v1/products", "GET /store/products (\"store\" is missing)"],
    ["POST", "/open/v1/orders/500001/ship", "POST /store/orders/{id}/ship (\"store\" is missing)"],
    [
      "PUT",
      "/products/7/stock",
      "PATCH /open/v1/store/products/{id}/stock (PATCH instead of PUT, with /open/v1 in front, \"store\" is missing)"
    ],
    ["GET", "/open/v1/users/username/anna", "GET /users/by-username/{username} (\"by-username\" instead of \"username\")"],
    [
      "PATCH",
      "/open/v1/store/products/CAP/RED%20L/stock",
      "PATCH /store/products/{id}/stock (\"CAP%2FRED%20L\" instead of \"CAP/RED%20L\": a slash in an id is %2F)"
    ],
    ["POST", "/open/v1/posts/7", "GET, PATCH or DELETE /posts/{id} (GET, PATCH or DELETE instead of POST)"],
    [
      "POST",
      "/store/product/a%2Fb/stok/",
      "PATCH /open/v1/store/products/{id}/stock (PATCH instead of POST, with /open/v1 in front, without a slash at the end, \"products\" instead of \"product\", \"stock\" instead of \"stok\")"
    ]
  ])("%s %s asks for a similar one", (method, path, question) => {
    assert.strictEqual(nearMiss(method, path), `: did you mean ${question}?`)
  })

  it.each(["/", "/nowhere", "/open/v1/", "/open/v1/nowhere", "/open/v1/users/1/follow/more", `/open/v1/${"posts/".repeat(500)}`])(
    "GET %s asks for none",
    (path) => {
      assert.strictEqual(nearMiss("GET", path), "")
    }
  )

  it("finds every route again that has one letter too many in one of its own words", () => {
    fc.assert(fc.property(fc.constantFrom(...documentedOperations), fc.nat(), fc.constantFrom("x", "e"), ({ method, path }, at, letter) => {
      const words = path.split("/").flatMap((segment, index) => segment.length > 3 && !segment.startsWith(":") ? [index] : [])
      const chosen = words[at % words.length]
      const written = path.split("/").map((segment, index) => segment.startsWith(":") ? "7" : index === chosen ? segment + letter : segment)
        .join("/")
      fc.pre(chosen !== undefined)
      assert.include(nearMiss(method, `/open/v1${written}`), `did you mean ${method} ${path.replace(/:(\w+)/g, "{$1}")}`)
    }))
  })

  for (const [way, provide] of [["in process", layerInProcess], ["over a socket", layerSocket]] as const) {
    it.effect(`has the question in its message and in the log ${way}`, () =>
      Effect.gen(function*() {
        const { requests } = yield* Sandbox.Sandbox
        const reply = yield* call("POST", "/store/products/7/stock", { json: { stock: 1 } })
        assert.strictEqual(refusal(reply), "404 NOT_FOUND")
        const message =
          "there is no endpoint POST /store/products/7/stock: did you mean PATCH /store/products/{id}/stock (PATCH instead of POST)?"
        assert.strictEqual(messageOf(reply), message)
        assert.strictEqual((yield* requests).at(-1)?.reason, message)
        const known = yield* control("POST", "/fault", { json: {} })
        assert.include(messageOf(known), "did you mean POST /sandbox/faults (\"faults\" instead of \"fault\")?")
      }).pipe(Effect.provide(provide())))
  }

  it.effect("does not name an assumed operation where these are off", () =>
    Effect.gen(function*() {
      assert.include(messageOf(yield* call("POST", "/store")), "GET /store")
      assert.notInclude(
        messageOf(yield* Effect.provide(call("POST", "/store"), layerInProcess({ assumptions: false }))),
        "GET /store"
      )
    }).pipe(Effect.provide(layerInProcess())))
})
