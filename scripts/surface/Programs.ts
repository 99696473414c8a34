/** The command lines of the programs, what they print with `--json`, their exit codes, and the tools for agents: from the code that defines them. */
import { manual as plaza } from "../../apps/cli/src/manual.ts"
import { outputs, tools } from "../../apps/cli/src/surface.ts"
import { exitCodes } from "../../apps/stock-sync/src/ExitCodes.ts"
import { manual as stockSync } from "../../apps/stock-sync/src/manual.ts"
import { byCode } from "../../legacy/domain/src/Errors.ts"
import * as ExitCode from "../../packages/cli-kit/src/errors/ExitCode.ts"
import { allPages, labelOf, type Manual, type Option, usageOf } from "../../packages/cli-kit/src/help/Manual.ts"
import { fieldLines } from "./JsonFields.ts"

const optionText = (option: Option): string =>
  [
    `${labelOf(option)}: ${option.description}`,
    ...(option.required ? ["Required."] : []),
    ...(option.repeated ? ["May be repeated."] : []),
    ...(option.choices === undefined ? [] : [`One of ${option.choices.join(", ")}.`])
  ].join(" ")

/** The help of every command. An option that many commands have in the same words is described once. */
export const commandLines = ({ name: program, page: top, sections }: Manual): ReadonlyArray<string> => {
  const pages = allPages(top)
  const count = new Map<string, number>()
  for (const text of pages.flatMap(({ page }) => page.options).map(optionText)) count.set(text, (count.get(text) ?? 0) + 1)
  const isCommon = (option: Option) => (count.get(optionText(option)) ?? 0) > 3
  return [
    ...pages.flatMap(({ page, path }) => {
      const command = path.join(" ")
      return [
        `${command}: ${page.summary}`,
        `${command} usage: ${usageOf(page)}`,
        ...page.details.map((text, index) => `${command} detail ${index + 1}: ${text}`),
        ...page.args.map(({ choices, description, name, repeated, required }) =>
          `${command} argument ${name}${repeated ? "..." : ""}${required ? "" : "?"}: ${description}${
            choices === undefined ? "" : ` One of ${choices.join(", ")}.`
          }`
        ),
        ...page.options.map((option) => `${command} option ${isCommon(option) ? `${labelOf(option)} (common)` : optionText(option)}`),
        ...page.examples.map((line) => `${command} example: ${program} ${line}`)
      ]
    }),
    ...pages.flatMap(({ page }) => page.options).filter(isCommon).map((option) => `${program} common option ${optionText(option)}`),
    ...sections.flatMap(({ entries, title }) => entries.map(({ description, name }) => `${program} (${title}) ${name}: ${description}`))
  ].map((line) => line.replace(/\s+/g, " "))
}

export const manuals: ReadonlyArray<Manual> = [plaza, stockSync]

/** The variables that the help names. */
export const helpText = (): string => JSON.stringify(manuals)

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
