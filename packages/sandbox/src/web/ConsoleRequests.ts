/** The console's pages of requests: the list, one request in detail, and the export. With scripts the list updates itself. */
import * as Effect from "effect/Effect"
import { AccountsRepo } from "../access/AccountsRepo.ts"
import { KeysRepo } from "../access/KeysRepo.ts"
import { Commits } from "../http/Commits.ts"
import * as Envelope from "../http/Envelope.ts"
import { type RequestDetail, RequestLog, type RequestRecord } from "../http/RequestLog.ts"
import { basePath } from "../InterfaceApi.ts"
import { unknownRequest } from "../Validation.ts"
import * as Calls from "./Calls.ts"
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
  const commits = yield* Commits

  /** The names of keys and accounts of some requests, by id. */
  const namesOf = (records: ReadonlyArray<RequestRecord>): List.Names => {
    const accountIds = new Set(records.map(({ accountId }) => accountId).filter((id) => id !== null))
    const keyIds = new Set(records.map(({ keyId }) => keyId).filter((id) => id !== null))
    return {
      accounts: new Map([...accountIds].map((id) => [id, accounts.find(id)?.username ?? id])),
      keys: new Map([...keyIds].map((id) => [id, keys.find(id)?.name ?? id]))
    }
  }

  const callsOf = (records: ReadonlyArray<RequestRecord>): ReadonlyArray<Calls.Call> =>
    Calls.group(records, {
      original: log.original,
      lists: (listId, requestIds) => {
        const original = log.original(listId)
        const list = original && Calls.readList(original)
        if (list === undefined) return undefined
        const created = requestIds.flatMap((id) => commits.effectOf(id)?.createdId ?? [])
        if (created.some((id) => list.ids.has(id))) return true
        // Another page may list it, and a dropped commit may have created it.
        const isKnown = !requestIds.some((id) => commits.effectOf(id) === undefined && commits.hasForgotten(id))
        return isKnown && (created.length === 0 || list.isLast) ? false : undefined
      }
    })

  const dataOf = (detail: RequestDetail, calls: ReadonlyArray<Calls.Call>, origin: string): Parameters<typeof Detail.content>[0] => ({
    detail,
    names: namesOf([detail]),
    obstacle: detail.delivered === "waiting" ? "It waits for its response." : Replay.obstacle(log.original(detail.id)),
    baseUrl: `${origin}${basePath}`,
    call: calls.find((call) => call.some(({ record }) => record.id === detail.id)) ?? [{ record: detail, role: "send" }],
    commit: commits.effectOf(detail.id) ?? (commits.hasForgotten(detail.id) ? "forgotten" : undefined)
  })

  const list: Layout.Route["handle"] = (request) =>
    Effect.sync(() => {
      const { origin, query } = request
      const filter = List.readFilter(query)
      const all = log.all()
      const matching = all.filter(List.matches(filter))
      const newest = new Set(matching.slice(-List.shown).map(({ id }) => id))
      const calls = callsOf(all)
      const id = query.get("id") ?? ""
      const opened = log.detail(id)
      return List.page({
        calls: calls.flatMap((call) => call.some(({ record }) => newest.has(record.id)) ? [{ call, matching: newest }] : []).toReversed(),
        matching: matching.length,
        total: all.length,
        names: namesOf(all),
        filter,
        wasCarriedOut: ({ delivered, id }) => delivered !== "complete" && commits.effectOf(id) !== undefined,
        createdBy: (call) => call.filter(({ record: { id } }) => (commits.effectOf(id)?.createdId ?? null) !== null).length,
        opened: opened && {
          id,
          content: Detail.content(dataOf(opened, calls, origin), { filter: List.format(filter), link: (id) => List.beside(filter, id) })
        },
        message: id !== "" && opened === undefined ? Layout.problem(unknownRequest(id).message) : Layout.done(request, Detail.sentences)
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
      return Effect.succeed(Detail.page(
        dataOf(found, callsOf(all), request.origin),
        { previous: all[index - 1]?.id, next: all[index + 1]?.id },
        Layout.done(request, Detail.sentences)
      ))
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
          Effect.map(replay.again(form.get("request") ?? ""), (id) =>
            Layout.seeOther(
              form.get("beside") === "yes"
                ? List.beside(List.readFilter(new URLSearchParams(form.get("filter") ?? "")), id)
                : `${Layout.paths.request}?id=${id}`,
              "replay"
            ))
      })
    },
    { method: "GET", path: Layout.paths.har, handle: har }
  ] satisfies ReadonlyArray<Layout.Route>
})
