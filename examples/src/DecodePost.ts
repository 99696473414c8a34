/** Decodes a resource with its schema. */
import { Post, PostId } from "@plaza/domain"
import { Schema } from "effect"

const id = PostId.make("007") // a branded string; never a number, so "007" stays "007"
export const post = Schema.decodeUnknownSync(Post)({ id, createdAt: "2026-10-01T12:00:00.000Z", text: null, likes: 3 })
// { id: "007", createdAt: DateTime.Utc }
