/** Reads the texts of the newest posts. The list is a stream and requests only as many pages as needed. */
import { Posts } from "@plaza/client"
import { Effect, Stream } from "effect"

export const newestTexts = (count: number) =>
  Effect.flatMap(Posts, (posts) =>
    posts.list({ limit: count }).pipe(
      Stream.map((post) => post.text ?? ""),
      Stream.runCollect
    ))
