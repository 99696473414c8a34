import { describe, expect, it } from "@effect/vitest"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"

const entry = fileURLToPath(new URL("entry.ts", import.meta.url))

/** The files in the bundle of a program. */
const bundled = async (program: string): Promise<ReadonlyArray<string>> => {
  const bundle = await rolldown({
    input: entry,
    platform: "node",
    resolve: { conditionNames: ["@plaza/source", "import", "node", "default"] },
    plugins: [{
      name: "program",
      resolveId: (id) => id === entry ? entry : null,
      load: (id) => id === entry ? program : null
    }]
  })
  try {
    const { output } = await bundle.generate({ format: "esm" })
    return output.flatMap((part) => part.type === "chunk" ? part.moduleIds : [])
  } finally {
    await bundle.close()
  }
}

const ofDatabases = /\/(effect|@effect)\/.*\/?sql\/|SqlSlots|SqlRateLimit/

describe("a bundle of a program", () => {
  it("contains no database code if the allowance is in memory", async () => {
    const files = await bundled(`import { Plaza } from "@plaza/client"; export const layer = Plaza.layer`)
    expect(files.some((file) => file.includes("rate-limit/MemoryRateLimit"))).toBe(true)
    expect(files.filter((file) => ofDatabases.test(file))).toEqual([])
  })

  it("contains database code if the allowance is shared", async () => {
    const files = await bundled(`import * as RateLimitSql from "@plaza/client/RateLimitSql"; export const layer = RateLimitSql.layer`)
    expect(files.some((file) => ofDatabases.test(file))).toBe(true)
  })
})
