/** What `plaza me` and `plaza users` do. */
import { Output } from "@plaza/cli-kit/Output"
import { Profiles } from "@plaza/client"
import { ProfileId, Username } from "@plaza/domain/Ids"
import type { Profile } from "@plaza/domain/Resources"
import * as Effect from "effect/Effect"
import { explainWrongBaseUrl } from "../profiles/Connection.ts"
import * as Client from "./Client.ts"
import * as Write from "./Write.ts"

const print = (user: Profile) => Effect.flatMap(Output, (output) => output.one(user, [["id", user.id], ["username", user.username]]))

export const me = Effect.fnUntraced(function*() {
  const profiles = yield* Profiles
  yield* print(yield* explainWrongBaseUrl(profiles.me))
}, Client.provide())

export const get = Effect.fnUntraced(function*({ id }: { readonly id: string }) {
  const profiles = yield* Profiles
  yield* print(yield* profiles.get(ProfileId.make(id)))
}, Client.provide())

export const find = Effect.fnUntraced(function*({ username }: { readonly username: string }) {
  const profiles = yield* Profiles
  yield* print(yield* profiles.find(Username.make(username)))
}, Client.provide())

export const follow = Effect.fnUntraced(function*({ id }: { readonly id: string }) {
  const profiles = yield* Profiles
  yield* Write.follow("followUser")(profiles.follow(ProfileId.make(id)))
  const output = yield* Output
  yield* output.done({ userId: id, following: true }, `The account follows user ${id}.`)
}, Client.provide())
