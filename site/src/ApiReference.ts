/**
 * Writes the API reference: each export of a package with its docstring and its declaration. Declarations are those of the sources, and
 * those of the compiler where a source has code instead of types. A package may have a file of declarations instead.
 */
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import ts from "typescript"
import { root } from "./Paths.ts"

interface Page {
  readonly page: string
  readonly text: string
}

/** The entry points of the packages, which `exports` in their manifests name. */
const packages: ReadonlyArray<readonly [page: string, name: string, entries: ReadonlyArray<readonly [name: string, file: string]>]> = [
  ["api/domain", "@plaza/domain", [["@plaza/domain", "packages/domain/src/index.ts"]]],
  ["api/client", "@plaza/client", [
    ["@plaza/client", "packages/client/src/index.ts"],
    ["@plaza/client/node", "packages/client/src/node.ts"],
    ["@plaza/client/RateLimitSql", "packages/client/src/RateLimitSql.ts"],
    ["@plaza/client/sqlite", "packages/client/src/sqlite.ts"]
  ]],
  ["api/sdk", "@plaza/sdk", [["@plaza/sdk", "packages/sdk/index.d.ts"]]],
  ["api/sandbox", "@plaza/sandbox", [["@plaza/sandbox", "packages/sandbox/src/index.ts"]]]
]

type Declared =
  | ts.ClassDeclaration
  | ts.InterfaceDeclaration
  | ts.TypeAliasDeclaration
  | ts.FunctionDeclaration
  | ts.ModuleDeclaration
  | ts.VariableStatement

const isDeclared = (node: ts.Node): node is Declared =>
  ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isFunctionDeclaration(node) ||
  ts.isModuleDeclaration(node) || ts.isVariableStatement(node)

const isExported = (node: Declared) => node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true

const namesOf = (node: Declared): ReadonlyArray<string> =>
  ts.isVariableStatement(node)
    ? node.declarationList.declarations.map(({ name }) => name.getText())
    : node.name === undefined
    ? []
    : [node.name.text]

const parsed = new Map<string, ts.SourceFile>()
const parse = (file: string): ts.SourceFile => {
  const known = parsed.get(file)
  if (known !== undefined) return known
  if (!existsSync(join(root, file))) throw new Error(`${file} does not exist: build the packages first`)
  const source = ts.createSourceFile(file, readFileSync(join(root, file), "utf8"), ts.ScriptTarget.ES2022, true)
  parsed.set(file, source)
  return source
}

/** The exported declarations of a module with a name. A value and a type may have the same one. */
const declarationsOf = (file: string, name: string): ReadonlyArray<Declared> =>
  parse(file).statements.filter(isDeclared).filter((node) => isExported(node) && namesOf(node).includes(name))

/** The file of a module that another one imports: a relative one, or one of our packages. */
const fileOf = (from: string, specifier: string): string => {
  const [, name, path = "index"] = /^@plaza\/(\w+)(?:\/(.+))?$/.exec(specifier) ?? []
  return name === undefined
    ? join(dirname(from), specifier).replaceAll("\\", "/")
    : `packages/${name}/src/${path}.ts`
}

/** The module that declares an export, and its name there. A module may export what another one declares. */
const originOf = (file: string, name: string): readonly [file: string, name: string] => {
  for (const { exportClause, moduleSpecifier } of parse(file).statements.filter(ts.isExportDeclaration)) {
    if (
      exportClause === undefined || !ts.isNamedExports(exportClause) || moduleSpecifier === undefined ||
      !ts.isStringLiteral(moduleSpecifier)
    ) continue
    const found = exportClause.elements.find((element) => element.name.text === name)
    if (found !== undefined) return originOf(fileOf(file, moduleSpecifier.text), (found.propertyName ?? found.name).text)
  }
  return [file, name]
}

const compiled = (file: string) => file.replace("/src/", "/dist/").replace(/\.ts$/, ".d.ts")

const tidy = (text: string) => text.replace(/^export /, "").replace(/^declare /, "")

/** A declaration of the compiler, which indents by four spaces. */
const compiledText = (node: ts.Node) =>
  tidy(node.getText()).replace(/^ +/gm, (indent) => indent.startsWith("     *") ? indent : " ".repeat(indent.length / 2))

/** The text of a member, without its indentation. */
const unindent = (node: ts.Node) => node.getText().replace(/^ {2}/gm, "")

const hasCode = (node: ts.Node): boolean =>
  ts.isArrowFunction(node) || ts.isFunctionExpression(node) || (ts.forEachChild(node, hasCode) ?? false)

const textOf = (file: string, name: string, node: Declared): string => {
  const fromCompiler = () => declarationsOf(compiled(file), name).filter(({ kind }) => kind === node.kind)
  if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isModuleDeclaration(node)) return tidy(node.getText())
  if (ts.isClassDeclaration(node)) {
    if (node.members.length === 0 || node.getSourceFile().isDeclarationFile) return tidy(node.getText())
    const members = fromCompiler().flatMap((found) =>
      ts.isClassDeclaration(found) ? found.members.map((member) => `  ${compiledText(member)}`) : []
    )
    return `${tidy(node.getSourceFile().text.slice(node.getStart(), node.members.pos))}\n${members.join("\n")}\n}`
  }
  if (ts.isVariableStatement(node)) {
    const declaration = node.declarationList.declarations.find((found) => found.name.getText() === name)
    if (declaration?.type !== undefined) return `const ${name}: ${declaration.type.getText()}`
    if (declaration?.initializer !== undefined && !hasCode(declaration.initializer)) return `const ${declaration.getText()}`
  }
  return fromCompiler().map(compiledText).join("\n").replace(/;$/, "")
}

