/** The console's pages of requests: the list, one request in detail, and the export. With scripts the list updates itself. */
import * as Effect from "effect/Effect"
import { AccountsRepo } from "../access/AccountsRepo.ts"
import { KeysRepo } from "../access/KeysRepo.ts"
import * as Envelope from "../http/Envelope.ts"
import { RequestLog, type RequestRecord } from "../http/RequestLog.ts"
import { basePath } from "../InterfaceApi.ts"
import { unknownRequest } from "../Validation.ts"
import * as Har from "./Har.ts"
import * as Layout from "./Layout.ts"
import * as Replay from "./Replay.ts"
import * as Detail from "./RequestDetails.ts"
import * as List from "./RequestList.ts"

/** Maximum number of requests of an export. */
const maxExported = 1_000

export const routes = Effect.fnUntraced(function*(replay: Replay.Replay) {
  const log = yield* RequestLog
  const keys = yield* KeysRepo
  const accounts = yield* AccountsRepo

  /** The names of keys and accounts of some requests, by id. */
  const namesOf = (records: ReadonlyArray<RequestRecord>): List.Names => {
    const accountIds = new Set(records.map(({ accountId }) => accountId).filter((id) => id !== null))
    const keyIds = new Set(records.map(({ keyId }) => keyId).filter((id) => id !== null))
    return {
      accounts: new Map([...accountIds].map((id) => [id, accounts.find(id)?.username ?? id])),
      keys: new Map([...keyIds].map((id) => [id, keys.find(id)?.name ?? id]))
    }
  }

  const list: Layout.Route["handle"] = ({ query }) =>
    Effect.sync(() => {
      const filter = List.readFilter(query)
      const all = log.all()
      const matching = all.filter(List.matches(filter))
      const requests = matching.slice(-List.shown).reverse()
      return List.page({
        requests,
        matching: matching.length,
        total: all.length,
        names: namesOf(all),
        filter
      })
    })

  const detail: Layout.Route["handle"] = (request) =>
    Effect.suspend(() => {
      const id = request.query.get("id") ?? ""
      const found = log.detail(id)
      if (found === undefined) {
        return Effect.fail(unknownRequest(id))
      }
      const all = log.all()
      const index = all.findIndex((record) => record.id === id)
      return Effect.succeed(Detail.page({
        detail: found,
        names: namesOf([found]),
        obstacle: Replay.obstacle(log.original(id)),
        baseUrl: `${request.origin}${basePath}`,
        previous: all[index - 1]?.id,
        next: all[index + 1]?.id
      }, Layout.done(request, Detail.sentences)))
    })

  const har: Layout.Route["handle"] = ({ origin, query }) =>
    Effect.sync(() => {
      const matching = log.all().filter(List.matches(List.readFilter(query))).slice(-maxExported)
      const archive = Har.format(`${origin}${basePath}`, matching.flatMap(({ id }) => log.detail(id) ?? []))
      return Envelope.withHeader(
        Envelope.json(200, archive),
        "content-disposition",
        "attachment; filename=\"plaza-sandbox.har\""
      )
    })

  return [
    { method: "GET", path: Layout.paths.console, handle: list },
    { method: "GET", path: Layout.paths.request, handle: detail },
    {
      method: "POST",
      path: Layout.paths.request,
      handle: Layout.byAction({
        replay: ({ form }) =>
          Effect.map(replay.again(form.get("request") ?? ""), (id) => Layout.seeOther(`${Layout.paths.request}?id=${id}`, "replay"))
      })
    },
    { method: "GET", path: Layout.paths.har, handle: har }
  ] satisfies ReadonlyArray<Layout.Route>
})
