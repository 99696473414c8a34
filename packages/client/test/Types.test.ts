import { expectTypeOf, it } from "@effect/vitest"
import type { Failures, Posts } from "@plaza/client"
import type { FailureOf, OperationName } from "@plaza/client/Contract"
import type { ResultOf } from "@plaza/client/Operations"
import type * as Domain from "@plaza/domain"
import type { Effect } from "effect"

type EveryCall =
  | Domain.InvalidApiKey
  | Domain.InsufficientScope
  | Domain.DeveloperAccessRevoked
  | Domain.Forbidden
  | Domain.RateLimited
  | Domain.InternalError
  | Domain.UnrecognizedError
  | Failures.CallFailure

it("every operation's failures are those that the contract lists for it, and an unknown outcome only for writes", () => {
  expectTypeOf<FailureOf<"getMe">>().toEqualTypeOf<EveryCall>()
  expectTypeOf<FailureOf<"listPosts">>().toEqualTypeOf<EveryCall | Domain.ValidationError>()
  expectTypeOf<FailureOf<"shipOrder">>().toEqualTypeOf<
    | EveryCall
    | Failures.OutcomeUnknown
    | Domain.ValidationError
    | Domain.InvalidJson
    | Domain.PayloadTooLarge
    | Domain.ProfileIncomplete
    | Domain.NotFound
    | Domain.StoreBlocked
    | Domain.Conflict
  >()
  expectTypeOf<FailureOf<OperationName>>().toExtend<Failures.Failure>()
  expectTypeOf<ReturnType<Posts["Type"]["create"]>>().toEqualTypeOf<
    Effect.Effect<Domain.Post, FailureOf<"createPost">>
  >()
})

it("every operation's result is the contract's, without the empty answer", () => {
  expectTypeOf<ResultOf<"setStock">>().toEqualTypeOf<Domain.Product>()
  expectTypeOf<ResultOf<"sendMessage">>().toEqualTypeOf<Domain.Message>()
})
