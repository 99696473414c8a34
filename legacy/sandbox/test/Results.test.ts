/**
 * The result of a handler becomes its response by the schema of its endpoint.
 */
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Context, DateTime, Effect, Either, identity, Option, Schema, Stream } from "effect"
import * as Endpoints from "../src/http/Endpoints.ts"
import * as Envelope from "../src/http/Envelope.ts"
import * as Failures from "../src/http/Failures.ts"
import * as Router from "../src/http/Router.ts"
import { ServerRequest } from "../src/http/ServerRequest.ts"

const Item = Schema.Struct({ id: Schema.String, at: Schema.DateTimeUtc })
const at = DateTime.unsafeMake("2026-01-01T00:00:00.000Z")
const things = HttpApiGroup.make("things")
  .add(HttpApiEndpoint.get("right", "/right").addSuccess(Item))
  .add(HttpApiEndpoint.get("nothing", "/nothing").addSuccess(Item).addSuccess(HttpApiSchema.NoContent))
  .add(HttpApiEndpoint.get("wrong", "/wrong").addSuccess(Item))
  .add(HttpApiEndpoint.get("partial", "/partial").addSuccess(Item))

const endpoints = (furtherFields: "preserve" | "ignore") => {
  const serving: Endpoints.Serving<never> = { basePath: "", middleware: identity, furtherFields }
  const group = Endpoints.group(serving, things, (handlers) =>
    Effect.succeed(
      handlers
        .handle("right", () => Effect.succeed({ id: "1", at, further: 5 }))
        .handle("nothing", () => Effect.void)
        // Defects of a handler, which its types exclude.
        .handle("wrong", () => Effect.succeed({ id: "1", at: 5 } as never))
        .handle("partial", () => Effect.succeed({ id: "1" } as never))
    ))
  return Endpoints.make(Context.empty(), group)
}

const request = (furtherFields: "preserve" | "ignore", path: string) =>
  Effect.gen(function*() {
    const { app, handlers } = endpoints(furtherFields)
    const sent = new ServerRequest(
      {
        method: "GET",
        url: path,
        headers: {},
        remoteAddress: Option.none(),
        hasBody: false,
        read: () => Effect.succeedNone,
        stream: Stream.empty
      },
      path,
      yield* handlers
    )
    const response = yield* Router.run(app(), sent, path, () => "").pipe(
      Effect.sandbox,
      Effect.either,
      Effect.flatMap(Either.match({
        onLeft: (cause) => Effect.map(Failures.fromCause(cause, "things"), ({ error }) => Envelope.failure(error)),
        onRight: Effect.succeed
      }))
    )
    return [response.status, Envelope.jsonOf(response), sent.result] as const
  })

describe("a result", () => {
  it.effect("is encoded, with further fields if they are preserved", () =>
    Effect.gen(function*() {
      const encoded = { id: "1", at: "2026-01-01T00:00:00.000Z" }
      assert.deepStrictEqual(yield* request("ignore", "/right"), [200, encoded, encoded])
      const whole = { ...encoded, further: 5 }
      assert.deepStrictEqual(yield* request("preserve", "/right"), [200, whole, whole])
    }))

  it.effect("without a value is 204 without a body", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* request("preserve", "/nothing"), [204, undefined, undefined])
    }))

  for (const path of ["/wrong", "/partial"]) {
    it.effect(`that does not match the contract is 500 in the envelope, not 400 (${path})`, () =>
      Effect.gen(function*() {
        for (const furtherFields of ["preserve", "ignore"] as const) {
          const [status, body, result] = yield* request(furtherFields, path)
          assert.strictEqual(status, 500)
          assert.strictEqual(Schema.decodeUnknownSync(Schema.Struct({ error: Schema.Struct({ code: Schema.String }) }))(body).error.code,
            "INTERNAL_ERROR")
          assert.isUndefined(result)
        }
      }))
  }
})
