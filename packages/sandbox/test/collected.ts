/** What is left in memory once nothing uses it. */
import { Effect } from "effect"
import { setImmediate } from "node:timers/promises"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

/** Collects garbage. The targets of weak references go in a turn of their own. */
export const collect = Effect.promise(async () => {
  setFlagsFromString("--expose-gc")
  const gc: unknown = runInNewContext("gc")
  for (let round = 0; round < 3; round++) {
    await setImmediate()
    if (typeof gc === "function") Reflect.apply(gc, undefined, [])
  }
})
