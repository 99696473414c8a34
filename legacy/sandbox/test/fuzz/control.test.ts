/**
 * Requests to the control API: a status of the server's own failures, a body without the error envelope, or a sandbox that no longer works
 * is a mistake.
 */
import type { HttpMethod } from "@effect/platform"
import * as Fuzz from "@plaza-legacy/testing/Fuzz"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { call, control, layerInProcess } from "../support.ts"

// Method and path in the first line, then the body.
const requests: ReadonlyArray<readonly [line: string, body: unknown]> = [
  ["POST /accounts", { id: "007", username: "bond", name: "James", photo: true, cover: false }],
  ["PATCH /accounts/1001", { photo: false, cover: true }],
  ["POST /accounts/1001/access", { move: "revoke" }],
  ["POST /accounts/1001/access-requests", { company: "x", purpose: "y" }],
  ["POST /accounts/1001/keys", { name: "k", scopes: ["posts:read"] }],
  ["PATCH /relations", { from: "1001", to: "1002", follows: true, blocks: false, hasWritten: true }],
  ["POST /posts", { accountId: "1001", text: "x", mediaIds: [], createdAt: "2026-01-02T03:04:05.006Z" }],
  ["PUT /products", { id: "0042", name: "Tea", stock: 1 }],
  ["PUT /orders", { id: "O-1", shipment: { carrier: "DHL", trackingNumber: "1" } }],
  ["POST /conversations", { peerId: "1002", messages: [{ text: "x", isOwn: true }] }],
  ["POST /fixtures", { products: [{ id: "SKU/1", stock: 7 }] }],
  ["POST /faults", { kind: "status", status: 503, when: "before", method: "GET", path: "/me", count: 2 }],
  ["POST /faults", { kind: "delay", delay: { min: 1, max: 2 }, rate: 0.5 }],
  ["POST /faults", { kind: "sequence", outcomes: [{ kind: "pass" }, { kind: "drop", when: "after" }] }],
  ["POST /clock", { millis: 1_000 }],
  ["POST /latitude", { text: "trimmed", listLagMillis: 5 }],
  ["POST /snapshots", { name: "a" }],
  ["GET /requests?limit=5&path=/me*", {}],
  ["GET /state", {}]
]

const isMethod = (text: string | undefined): text is HttpMethod.HttpMethod =>
  text !== undefined && ["GET", "POST", "PUT", "PATCH", "DELETE"].includes(text)

it("a request is accepted, or refused with the error envelope, and the sandbox goes on", () =>
  Fuzz.run({
    seeds: requests.map(([line, body]) => `${line}\n${JSON.stringify(body)}`),
    words: ["%", "%00", "%zz", "../", "?", "&limit=", "1001", "\"count\":", "{}"],
    check: (bytes) => {
      const end = bytes.indexOf(0x0a)
      const [method, path = "/state"] = Buffer.from(bytes.subarray(0, Math.max(end, 0))).toString("latin1").split(" ")
      return Effect.gen(function*() {
        // The client would encode other characters.
        const sent = /^\/[\w%/?&=*.-]*$/.test(path) ? path : "/accounts"
        const { json, status } = yield* control(isMethod(method) ? method : "POST", sent, { bytes: bytes.subarray(end + 1) })
        expect(status).toBeLessThan(500)
        const envelope = { error: { code: expect.any(String) as unknown, message: expect.any(String) as unknown } }
        expect({ json }).toMatchObject(status < 400 ? {} : { json: envelope })
        yield* control("DELETE", "/faults")
        expect((yield* control("GET", "/state")).status).toBe(200)
        expect((yield* call("GET", "/me")).status).toBeLessThan(500)
      }).pipe(Effect.provide(layerInProcess()))
    }
  }))
