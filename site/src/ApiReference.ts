/**
 * Writes the API reference: a page for each public module of a package, with its exports, their docstrings and their declarations.
 * Declarations are those of the sources, and those of the compiler where a source has code instead of types. A package may have a file of
 * declarations instead.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import ts from "typescript"
import { root } from "./Paths.ts"

/** A page of the reference. */
export interface Page {
  /** Its path in the site, without `.md`. */
  readonly page: string
  readonly text: string
  /** Its name in the navigation. */
  readonly label: string
}

/** The pages of a package. The first one lists the others. */
export interface Reference {
  readonly name: string
  readonly pages: ReadonlyArray<Page>
}

/** The packages with a reference, by their folders. */
const packages = ["sdk", "client", "domain", "sandbox"]

/** A module that users import by a path of its own, or as a namespace of its package. */
interface Module {
  readonly label: string
  readonly file: string
  /** How users import it. */
  readonly imported: string
  /** What stands before its exports in code that uses them. */
  readonly prefix: string
}

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

/** What a module exports of another one. */
interface Reexport {
  readonly target: string
  /** The names there and here; undefined for all exports. */
  readonly names: ReadonlyArray<readonly [there: string, here: string]> | undefined
  /** The name of the namespace. */
  readonly namespace: string | undefined
}

const reexportsOf = (file: string): ReadonlyArray<Reexport> =>
  parse(file).statements.filter(ts.isExportDeclaration).flatMap(({ exportClause, moduleSpecifier }): ReadonlyArray<Reexport> => {
    if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier)) return []
    const target = fileOf(file, moduleSpecifier.text)
    if (exportClause === undefined) return [{ target, names: undefined, namespace: undefined }]
    return ts.isNamedExports(exportClause)
      ? [{
        target,
        names: exportClause.elements.map(({ name, propertyName }) => [(propertyName ?? name).text, name.text] as const),
        namespace: undefined
      }]
      : [{ target, names: undefined, namespace: exportClause.name.text }]
  })

/** Whether an export is a class. A file of declarations has no other ones than errors. */
const isClass = (file: string) => (name: string) => declarationsOf(file, name).some(ts.isClassDeclaration)

/** The sections of a module: its own exports, and those of modules without a page. Classes of a file of declarations have a page. */
const sectionsOf = (file: string, hasPage: (file: string) => boolean, prefix = ""): ReadonlyArray<string> => [
  ...ownNames(file).filter((name) => !file.endsWith(".d.ts") || !isClass(file)(name)).map((name) =>
    section("##", `${prefix}${name}`, file, name)
  ),
  ...reexportsOf(file).filter(({ target }) => !hasPage(target)).flatMap(({ names, target }) =>
    names === undefined
      ? sectionsOf(target, hasPage, prefix)
      : names.map(([there, here]) => section("##", `${prefix}${here}`, target, there))
  )
]

/** The part of a manifest that names the entry points. */
interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, null | string | Readonly<Record<string, string>>>>
}

const entriesOf = (folder: string): readonly [name: string, entries: ReadonlyArray<readonly [path: string, file: string]>] => {
  // True: Node and npm read the same fields of the same file.
  const { exports, name } = JSON.parse(readFileSync(join(root, "packages", folder, "package.json"), "utf8")) as Manifest
  const entries = Object.entries(exports).flatMap(([path, target]) => {
    if (target === null || typeof target === "string") return []
    // A package without compiled declarations has a file of them.
    const { "@plaza/source": source = "", types = "" } = target
    const file = join("packages", folder, types.startsWith("./dist/") ? source : types)
    return path.includes("*")
      ? readdirSync(join(root, dirname(file))).filter((module) => module.endsWith(".ts") && module !== "index.ts")
        .map((module) => [module.slice(0, -".ts".length), join(dirname(file), module)] as const)
      : [[path.replace(/^\.\/?/, ""), file] as const]
  })
  return [name, entries]
}

/** The name that a package exports of a module, if it is one. */
const onlyNameOf = (reexports: ReadonlyArray<Reexport>): string | undefined => {
  const [only, ...others] = reexports.flatMap(({ names }) => names ?? [])
  return others.length === 0 && reexports.every(({ names }) => names !== undefined) ? only?.[1] : undefined
}

