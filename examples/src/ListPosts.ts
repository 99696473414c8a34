/**
 * The texts of the account's newest posts. The list is a stream: as many pages are asked for as the number needs, and no more.
 */
import { Posts } from "@plaza/client"
import { Effect, Stream } from "effect"

export const newestTexts = (count: number) =>
  Effect.flatMap(Posts, (posts) =>
    posts.list({ limit: count }).pipe(
      Stream.map((post) => post.text ?? ""),
      Stream.runCollect
    ))
