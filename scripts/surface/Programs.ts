/** The command lines of the programs, what they print with `--json`, their exit codes, and the tools for agents: from the code that defines them. */
import { pages as plaza } from "../../apps/cli/src/manual.ts"
import { outputs, tools } from "../../apps/cli/src/surface.ts"
import { exitCodes } from "../../apps/stock-sync/src/ExitCodes.ts"
import { pages as stockSync } from "../../apps/stock-sync/src/manual.ts"
import * as ExitCode from "../../packages/cli-kit/src/ExitCode.ts"
import { type Flag, fullLabelOf, labelOf, type Pages, textOf, usageOf } from "../../packages/cli-kit/src/Manual.ts"
import { byCode } from "../../packages/domain/src/Errors.ts"
import { fieldLines } from "./JsonFields.ts"

const flagText = (flag: Flag): string => `${fullLabelOf(flag)}: ${textOf(flag)}`

/** The help of every command. A flag that many commands have in the same words is described once. */
export const commandLines = (pages: Pages): ReadonlyArray<string> => {
  const [{ globals, path: [program = ""] }] = pages
  const count = new Map<string, number>()
  for (const text of pages.flatMap(({ flags }) => flags).map(flagText)) count.set(text, (count.get(text) ?? 0) + 1)
  const isCommon = (flag: Flag) => (count.get(flagText(flag)) ?? 0) > 3
  return [
    ...pages.flatMap((page) => {
      const command = page.path.join(" ")
      return [
        `${command}: ${page.summary}`,
        `${command} usage: ${usageOf(page)}`,
        ...page.details.map((text, index) => `${command} detail ${index + 1}: ${text}`),
        ...page.args.map(({ description, name, required, variadic }) =>
          `${command} argument ${name}${variadic ? "..." : ""}${required ? "" : "?"}: ${description}`
        ),
        ...page.flags.map((flag) => `${command} option ${isCommon(flag) ? `${labelOf(flag)} (common)` : flagText(flag)}`),
        ...page.examples.map((line) => `${command} example: ${line}`)
      ]
    }),
    ...globals.map((flag) => `${program} global option ${flagText(flag)}`),
    ...pages.flatMap(({ flags }) => flags).filter(isCommon).map((flag) => `${program} common option ${flagText(flag)}`),
    ...pages.flatMap(({ sections }) => sections).flatMap(({ entries, title }) =>
      entries.map(({ description, name }) => `${program} (${title}) ${name}: ${description}`)
    )
  ].map((line) => line.replace(/\s+/g, " "))
}

export const programs: ReadonlyArray<Pages> = [plaza, stockSync]

/** The variables that the help names. */
export const helpText = (): string => JSON.stringify(programs)

export const outputLines = (): ReadonlyArray<string> => outputs.flatMap(([command, schema]) => fieldLines(`plaza ${command}`, schema))

export const toolLines = (): ReadonlyArray<string> =>
  tools.flatMap(({ annotations, description, inputSchema, name, outputSchema, title }) => [
    `${name}: ${title}`,
    `${name} description: ${description}`,
    ...Object.entries(annotations).map(([hint, value]) => `${name} ${hint}: ${value}`),
    ...fieldLines(`${name} input`, inputSchema),
    ...fieldLines(`${name} output`, outputSchema)
  ])

/** The tag of each failure with its exit code. The tags are those of the sources; fields, if any, become `details`. */
export const errorLines = (tags: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...tags.filter((tag) => !tag.includes(".")).map((tag) => `${tag}: exit code ${ExitCode.of({ _tag: tag }, exitCodes)}`),
  ...tags.filter((tag) => tag.includes(".")),
  ...Object.values(byCode).map((Error) => {
    const error = new Error({ message: "" })
    return `${error.code}: tag ${error._tag}, status ${error.status}, exit code ${ExitCode.of(error)}`
  })
]
