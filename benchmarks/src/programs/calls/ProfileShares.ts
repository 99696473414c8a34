/** Sums up the samples of a CPU profile by package and by function. */

/** The fields of a V8 profile that are read here. */
export interface Profile {
  readonly nodes: ReadonlyArray<{
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  }>
  readonly samples?: ReadonlyArray<number> | undefined
  readonly timeDeltas?: ReadonlyArray<number> | undefined
}

/** Shares of the time in which code ran, largest first. */
export interface Shares {
  readonly parts: ReadonlyArray<readonly [part: string, share: number]>
  readonly functions: ReadonlyArray<readonly [name: string, share: number]>
}

const packageOf = (url: string): string | undefined => {
  const path = url.split("/node_modules/").at(-1)
  if (path === undefined || path === url) return undefined
  const [first = "", second = ""] = path.split("/")
  return first.startsWith("@") ? `${first}/${second}` : first
}

// Schemas are counted apart, because another decoder would change only their share.
const partOfEffect = (url: string) =>
  /\/(ParseResult|Schema|SchemaAST|schema\/[^/]*)\.js$/.test(url) ? "effect, schemas" : "effect, fibers and the rest"

/** The package, or the part of Node, that a frame belongs to. */
export const partOf = ({ functionName, url }: Profile["nodes"][number]["callFrame"]): string => {
  if (url.startsWith("node:")) return "node itself"
  if (url === "") return functionName === "(garbage collector)" ? "garbage collector" : "system and natives"
  const name = packageOf(url)
  return name === "effect" ? partOfEffect(url) : name ?? "plaza"
}

const nameOf = ({ functionName, lineNumber, url }: Profile["nodes"][number]["callFrame"]): string => {
  const name = functionName === "" ? "(anonymous)" : functionName
  const file = url.split("/").at(-1) ?? ""
  return file === "" ? name : `${name} ${file}:${lineNumber + 1}`
}

const sorted = (times: ReadonlyMap<string, number>, total: number) =>
  [...times].map(([name, time]) => [name, time / total] as const).toSorted((a, b) => b[1] - a[1])

export const attribute = ({ nodes, samples = [], timeDeltas = [] }: Profile): Shares => {
  const frames = new Map(nodes.map(({ callFrame, id }) => [id, callFrame]))
  const parts = new Map<string, number>()
  const functions = new Map<string, number>()
  let total = 0
  for (const [index, id] of samples.entries()) {
    const frame = frames.get(id)
    const time = timeDeltas[index] ?? 0
    if (frame === undefined || frame.functionName === "(idle)") continue
    const part = partOf(frame)
    const name = nameOf(frame)
    parts.set(part, (parts.get(part) ?? 0) + time)
    functions.set(name, (functions.get(name) ?? 0) + time)
    total += time
  }
  return { parts: sorted(parts, total), functions: sorted(functions, total).slice(0, 15) }
}