/** The text of a comment, without its marks. */
const contentOf = (comment: string) => comment.slice(3, -2).replace(/^[^\S\n]*\* ?/gm, "").trim()

/** A docstring as Markdown. */
const markdownOf = (comment: string): string => {
  const [text = "", ...examples] = contentOf(comment).replace(/@(?:since|category) \S+/g, "").split(/^@example$/m)
  const prose = text.replace(/\{@link (\S+?)\}/g, "`$1`").replace(/^Source: /gm, "\nSource: ")
    .replace(/(`[^`]*`)|</g, (_, code: string | undefined) => code ?? "&lt;")
  return [prose.trim(), ...examples.map((code) => `\`\`\`ts\n${code.replace(/^Source: [^]*/m, "").trim()}\n\`\`\``)].join("\n\n")
}

const docstringOf = (node: ts.Node): string => {
  const source = node.getSourceFile().text
  const comments = (ts.getLeadingCommentRanges(source, node.pos) ?? []).map(({ end, pos }) => source.slice(pos, end))
  // The first comment of a file is that of the module.
  const own = (node.pos === 0 ? comments.slice(1) : comments).filter((comment) => comment.startsWith("/**")).at(-1)
  return own === undefined ? "" : markdownOf(own)
}

const moduleComment = (file: string): string => {
  const [comment] = /^\/\*\*[^]*?\*\//.exec(parse(file).text) ?? []
  return comment === undefined ? "" : markdownOf(comment)
}

/** The members of a service: those of the type in `Context.Service<Service, { ... }>()("...")`. */
const membersOf = (node: Declared): ReadonlyArray<ts.TypeElement> => {
  const find = (child: ts.Node): ts.TypeLiteralNode | undefined => ts.isTypeLiteralNode(child) ? child : ts.forEachChild(child, find)
  const parent = ts.isClassDeclaration(node) ? node.heritageClauses?.[0]?.types[0]?.expression : undefined
  const maker = parent !== undefined && ts.isCallExpression(parent) && ts.isCallExpression(parent.expression)
    ? parent.expression
    : undefined
  return maker?.expression.getText() === "Context.Service"
    ? (maker.typeArguments ?? []).flatMap((type) => [...(find(type)?.members ?? [])])
    : []
}

const typescript = (code: string) => `\`\`\`ts\n${code}\n\`\`\``

const section = (level: string, title: string, exporter: string, exported: string): string => {
  const [file, name] = originOf(exporter, exported)
  const nodes = declarationsOf(file, name)
  const members = nodes.flatMap(membersOf)
  const code = nodes.map((node) => textOf(file, name, node)).join("\n\n")
  return [
    `${level} ${title}`,
    ...nodes.map(docstringOf).filter((text) => text !== ""),
    // The docstrings of the members of a service stand in sections of their own.
    typescript(members.length === 0 ? code : code.replace(/^[^\S\n]*\/\*\*[^]*?\*\/\n/gm, "")),
    ...members.flatMap((
      member
    ) => [`${level}# ${title}.${member.name?.getText() ?? ""}`, docstringOf(member), typescript(unindent(member))])
  ].join("\n\n")
}

const ownNames = (file: string) => [...new Set(parse(file).statements.filter(isDeclared).filter(isExported).flatMap(namesOf))]

/** The sections of a module: its own exports, those of other modules, and other modules as namespaces. */
const sectionsOf = (file: string, level: string, prefix = ""): ReadonlyArray<string> => [
  ...ownNames(file).map((name) => section(level, `${prefix}${name}`, file, name)),
  ...parse(file).statements.filter(ts.isExportDeclaration).flatMap(({ exportClause, moduleSpecifier }) => {
    if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier)) return []
    const target = fileOf(file, moduleSpecifier.text)
    if (exportClause === undefined) return sectionsOf(target, level, prefix)
    if (ts.isNamedExports(exportClause)) {
      return exportClause.elements.map(({ name, propertyName }) =>
        section(level, `${prefix}${name.text}`, target, (propertyName ?? name).text)
      )
    }
    const namespace = exportClause.name.text
    return [`${level} ${namespace}\n\n${moduleComment(target)}`, ...sectionsOf(target, `${level}#`, `${namespace}.`)]
  })
]

/** The pages of the reference. The packages must be built. */
export const make = (): ReadonlyArray<Page> =>
  packages.map(([page, title, entries]) => ({
    page,
    text: [
      `# ${title}`,
      ...entries.flatMap(([name, file]) => [
        ...(name === title ? [] : [`## ${name}`]),
        moduleComment(file),
        ...sectionsOf(file, name === title ? "##" : "###")
      ])
    ].join("\n\n").replace(/\n{3,}/g, "\n\n") + "\n"
  }))