/** The exports of a module that are no types. */
const valuesOf = (file: string) =>
  ownNames(file).filter((name) =>
    declarationsOf(file, name).some((node) => !ts.isInterfaceDeclaration(node) && !ts.isTypeAliasDeclaration(node))
  )

/** How users import a module: as a namespace of its package, by its only name there and the rest by its path, or by its path. */
const importOf = (name: string, path: string, file: string, namespace: string | undefined, only: string | undefined): string => {
  if (namespace !== undefined) return `import { ${namespace} } from "${name}"`
  if (only !== undefined) {
    const others = valuesOf(file).filter((value) => value !== only)
    return [
      `import { ${only} } from "${name}"`,
      ...(others.length === 0 ? [] : [`import { ${others.join(", ")} } from "${name}/${path}"`])
    ].join("\n")
  }
  return /^[A-Z]/.test(path)
    ? `import * as ${path} from "${name}/${path}"`
    : `import { ${valuesOf(file).join(", ")} } from "${name}/${path}"`
}

const modulesOf = (name: string, index: string, entries: ReadonlyArray<readonly [path: string, file: string]>): ReadonlyArray<Module> => {
  const reexports = reexportsOf(index)
  const ofPath = entries.filter(([path]) => path !== "").map(([path, file]): Module => {
    const exported = reexports.filter(({ target }) => target === file)
    const namespace = exported.find((reexport) => reexport.namespace !== undefined)?.namespace
    return {
      label: path,
      file,
      imported: importOf(name, path, file, namespace, onlyNameOf(exported)),
      prefix: namespace === undefined ? "" : `${namespace}.`
    }
  })
  const namespaces = reexports.flatMap(({ namespace, target }): ReadonlyArray<Module> =>
    namespace === undefined || ofPath.some(({ file }) => file === target)
      ? []
      : [{ label: namespace, file: target, imported: `import { ${namespace} } from "${name}"`, prefix: `${namespace}.` }]
  )
  return [...ofPath, ...namespaces].toSorted((one, other) => one.label.localeCompare(other.label, "en"))
}

const textOfPage = (parts: ReadonlyArray<string>) => `${parts.filter((part) => part !== "").join("\n\n").replace(/\n{3,}/g, "\n\n")}\n`

const firstSentence = (text: string) => (/^.*?[.:](?= |$)/.exec(text.replace(/\s+/g, " ").trim())?.[0] ?? "").replace(/:$/, ".")

const referenceOf = (folder: string): Reference => {
  const [name, entries] = entriesOf(folder)
  const index = entries.find(([path]) => path === "")?.[1] ?? ""
  const modules = modulesOf(name, index, entries)
  const hasPage = (file: string) => modules.some((module) => module.file === file)
  const errors = index.endsWith(".d.ts") ? ownNames(index).filter(isClass(index)).map((name) => section("##", name, index, name)) : []
  return {
    name,
    pages: [
      {
        page: `api/${folder}/index`,
        label: name,
        text: textOfPage([
          `# ${name}`,
          moduleComment(index),
          [
            "| module | |",
            "|---|---|",
            ...modules.map((module) => `| [${module.label}](./${module.label}.md) | ${firstSentence(moduleComment(module.file))} |`),
            ...(errors.length === 0 ? [] : ["| [errors](./errors.md) | The errors that a call rejects with. |"])
          ].join("\n"),
          ...sectionsOf(index, hasPage)
        ])
      },
      ...(errors.length === 0 ? [] : [{
        page: `api/${folder}/errors`,
        label: "errors",
        text: textOfPage([`# ${name}: errors`, "The errors that a call rejects with.", ...errors])
      }]),
      ...modules.map((module) => ({
        page: `api/${folder}/${module.label}`,
        label: module.label,
        text: textOfPage([
          `# ${name}: ${module.label}`,
          moduleComment(module.file),
          typescript(module.imported),
          ...sectionsOf(module.file, (file) => file !== module.file && hasPage(file), module.prefix)
        ])
      }))
    ]
  }
}

/** The reference of each package. The packages must be built. */
export const make = (): ReadonlyArray<Reference> => packages.map(referenceOf)
