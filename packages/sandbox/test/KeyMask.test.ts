/**
 * No key of the sandbox, whatever its prefix, appears in the request log, in the commits or in a response of the control
 * API, except the one that creates the key.
 */
import { assert, describe, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { arrayOf, between, boolean, textOf } from "@plaza/testing/Generators"
import { Effect, Redacted } from "effect"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as KeyMask from "../src/http/KeyMask.ts"
import { call, control, field, layerInProcess } from "./support.ts"

const prefixes = ["key_", "sk-live.", "k", "pl/Live+2=", "me/", "a.b*c^d$e(f)g[h]{i}|j", "\"", "\\", "%41", "100%"]

const encodeAll = (value: string): string =>
  Array.from(value, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`).join("")

const writings: ReadonlyArray<(key: string) => string> = [
  encodeURIComponent,
  encodeAll,
  (key) => encodeURIComponent(encodeURIComponent(key)),
  (key) => `x${encodeURIComponent(key + key)}`,
  // Unencoded: a prefix with slashes is then in more than one segment of the path.
  (key) => encodeURI(key)
]

/** Everything that is recorded or returned. */
const shown = Effect.gen(function*() {
  const sandbox = yield* Sandbox.Sandbox
  const answers = yield* Effect.forEach(
    ["/requests", "/commits", "/state", "/faults", "/latitude", "/access-requests", "/health", "/clock"],
    (path) => control("GET", path)
  )
  const recorded = JSON.stringify([yield* sandbox.requests, yield* sandbox.commits])
  return [recorded, ...answers.map(({ text }) => text)].join("\n")
})

const leak = (value: string) =>
  Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    for (const write of writings) {
      const written = write(value)
      yield* call("GET", `/users/${written}?token=${written}`)
      yield* call("GET", `/users/by-username/${written}`)
      yield* call("GET", `/nowhere/${written}`)
      yield* call("GET", `/${written}`)
      yield* call("POST", `/posts/${written}/comments`, { json: { text: value } })
      yield* control("POST", `/keys/${written}/revoke`)
    }
    yield* call("POST", "/posts", { json: { text: `my key is ${value}.` } })
    yield* call("POST", "/stories", { json: { a: [{ [value]: value }], encoded: encodeAll(value) } })
    const form = new FormData()
    form.append("file", new File(["a"], `${value}.txt`, { type: "text/plain" }))
    yield* call("POST", "/media", { form })
    yield* call("PATCH", "/store/products/0042/stock", { json: { stock: 1 } })
    yield* sandbox.setProduct({ id: value })
    yield* call("PATCH", `/store/products/${encodeURIComponent(value)}/stock`, { json: { stock: 1 } })
    // An invalid fault, which the type does not permit: its error could contain the key.
    yield* sandbox.addFault({ kind: "drop", when: "before", path: `/users/${value}`, body: "" } as never).pipe(Effect.exit)
    yield* sandbox.addFault({ kind: "status", when: "before", status: 500, path: `/never/${encodeURIComponent(value)}`, body: value })
  })

describe("a key of the sandbox", () => {
  for (const keyPrefix of prefixes) {
    it.effect(`with the prefix ${keyPrefix} is neither recorded nor shown, wherever it was sent in a request`, () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const { apiKey } = yield* sandbox.createKey("1001")
        for (const key of [sandbox.apiKey, apiKey]) {
          const value = Redacted.value(key)
          assert.isTrue(value.startsWith(keyPrefix))
          yield* leak(value)
          assert.notInclude(yield* shown, value.slice(-40))
          assert.notInclude(yield* shown, encodeAll(value.slice(-40)))
          assert.include(yield* shown, "key_***")
        }
      }).pipe(Effect.provide(layerInProcess({ latitude: { keyPrefix }, assumptions: { requestsPerWindow: 1_000 } }))))
  }

  it.effect("is masked after a change of the prefix, and after a reset", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { apiKey } = yield* sandbox.createKey("1001")
      const value = Redacted.value(apiKey)
      yield* sandbox.setLatitude({ keyPrefix: "other-" })
      for (const before of [Effect.void, sandbox.reset]) {
        yield* before
        yield* call("GET", `/users/${value}`)
        assert.notInclude(yield* shown, value.slice(-40))
      }
    }).pipe(Effect.provide(layerInProcess({ latitude: { keyPrefix: "sk-live." } }))))

  it.effect("is masked and stays valid when its data file is opened again with another prefix", () =>
    Effect.scoped(Effect.gen(function*() {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => Fs.mkdtempSync(join(tmpdir(), "plaza-mask-"))),
        (path) => Effect.sync(() => Fs.rmSync(path, { recursive: true, force: true }))
      )
      const data = join(folder, "shop.db")
      const value = yield* Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        yield* sandbox.setLatitude({ keyPrefix: "p-2." })
        yield* sandbox.reset
        yield* sandbox.setLatitude({ keyPrefix: "p-3." })
        const { apiKey } = yield* sandbox.createKey("1001")
        return Redacted.value(apiKey)
      }).pipe(Effect.provide(layerInProcess({ data, latitude: { keyPrefix: "p-1." } })))
      yield* Effect.gen(function*() {
        for (const prefix of ["p-1.", "p-2.", "p-3."]) {
          const key = prefix + value.slice(-40)
          assert.strictEqual((yield* call("GET", `/users/${key}`, { key })).status, 404)
        }
        assert.notInclude(yield* shown, value.slice(-40))
      }).pipe(Effect.provide(layerInProcess({ data })))
    })))

  it.effect("of the default prefix stays valid when its data file is opened again with another one", () =>
    Effect.scoped(Effect.gen(function*() {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => Fs.mkdtempSync(join(tmpdir(), "plaza-mask-"))),
        (path) => Effect.sync(() => Fs.rmSync(path, { recursive: true, force: true }))
      )
      const data = join(folder, "shop.db")
      const key = Redacted.value((yield* Effect.provide(Sandbox.Sandbox, layerInProcess({ data }))).apiKey)
      const reply = yield* Effect.provide(call("GET", "/me", { key }), layerInProcess({ data, latitude: { keyPrefix: "abc_" } }))
      assert.strictEqual(reply.status, 200)
      const fresh = yield* Effect.provide(call("GET", "/me", { key }), layerInProcess({ latitude: { keyPrefix: "abc_" } }))
      assert.strictEqual(fresh.status, 401)
    })))

  it.effect("is shown once, in the response that creates it", () =>
    Effect.gen(function*() {
      const reply = yield* control("POST", "/accounts/1001/keys", { json: {} })
      assert.match(String(field(reply, "apiKey")), /^sk-live\.[A-Za-z0-9]{40}$/)
    }).pipe(Effect.provide(layerInProcess({ latitude: { keyPrefix: "sk-live." } }))))

  it.effect("is masked in a refusal of the operation that creates keys", () =>
    Effect.gen(function*() {
      const { apiKey } = yield* Sandbox.Sandbox
      const key = Redacted.value(apiKey)
      const reply = yield* control("POST", `/accounts/${key}/keys`, { json: {} })
      assert.strictEqual(reply.status, 404)
      assert.notInclude(reply.text, key.slice(-40))
    }).pipe(Effect.provide(layerInProcess())))
})

describe("a mask", () => {
  const secret = "aZ09".repeat(10)

  it.prop("finds a key of any prefix, however it is percent-encoded, and leaves the rest unchanged", [
    textOf(between(0x21, 0x7e), { minLength: 1, maxLength: 12 }),
    arrayOf(boolean, { minLength: 52, maxLength: 52 })
  ], ([prefix, choices]) => {
    const mask = KeyMask.make(new Set([prefix]))
    const written = Array.from(prefix + secret, (character, index) => choices[index] === true ? encodeAll(character) : character).join("")
    assert.strictEqual(mask.text(`§${written}§`), "§key_***§")
    assert.strictEqual(mask.text(`§${prefix}${secret.slice(1)}§`), `§${prefix}${secret.slice(1)}§`)
  })

  it("leaves JSON without a key unchanged, fields named __proto__ included", () => {
    const mask = KeyMask.make(new Set(["sk-"]))
    const value: unknown = JSON.parse(`{"__proto__":{"a":[1,null,true,"x"]},"sk-${secret}":"sk-${secret}"}`)
    assert.strictEqual(JSON.stringify(mask.json(value)), `{"__proto__":{"a":[1,null,true,"x"]},"key_***":"key_***"}`)
  })

  it("finds a key after a text that looks like one", () => {
    const mask = KeyMask.make(new Set(["b", "%"]))
    assert.strictEqual(mask.text(`${"b".repeat(60)}${secret}.`), "key_***.")
    assert.strictEqual(mask.text(`%${"2".repeat(40)}b${secret}.%25${secret}.`), "key_***key_***.key_***.")
  })

  it("takes linear time for long texts with many starts of keys", () => {
    const mask = KeyMask.make(new Set(["%", "%25", "a", "aa", "aaa"]))
    for (const piece of ["%25", "a", "%", "%2525aa"]) {
      const text = piece.repeat(200_000)
      assert.isAbove(mask.text(text).length, 0)
    }
  })
})
