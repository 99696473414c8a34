/**
 * `POST /posts` on the platform alone, without rules and storage: its router, its server, a decoded payload and an encoded response.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { createServer } from "node:http"
import { onRequest } from "../ChildProtocol.ts"

const Post = Schema.Struct({ id: Schema.String, text: Schema.String, createdAt: Schema.String })
const create = HttpApiEndpoint.post("create", "/posts", { payload: Schema.Struct({ text: Schema.String }), success: Post })
const api = HttpApi.make("api").add(HttpApiGroup.make("posts").add(create))

const group = HttpApiBuilder.group(api, "posts", (handlers) =>
  Effect.succeed(
    handlers.handle("create", ({ payload: { text } }) => Effect.succeed({ id: "1", text, createdAt: "2026-10-01T12:00:00.000Z" }))
  ))

const server = createServer()
const live = HttpRouter.serve(Layer.provide(HttpApiBuilder.layer(api), group), { disableLogger: true, disableListenLog: true }).pipe(
  Layer.provide(NodeHttpServer.layer(() => server, { host: "127.0.0.1", port: 0 }))
)

Effect.runFork(Effect.scoped(Effect.gen(function*() {
  yield* Layer.build(live)
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  onRequest(() => Promise.resolve({ address: `http://127.0.0.1:${port}`, key: "", pid: process.pid }))
  return yield* Effect.never
})))
