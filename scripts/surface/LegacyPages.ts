/** The manual of a program on Effect 3 in the form of those on Effect 4. */
import { allPages, type Manual, type Option } from "../../legacy/cli-kit/src/help/Manual.ts"
import type { Flag, Page, Pages } from "../../packages/cli-kit/src/Manual.ts"

const flagOf = ({ choices, description, name, repeated, required, value }: Option): Flag => ({
  name: name.replace(/^--/, ""),
  aliases: [],
  value,
  description: `${description}${repeated ? " May be repeated." : ""}${choices === undefined ? "" : ` One of ${choices.join(", ")}.`}`,
  required
})

/** The pages of a program, its own first. */
export const legacyPages = ({ name, page, sections }: Manual): Pages => {
  const [root, ...others] = allPages(page).map(({ page, path }): Page => ({
    path,
    summary: page.summary,
    details: page.details,
    args: page.args.map(({ choices, description, name, repeated, required }) => ({
      name,
      description: `${description}${choices === undefined ? "" : ` One of ${choices.join(", ")}.`}`,
      required,
      variadic: repeated
    })),
    flags: path.length === 1 ? [] : page.options.map(flagOf),
    globals: page.options.map(flagOf),
    commands: page.commands.length === 0
      ? []
      : [{ title: undefined, commands: page.commands.map(({ name, summary }) => ({ name, summary })) }],
    examples: page.examples.map((line) => `${name} ${line}`),
    sections: path.length === 1 ? sections : []
  }))
  if (root === undefined) throw new Error(`${name} has no help`)
  return [root, ...others]
}
