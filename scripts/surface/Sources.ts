/** The sources of the workspace as one program of the TypeScript compiler, and types as text. */
import { globSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import ts from "../../site/src/Compiler.ts"

export interface Manifest {
  readonly name: string
  readonly private?: boolean
  readonly bin?: Readonly<Record<string, string>>
  readonly engines?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly exports?: Exports
  readonly publishConfig?: { readonly exports?: Exports }
}

type Exports = Readonly<Record<string, string | null | Readonly<Record<string, string>>>>

export interface Package {
  /** From the root, with forward slashes. */
  readonly folder: string
  readonly manifest: Manifest
}

/** Files of the root by a glob, with forward slashes, sorted. */
export const filesOf = (root: string, pattern: string): ReadonlyArray<string> =>
  globSync(pattern, { cwd: root, exclude: (name) => name === "node_modules" || name === "dist" }).map((file) => file.replaceAll("\\", "/"))
    .toSorted()

/** The packages that are not private. */
export const publishedPackages = (root: string): ReadonlyArray<Package> =>
  filesOf(root, "{packages,apps}/*/package.json").flatMap((file) => {
    // True: npm and pnpm read the same fields of the same file.
    const manifest = JSON.parse(readFileSync(join(root, file), "utf8")) as Manifest
    return manifest.private === true ? [] : [{ folder: file.replace(/\/package\.json$/, ""), manifest }]
  })

export interface Sources {
  readonly program: ts.Program
  readonly checker: ts.TypeChecker
  readonly root: string
  /** Whether a declaration is in the sources of the workspace, not in a library. */
  readonly isOwn: (node: ts.Node) => boolean
}

/** Loads the sources, and the written declarations, of all packages but those that only tests use. */
export const load = (root: string): Sources => {
  const files = filesOf(root, "{packages,apps}/*/{src/**/*.ts,index.d.ts}").filter((file) => !file.startsWith("packages/testing/"))
  const { options } = ts.parseJsonConfigFileContent({ extends: "./tsconfig.base.json", files: [] }, ts.sys, root)
  const program = ts.createProgram({
    rootNames: files.map((file) => join(root, file)),
    options: { ...options, composite: false, incremental: false, noEmit: true, customConditions: ["@plaza/source"] }
  })
  return {
    program,
    checker: program.getTypeChecker(),
    root,
    isOwn: (node) =>
      !/(?:^|\/)node_modules\//.test(relative(root, node.getSourceFile().fileName).replaceAll("\\", "/")) &&
      !program.isSourceFileDefaultLibrary(node.getSourceFile())
  }
}

const printer = ts.createPrinter({ removeComments: true, omitTrailingSemicolon: true })

/** A node on one line, without comments. */
export const textOf = (node: ts.Node, source = node.getSourceFile()): string =>
  printer.printNode(ts.EmitHint.Unspecified, node, source).replace(/\s+/g, " ").trim()

const scratch = ts.createSourceFile("scratch.ts", "", ts.ScriptTarget.ESNext)
const byText = (one: ts.Node, other: ts.Node): number => textOf(one, scratch) < textOf(other, scratch) ? -1 : 1
const flags = ts.NodeBuilderFlags.NoTruncation | ts.NodeBuilderFlags.IgnoreErrors | ts.NodeBuilderFlags.UseAliasDefinedOutsideCurrentScope

/** A type on one line. */
export const typeText = ({ checker }: Sources, type: ts.Type, extra = ts.NodeBuilderFlags.None): string => {
  const node = checker.typeToTypeNode(type, undefined, flags | extra)
  return node === undefined ? "unknown" : nodeText(node)
}

/** The types of the members of an object type. Unlike the types of their symbols, these say whether an optional member may be `undefined`. */
export const memberTexts = ({ checker }: Sources, type: ts.Type): ReadonlyMap<string, string> => {
  const node = checker.typeToTypeNode(type, undefined, flags | ts.NodeBuilderFlags.InTypeAlias)
  if (node === undefined || !ts.isTypeLiteralNode(node)) return new Map()
  return new Map(
    node.members.flatMap((member) =>
      ts.isPropertySignature(member) && member.type !== undefined && (ts.isIdentifier(member.name) || ts.isStringLiteral(member.name))
        ? [[member.name.text, nodeText(member.type)] as const]
        : []
    )
  )
}

/** A node that the compiler made. It orders the members of unions and objects as it met them, so they are sorted. */
const nodeText = (node: ts.TypeNode): string => {
  const sorted = ts.transform<ts.Node>(node, [(context) => {
    const visit = (child: ts.Node): ts.Node => {
      const visited = ts.visitEachChild(child, visit, context)
      // A type of a library that has no name here: the compiler writes the path of its file.
      if (ts.isImportTypeNode(visited) && visited.qualifier !== undefined) {
        return ts.factory.createTypeReferenceNode(visited.qualifier, visited.typeArguments)
      }
      if (ts.isTypeLiteralNode(visited)) return ts.factory.createTypeLiteralNode(visited.members.toSorted(byText))
      return ts.isUnionTypeNode(visited) ? ts.factory.createUnionTypeNode(visited.types.toSorted(byText)) : visited
    }
    return visit
  }])
  return sorted.transformed.map((each) => textOf(each, scratch)).join("")
}
