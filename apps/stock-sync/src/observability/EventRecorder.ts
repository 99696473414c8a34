/**
 * Records in the ledger when the account or the source of a worker fails, and when that ends, for `report`. Snapshots record themselves. It
 * never delays the worker, and writes nothing while nothing changes.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Ref from "effect/Ref"
import { CurrentLedger } from "../ledger/CurrentLedger.ts"
import { accountKinds } from "../ledger/Events.ts"
import type { LedgerEvent } from "../ledger/Ledger.ts"
import { disconnect } from "../sync/Disconnect.ts"
import type { Failure, SyncStatus } from "../sync/SyncStatus.ts"
import { type Change, observe } from "./Status.ts"

const longestDetail = 500

const facts = ({ code, message, tag }: Failure): Pick<LedgerEvent, "code" | "detail"> => ({
  code: code ?? tag,
  detail: message.slice(0, longestDetail)
})

const stateKinds = { Running: "accountRunning", Paused: "accountPaused", Quota: "accountQuota", Trouble: "accountTrouble" } as const

/** What a change adds to the ledger; undefined for regular work and for what lasts. The ledger drops what it has already. */
export const eventOf = ({ before, event, isRepeated }: Change): LedgerEvent | undefined => {
  const nothing = { at: event.at, code: undefined, detail: undefined, count: 0 }
  if (event._tag === "AccountChanged") {
    const { account } = event
    if (isRepeated || account._tag === "Starting") return undefined
    return { ...nothing, kind: stateKinds[account._tag], ..."failure" in account ? facts(account.failure) : {} }
  }
  if (event._tag === "SourceFailed") return isRepeated ? undefined : { ...nothing, kind: "sourceFailed", ...facts(event.failure) }
  // After the start it is not known what the last process has left.
  const mayHaveFailed = before.source.failing !== undefined || before.source.readAt === undefined
  const isRead = event._tag === "SourceUnchanged" || event._tag === "SnapshotAccepted" || event._tag === "SnapshotHeld"
  return isRead && mayHaveFailed ? { ...nothing, kind: "sourceRead" } : undefined
}

/** While no ledger is open. */
const mostWaiting = 100

/** How long the end waits for what is not written yet. */
const longestEnd = Duration.seconds(5)

/** `isShort`: the worker ends by itself, and is started again and again. */
const make = ({ isShort }: { readonly isShort: boolean }) =>
  Effect.gen(function*() {
    const current = yield* CurrentLedger
    const wakes = yield* Queue.sliding<void>(1)
    let waiting: ReadonlyArray<LedgerEvent> = []
    /** A short worker runs before its first request has shown whether the service works, and would end and begin an outage at each start. */
    let running: LedgerEvent | undefined

    const write = Effect.gen(function*() {
      const ledger = yield* Ref.get(current)
      if (Option.isNone(ledger)) return
      for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
        yield* disconnect(ledger.value.record(next))
        waiting = waiting.slice(1)
      }
    }).pipe(
      // The worker reports the fault when it uses the ledger next, and opens it again.
      Effect.ignore
    )
    const add = (event: LedgerEvent) => {
      waiting = [...waiting, event].slice(-mostWaiting)
    }

    // After the last event was received.
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        if (running !== undefined) add(running)
        return Effect.timeoutOption(write, longestEnd)
      })
    )
    yield* observe((change) =>
      Effect.suspend(() => {
        const event = eventOf(change)
        if (event !== undefined && accountKinds.includes(event.kind)) running = undefined
        if (event?.kind === "accountRunning" && isShort && change.before.account._tag === "Starting") running = event
        else if (event !== undefined) add(event)
        const isOpened = change.event._tag === "LedgerChanged" && change.event.ledger._tag === "Open"
        return waiting.length === 0 || (event === undefined && !isOpened) ? Effect.void : Queue.offer(wakes, undefined)
      })
    )
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(Queue.take(wakes), write)))
  })

/** For a worker that runs until it is stopped. */
export const layer: Layer.Layer<never, never, CurrentLedger | SyncStatus> = Layer.effectDiscard(make({ isShort: false }))

/** For `once`, until the scope closes. Then it writes the rest, so the ledger has to be open until after that. */
export const recordOnce = make({ isShort: true })
