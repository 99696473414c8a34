/**
 * Answers to reads, kept until something is written that could change them: whoever asks for the same again, as those do
 * who wait for a change, is answered without asking the database. Knows nothing of what was asked.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { tableNames } from "../storage/Database.js"
import type { Answer } from "./Envelope.js"
import type { Client } from "../storage/Sql.js"

/** Characters of all that is kept. */
const most = 8_000_000

// What counts requests is written with each of them, where there is a file, and tells nothing to anybody.
const told = tableNames.filter((table) => table !== "arrivals")

/**
 * Gives the answer that is kept for an account and a target, or the one that is read.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (sql: Client) => {
  const kept = new Map<string, Answer>()
  let size = 0
  let known = 0
  const forget = () => {
    kept.clear()
    size = 0
  }
  return <E>(accountId: string, target: string, read: () => Effect.Effect<Answer, E>): Effect.Effect<Answer, E> => {
    const written = sql.writes(...told)
    if (written !== known) {
      known = written
      forget()
    }
    const key = `${accountId} ${target}`
    const found = kept.get(key)
    return found !== undefined ? Effect.succeed(found) : Effect.map(read(), (answer) => {
      size += key.length + answer.body.length
      if (size > most) {
        forget()
      } else {
        kept.set(key, answer)
      }
      return answer
    })
  }
}
