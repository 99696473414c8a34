/**
 * A post that is created although the response is a failure.
 */
import { Sandbox } from "@plaza/sandbox"
import { Effect } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"

export const failsAfterCommit = Effect.gen(function*() {
  const sandbox = yield* Sandbox.Sandbox
  const client = yield* HttpClient.HttpClient
  yield* sandbox.addFault({ kind: "status", when: "after", status: 500, path: "/posts" })
  const response = yield* client.execute(
    HttpClientRequest.post(`${sandbox.baseUrl}/posts`).pipe(
      HttpClientRequest.bearerToken(sandbox.apiKey),
      HttpClientRequest.bodyJsonUnsafe({ text: "hello" })
    )
  )
  const { posts } = yield* sandbox.state
  return { status: response.status, newest: posts.at(-1)?.text } // 500, "hello": the post was created
}).pipe(Effect.provide(Sandbox.layerHttpClient()))
