/** The routes of all pages, in a module of their own: it loads with the first request for a page. */
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import { CurrentAssumptions } from "../Assumptions.ts"
import * as Envelope from "../http/Envelope.ts"
import type { App } from "../http/Interface.ts"
import { CurrentWorld } from "../worlds/Worlds.ts"
import * as Behaviour from "./Behaviour.ts"
import * as ConsoleFaults from "./ConsoleFaults.ts"
import * as ConsoleRequests from "./ConsoleRequests.ts"
import * as ConsoleSnapshots from "./ConsoleSnapshots.ts"
import * as ConsoleState from "./ConsoleState.ts"
import * as ConsoleWorlds from "./ConsoleWorlds.ts"
import * as Developers from "./Developers.ts"
import * as Form from "./Form.ts"
import * as Home from "./Home.ts"
import * as Layout from "./Layout.ts"
import * as Operator from "./Operator.ts"
import * as Reference from "./Reference.ts"
import * as Replay from "./Replay.ts"
import { icon, script } from "./Script.ts"
import * as SignIn from "./SignIn.ts"
import { style } from "./Style.ts"
import { addresses, orPage } from "./Web.ts"

const file = (path: Layout.Route["path"], body: string, contentType: string): Layout.Route => ({
  method: "GET",
  path,
  handle: () => Effect.succeed(Envelope.raw(200, body, contentType))
})

const files = [
  file(Layout.paths.style, style, "text/css; charset=utf-8"),
  file(Layout.paths.script, script, "text/javascript; charset=utf-8"),
  file(Layout.paths.icon, icon, "image/svg+xml"),
  // Browsers ask for it on pages without a link to an icon, such as a JSON response.
  file(Layout.paths.favicon, icon, "image/svg+xml")
]

/** Runs the handler of a page for a request. */
const handle = Effect.fnUntraced(function*(route: Layout.Route, maxBodyBytes: number, prefix: string) {
  const request = yield* HttpServerRequest
  const query = request.url.indexOf("?")
  const done = Layout.doneFromCookie(request.headers["cookie"])
  const response = yield* route.handle({
    query: new URLSearchParams(query === -1 ? "" : request.url.slice(query + 1)),
    form: route.method === "POST" ? yield* Form.read(request, maxBodyBytes) : new URLSearchParams(),
    accountId: SignIn.accountFromCookie(request.headers["cookie"]),
    done,
    cookies: request.headers["cookie"],
    origin: `http://${request.headers["host"] ?? "localhost"}${prefix}`
  })
  return done === "" || route.method !== "GET" ? response : Layout.forgetDone(response)
})

export const layer = (app: App) =>
  HttpRouter.use(Effect.fnUntraced(function*(router) {
    const { maxBodyBytes } = yield* CurrentAssumptions
    const { prefix } = yield* CurrentWorld
    const replay = yield* Replay.make(app)
    const routes: ReadonlyArray<Layout.Route> = [
      ...(yield* Home.routes(addresses, replay)),
      ...(yield* SignIn.routes),
      ...(yield* Developers.routes),
      ...(yield* Operator.routes),
      ...(yield* ConsoleRequests.routes(replay)),
      ...(yield* ConsoleState.routes),
      ...(yield* ConsoleFaults.routes),
      ...(yield* Behaviour.routes),
      ...(yield* ConsoleSnapshots.routes),
      ...(yield* ConsoleWorlds.routes),
      ...(yield* Reference.routes(replay)),
      ...files
    ]
    for (const route of routes) {
      yield* router.add(route.method, route.path, orPage(route.path, handle(route, maxBodyBytes, prefix)), { uninterruptible: true })
    }
  }))
