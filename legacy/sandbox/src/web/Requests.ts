/**
 * The console's pages of requests: the list, one request in detail, and the export. With scripts the list updates itself.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { AccountsRepo } from "../access/AccountsRepo.ts"
import { KeysRepo } from "../access/KeysRepo.ts"
import * as Envelope from "../http/Envelope.ts"
import { type RequestDetail, RequestLog, type RequestRecord } from "../http/RequestLog.ts"
import { basePath } from "../http/ServedApi.ts"
import * as Har from "./Har.ts"
import * as Page from "./Page.ts"
import * as Replay from "./Replay.ts"
import * as RequestFilter from "./RequestFilter.ts"
import * as List from "./RequestsView.ts"
import * as Detail from "./RequestView.ts"

/** Maximum number of requests of an export. */
const maxExported = 1_000

/** @since 0.1.0 @category pages */
export const routes = Effect.gen(function*() {
  const log = yield* RequestLog
  const keys = yield* KeysRepo
  const accounts = yield* AccountsRepo
  const replay = yield* Replay.make

  /** The names of keys and accounts of some requests, by id. */
  const namesOf = (records: ReadonlyArray<RequestRecord>): Effect.Effect<List.Names> =>
    Effect.gen(function*() {
      const accountIds = [...new Set(records.map(({ accountId }) => accountId))].filter((id) => id !== null)
      const keyIds = [...new Set(records.map(({ keyId }) => keyId))].filter((id) => id !== null)
      const named = (id: string, name: Option.Option<string>) => [id, Option.getOrElse(name, () => id)] as const
      return {
        accounts: new Map(
          yield* Effect.forEach(accountIds,
            (id) => Effect.map(accounts.find(id), (found) => named(id, Option.map(found, ({ username }) => username))))
        ),
        keys: new Map(
          yield* Effect.forEach(keyIds, (id) => Effect.map(keys.find(id), (found) => named(id, Option.map(found, ({ name }) => name))))
        )
      }
    })

  const list: Page.Route["handle"] = (request) =>
    Effect.gen(function*() {
      const filter = RequestFilter.read(request.query)
      const all = yield* log.all
      const matching = all.filter(RequestFilter.matches(filter))
      const requests = matching.slice(-List.shown).reverse()
      return List.page({
        requests,
        matching: matching.length,
        total: all.length,
        names: yield* namesOf(all),
        filter
      }, Page.done(request, List.sentences))
    })

  const detail: Page.Route["handle"] = (request) =>
    Effect.gen(function*() {
      const id = request.query.get("id") ?? ""
      const found = yield* log.detail(id)
      if (found === undefined) {
        return yield* Envelope.unknownRequest(id)
      }
      const all = yield* log.all
      const index = all.findIndex((record) => record.id === id)
      return Detail.page({
        detail: found,
        names: yield* namesOf([found]),
        obstacle: Replay.obstacle(yield* log.original(id)),
        baseUrl: `${request.origin}${basePath}`,
        previous: all[index - 1]?.id,
        next: all[index + 1]?.id
      }, Page.done(request, Detail.sentences))
    })

  const har: Page.Route["handle"] = ({ origin, query }) =>
    Effect.gen(function*() {
      const matching = (yield* log.all).filter(RequestFilter.matches(RequestFilter.read(query))).slice(-maxExported)
      const details = yield* Effect.forEach(matching, ({ id }) => log.detail(id))
      const archive = Har.format(`${origin}${basePath}`, details.filter((found): found is RequestDetail => found !== undefined))
      return Envelope.withHeader(
        Envelope.json(200, archive),
        "content-disposition",
        "attachment; filename=\"plaza-sandbox.har\""
      )
    })

  return [
    { method: "GET", path: Page.paths.console, handle: list },
    { method: "GET", path: Page.paths.request, handle: detail },
    {
      method: "POST",
      path: Page.paths.request,
      handle: Page.byAction({
        replay: ({ form }) =>
          Effect.map(replay.again(form.get("request") ?? ""), (id) => Page.seeOther(`${Page.paths.request}?id=${id}`, "replay"))
      })
    },
    { method: "GET", path: Page.paths.har, handle: har }
  ] satisfies ReadonlyArray<Page.Route>
})
