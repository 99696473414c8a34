/** Reads a Dockerfile whose instructions all have the exec form, as the steps and the settings of its image. */
import type { Instruction, JSONInstruction, ModifiableInstruction, PropertyInstruction } from "dockerfile-ast"
import { DockerfileParser } from "dockerfile-ast"

export type Step =
  | { readonly _tag: "Workdir"; readonly path: string }
  | { readonly _tag: "Run"; readonly command: ReadonlyArray<string> }
  /** `from` is a stage; undefined for the build context. `owner` is a user and a group by number (default: root). */
  | {
    readonly _tag: "Copy"
    readonly from: string | undefined
    readonly owner: string | undefined
    readonly sources: ReadonlyArray<string>
    readonly target: string
  }

export interface Stage {
  /** An image of a registry, an earlier stage, or `scratch`. */
  readonly image: string
  readonly name: string | undefined
  readonly steps: ReadonlyArray<Step>
}

export interface Settings {
  readonly env: Readonly<Record<string, string>>
  readonly labels: Readonly<Record<string, string>>
  readonly user: string
  readonly workdir: string
  readonly ports: ReadonlyArray<number>
  readonly stopSignal: string
  readonly healthcheck: ReadonlyArray<string>
  readonly entrypoint: ReadonlyArray<string>
  readonly command: ReadonlyArray<string>
}

export interface Image {
  /** Those that the image needs, in order. The last one becomes the image. */
  readonly stages: ReadonlyArray<Stage>
  /** Of the last stage. */
  readonly settings: Settings
}

/** The stages that a stage needs, in order, and itself. */
const neededBy = (stage: Stage, stages: ReadonlyArray<Stage>): ReadonlyArray<Stage> => {
  const before = stages.slice(0, stages.indexOf(stage))
  const names = [stage.image, ...stage.steps.flatMap((step) => step._tag === "Copy" && step.from !== undefined ? [step.from] : [])]
  const needed = new Set(before.filter(({ name }) => name !== undefined && names.includes(name)).flatMap((one) => neededBy(one, before)))
  return [...before.filter((one) => needed.has(one)), stage]
}

const problem = (instruction: Instruction, message: string): Error =>
  new Error(`Dockerfile, line ${instruction.getRange().start.line + 1}: ${message}`)

// The casts in this module are true: dockerfile-ast creates the class that belongs to the keyword.
const execForm = (instruction: Instruction): ReadonlyArray<string> => {
  const words = (instruction as JSONInstruction).getJSONStrings().map((word) => word.getJSONValue())
  if (words.length === 0) throw problem(instruction, `${instruction.getKeyword()} has the shell form: write a JSON array`)
  return words
}

const properties = (instruction: Instruction): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (instruction as PropertyInstruction).getProperties().map((property) => [property.getName(), property.getValue() ?? ""])
  )

const healthcheck = (instruction: Instruction): ReadonlyArray<string> => {
  const [, words] = /\bCMD\s+(\[[^]*\])\s*$/.exec(instruction.getArgumentsContent() ?? "") ?? []
  if (words === undefined) throw problem(instruction, "HEALTHCHECK has the shell form: write a JSON array")
  // True: Docker reads the same text as an array of texts.
  return JSON.parse(words) as ReadonlyArray<string>
}

/** The image of a target (default: of the last stage). */
export const parse = (text: string, target?: string): Image => {
  const args = new Map<string, string>()
  const expand = (word: string) =>
    word.replace(/\$\{(\w+)\}|\$(\w+)/g, (whole, braced: string | undefined, bare: string | undefined) =>
      args.get(braced ?? bare ?? "") ?? whole)
  const stages: Array<{ image: string; name: string | undefined; steps: Array<Step>; settings: Settings }> = []
  const none: Settings = {
    env: {},
    labels: {},
    user: "",
    workdir: "/",
    ports: [],
    stopSignal: "",
    healthcheck: [],
    entrypoint: [],
    command: []
  }
  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    const words = instruction.getArguments().map((argument) => argument.getValue())
    const [first = ""] = words
    const stage = stages.at(-1)
    const steps = stage?.steps
    const set = (changed: Partial<Settings>) => {
      if (stage !== undefined) stage.settings = { ...stage.settings, ...changed }
    }
    const settings = stage?.settings ?? none
    switch (instruction.getKeyword()) {
      case "ARG":
        for (const [name, value] of Object.entries(properties(instruction))) args.set(name, value)
        break
      case "FROM": {
        const [image = "", as, name] = words
        stages.push({ image: expand(image), name: as === undefined ? undefined : name, steps: [], settings: none })
        break
      }
      case "WORKDIR":
        steps?.push({ _tag: "Workdir", path: first })
        set({ workdir: first })
        break
      case "RUN":
        steps?.push({ _tag: "Run", command: execForm(instruction) })
        break
      case "COPY": {
        const flags = (instruction as ModifiableInstruction).getFlags()
        const flag = (name: string) => flags.find((flag) => flag.getName() === name)?.getValue() ?? undefined
        steps?.push({ _tag: "Copy", from: flag("from"), owner: flag("chown"), sources: words.slice(0, -1), target: words.at(-1) ?? "" })
        break
      }
      case "ENV":
        set({ env: { ...settings.env, ...properties(instruction) } })
        break
      case "LABEL":
        set({ labels: { ...settings.labels, ...properties(instruction) } })
        break
      case "USER":
        set({ user: first })
        break
      case "EXPOSE":
        set({ ports: words.map(Number) })
        break
      case "STOPSIGNAL":
        set({ stopSignal: first })
        break
      case "HEALTHCHECK":
        set({ healthcheck: healthcheck(instruction) })
        break
      case "ENTRYPOINT":
        set({ entrypoint: execForm(instruction) })
        break
      case "CMD":
        set({ command: execForm(instruction) })
        break
      default:
        throw problem(instruction, `${instruction.getKeyword()} is not supported by the rehearsal: add it to deploy/src/Dockerfile.ts`)
    }
  }
  const last = target === undefined ? stages.at(-1) : stages.find(({ name }) => name === target)
  if (last === undefined) throw new Error(`the Dockerfile has no stage ${target ?? ""}`)
  return { stages: neededBy(last, stages), settings: last.settings }
}
