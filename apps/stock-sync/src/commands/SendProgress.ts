/** A progress bar for the products that are due once the source was read. */
import { Progress } from "@plaza/cli-kit/Progress"
import * as Effect from "effect/Effect"
import * as PubSub from "effect/PubSub"
import { Ledger } from "../ledger/Ledger.ts"
import { type Outcome, type StampedEvent, SyncStatus } from "../sync/SyncStatus.ts"

const isRead = ({ _tag }: StampedEvent) => _tag === "SnapshotAccepted" || _tag === "SnapshotHeld" || _tag === "SourceFailed"

/** Whether nothing more is expected of a product. */
const hasEnded = (outcome: Outcome): boolean => outcome !== "doubtful" && outcome !== "pending"

const follow = (events: PubSub.Subscription<StampedEvent>) =>
  Effect.gen(function*() {
    const { bar } = yield* Progress
    const ledger = yield* Ledger
    yield* Effect.repeat(PubSub.take(events), { until: isRead })
    const { waiting } = yield* ledger.backlog
    const total = Object.values(waiting).reduce((sum, each) => sum + each, 0)
    if (total === 0) return
    const shown = yield* bar({ label: "Sending", total })
    const ended = new Set<string>()
    return yield* Effect.forever(Effect.flatMap(PubSub.take(events), (event) =>
      Effect.suspend(() => {
        if (event._tag !== "Sent" || !hasEnded(event.outcome) || ended.has(event.productId)) return Effect.void
        ended.add(event.productId)
        return shown.tick()
      })))
  }).pipe(Effect.scoped)

/** Shows a progress bar while an effect runs. */
export const during = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.gen(function*() {
    const { isShown } = yield* Progress
    if (!isShown) return yield* effect
    const status = yield* SyncStatus
    // Subscribes before the effect publishes its first event.
    const events = yield* status.subscribe
    yield* Effect.forkScoped(follow(events))
    return yield* effect
  }))
