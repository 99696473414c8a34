/**
 * The exports of the published packages, a line for each name and each member: types as the source writes them, else as the compiler infers
 * them. What a library declares is named and not expanded.
 */
import { existsSync } from "node:fs"
import { join } from "node:path"
import ts from "../../site/src/Compiler.ts"
import { filesOf, memberTexts, type Package, type Sources, textOf, typeText } from "./Sources.ts"

const longest = 600
const readable = 160

/** Cuts a type that would fill a screen: its head says what it is, and the lines of its parts say the rest. */
const short = (text: string): string => text.length > longest ? `${text.slice(0, longest)}…` : text

const typeParametersOf = (node: ts.SignatureDeclarationBase | ts.InterfaceDeclaration | ts.TypeAliasDeclaration | ts.ClassDeclaration) =>
  node.typeParameters === undefined ? "" : `<${node.typeParameters.map((each) => textOf(each)).join(", ")}>`

/** Whether a written type names what only its file knows, such as `typeof Schema.Type`. */
const isIndirect = (node: ts.TypeNode): boolean => /\btypeof\b|\["|Schema\.Type</.test(node.getText())

const typeOfProperty = ({ checker }: Sources, type: ts.Type, name: string): ts.Type | undefined => {
  const symbol = checker.getPropertyOfType(type, name)
  return symbol === undefined ? undefined : checker.getTypeOfSymbol(symbol)
}

const isSchema = (sources: Sources, type: ts.Type): boolean =>
  ["Type", "Encoded", "ast"].every((name) => sources.checker.getPropertyOfType(type, name) !== undefined)

/** An inferred type. How the library spells a schema is no part of the surface, only what it decodes to and what it encodes to. */
const inferredText = (sources: Sources, type: ts.Type): string => {
  const sides = isSchema(sources, type) ? ["Type", "Encoded"].map((side) => typeOfProperty(sources, type, side) ?? type) : []
  return sides.length === 0 ? typeText(sources, type) : `Schema<${sides.map((side) => typeText(sources, side)).join(", ")}>`
}

/** A function: parameters and result as written, else as inferred. */
const signatureText = (sources: Sources, node: ts.SignatureDeclaration): string => {
  const { checker } = sources
  const written = (type: ts.TypeNode | undefined, inferred: () => ts.Type) => {
    if (type !== undefined && !isIndirect(type)) return textOf(type)
    const text = inferredText(sources, inferred())
    return type !== undefined && text.length > readable ? textOf(type) : text
  }
  const parameters = node.parameters.map((parameter, index) => {
    const name = ts.isIdentifier(parameter.name) ? parameter.name.text : `arg${index}`
    const optional = parameter.questionToken !== undefined || parameter.initializer !== undefined ? "?" : ""
    return `${parameter.dotDotDotToken === undefined ? "" : "..."}${name}${optional}: ${
      written(parameter.type, () => checker.getTypeAtLocation(parameter))
    }`
  })
  const signature = checker.getSignatureFromDeclaration(node)
  const result = signature === undefined ? "unknown" : written(node.type, () => checker.getReturnTypeOfSignature(signature))
  return `${typeParametersOf(node)}(${parameters.join(", ")}) => ${result}`
}

/** Whether a declaration has the type of its symbol: not if type parameters of the declaration have become arguments. */
const isExact = ({ checker }: Sources, symbol: ts.Symbol) => (node: ts.Declaration): boolean => {
  const name = ts.getNameOfDeclaration(node)
  const declared = name === undefined ? undefined : checker.getSymbolAtLocation(name)
  return declared === symbol || (declared !== undefined && checker.getTypeOfSymbol(declared) === checker.getTypeOfSymbol(symbol))
}

/** The types of a value or of a member: one for each overload. */
const valueTexts = (sources: Sources, symbol: ts.Symbol, inferred?: string): ReadonlyArray<string> => {
  const { checker, isOwn } = sources
  const declarations = (symbol.declarations ?? []).filter(isOwn).filter(isExact(sources, symbol))
  const functions = declarations.filter((node) =>
    ts.isFunctionDeclaration(node) || ts.isMethodSignature(node) || ts.isMethodDeclaration(node)
  )
  const overloads = functions.length > 1 ? functions.filter((node) => !("body" in node) || node.body === undefined) : functions
  if (overloads.length > 0) return overloads.map((node) => signatureText(sources, node))
  const [node] = declarations
  if (node !== undefined && (ts.isVariableDeclaration(node) || ts.isPropertySignature(node) || ts.isPropertyDeclaration(node))) {
    if (node.type !== undefined && ts.isTypeLiteralNode(node.type) && node.type.members.every(ts.isCallSignatureDeclaration)) {
      return node.type.members.map((each) => textOf(each))
    }
    if (node.type !== undefined) {
      const text = typeText(sources, checker.getTypeOfSymbol(symbol))
      return [isIndirect(node.type) && text.length <= readable ? text : textOf(node.type)]
    }
  }
  if (
    node !== undefined && (ts.isVariableDeclaration(node) || ts.isPropertyDeclaration(node) || ts.isPropertyAssignment(node)) &&
    node.initializer !== undefined && ts.isArrowFunction(node.initializer)
  ) {
    return [signatureText(sources, node.initializer)]
  }
  return [inferred ?? inferredText(sources, checker.getTypeOfSymbol(symbol))]
}

/** A type on a line, or of a long union a line for each member. */
const unionLines = (sources: Sources, path: string, type: ts.Type, text: string): ReadonlyArray<string> =>
  text.length > longest && type.isUnion()
    ? [`${path}: union`, ...type.types.map((each) => `${path} | ${short(typeText(sources, each))}`)]
    : [`${path}: ${short(text)}`]

/** The members of a type, without those that a library declares, such as the methods of an array. */
const ownMembers = ({ checker, isOwn }: Sources, type: ts.Type): ReadonlyArray<ts.Symbol> =>
  checker.getPropertiesOfType(type).filter(({ declarations = [], name }) =>
    (declarations.length === 0 || declarations.some(isOwn)) && name !== "prototype" && !name.startsWith("__")
  )

/** A line for each member of a type. The tag of an error is one of them, although a library declares it. */
const membersOf = (sources: Sources, path: string, type: ts.Type, depth = 1): ReadonlyArray<string> => {
  const texts = memberTexts(sources, type)
  const tag = sources.checker.getPropertyOfType(type, "_tag")
  return [...new Set([...ownMembers(sources, type), ...(tag === undefined ? [] : [tag])])].flatMap((member) => {
    const optional = member.flags & ts.SymbolFlags.Optional ? "?" : ""
    const inner = sources.checker.getTypeOfSymbol(member)
    // Without a name of its own, as the areas of a client.
    const isUnnamed = inner.symbol?.name === "__type" &&
      member.declarations?.some((node) => node.getSourceFile().isDeclarationFile) === true
    if ((depth > 1 || isUnnamed) && isOpen(sources, inner)) return membersOf(sources, `${path}.${member.name}`, inner, depth - 1)
    return valueTexts(sources, member, texts.get(member.name)).flatMap((text) =>
      unionLines(sources, `${path}.${member.name}${optional}`, inner, text)
    )
  })
}

/** Whether the parts of a type say more than its name: an object that our sources write. */
const isOpen = (sources: Sources, type: ts.Type): boolean =>
  (type.flags & ts.TypeFlags.Object) !== 0 && sources.checker.getSignaturesOfType(type, ts.SignatureKind.Call).length === 0 &&
  ownMembers(sources, type).length > 0

const typeLines = (sources: Sources, path: string, symbol: ts.Symbol): ReadonlyArray<string> => {
  const { checker } = sources
  const type = checker.getDeclaredTypeOfSymbol(symbol)
  const [node] = (symbol.declarations ?? []).filter((each) => ts.isInterfaceDeclaration(each) || ts.isTypeAliasDeclaration(each))
  if (node === undefined) return membersOf(sources, path, type)
  const parameters = typeParametersOf(node)
  if (ts.isInterfaceDeclaration(node)) {
    const parents = (node.heritageClauses ?? []).flatMap(({ types }) => types).filter((each) => !/\btypeof\b/.test(each.getText()))
    return [
      `${path}: interface${parameters}${parents.length === 0 ? "" : ` extends ${parents.map((each) => textOf(each)).join(", ")}`}`,
      ...membersOf(sources, path, type)
    ]
  }
  if (isOpen(sources, type)) return [`${path}: type${parameters}`, ...membersOf(sources, path, type)]
  const inferred = isIndirect(node.type) ? typeText(sources, type, ts.NodeBuilderFlags.InTypeAlias) : ""
  const text = inferred === "" || inferred.length > readable ? textOf(node.type) : inferred
  // Of a long union, a line for each member.
  if (text.length > 120 && ts.isUnionTypeNode(node.type)) {
    return [`${path}: union${parameters}`, ...node.type.types.map((each) => `${path} | ${short(textOf(each))}`)]
  }
  return [`${path}: type${parameters} ${short(text)}`]
}

/** A schema: what it decodes to and, if that differs, what it encodes to. How the library spells the schema is no part of the surface. */
const schemaLines = (sources: Sources, path: string, type: ts.Type): ReadonlyArray<string> => {
  const sideOf = (side: string, path: string): ReadonlyArray<string> => {
    const inner = typeOfProperty(sources, type, side)
    if (inner === undefined) return []
    return isOpen(sources, inner) ? membersOf(sources, path, inner) : unionLines(sources, path, inner, `type ${typeText(sources, inner)}`)
  }
  const decoded = sideOf("Type", path)
  const encoded = sideOf("Encoded", `${path}(encoded)`)
  return [...decoded, ...encoded.filter((line) => !decoded.includes(line.replace(`${path}(encoded)`, path)))]
}

const classLines = (sources: Sources, path: string, node: ts.ClassDeclaration, type: ts.Type): ReadonlyArray<string> => {
  const parent = node.heritageClauses?.[0]?.types[0]?.expression.getText().replace(/[<(\n][^]*$/, "")
  const constructors = node.members.filter(ts.isConstructorDeclaration)
  const service = typeOfProperty(sources, type, "Service")
  return [
    `${path}: class${typeParametersOf(node)}${parent === undefined ? "" : ` extends ${parent}`}`,
    ...constructors.map((each) => `${path}.constructor: ${signatureText(sources, each)}`),
    ...(isSchema(sources, type) ? schemaLines(sources, path, type) : []),
    ...(service === undefined ? [] : membersOf(sources, path, service)),
    ...membersOf(sources, `${path} static`, type)
  ]
}

const valueLines = (sources: Sources, path: string, symbol: ts.Symbol): ReadonlyArray<string> => {
  const type = sources.checker.getTypeOfSymbol(symbol)
  const node = symbol.valueDeclaration
  if (node !== undefined && ts.isClassDeclaration(node)) return classLines(sources, path, node, type)
  if (isSchema(sources, type)) {
    return [`${path}: schema`, ...schemaLines(sources, path, type)]
  }
  const isNamed = node !== undefined && ts.isVariableDeclaration(node) && node.type !== undefined
  if (!isNamed && isOpen(sources, type)) return [`${path}: const`, ...membersOf(sources, path, type, 2)]
  return valueTexts(sources, symbol).map((text) => `${path}: ${short(text)}`)
}

/** Declarations that are in the repository, because the sources derive them. */
const writtenTypes = ({ types }: Readonly<Record<string, string>>): string | undefined =>
  types !== undefined && !types.startsWith("./dist/") ? types : undefined

/** The entries of a package that are modules, with their files; and the others. A pattern stands for each file that it matches. */
const entriesOf = (root: string, { folder, manifest }: Package): ReadonlyArray<readonly [entry: string, file: string]> => {
  const all = Object.entries(manifest.publishConfig?.exports ?? manifest.exports ?? {})
  const closed = all.flatMap(([entry, target]) => target === null ? [entry.replace(/\*$/, "")] : [])
  return all.flatMap(([entry, target]) => {
    if (target === null) return []
    const file = typeof target === "string" ? target : writtenTypes(target) ?? target["@plaza/source"] ?? target["default"] ?? ""
    const name = (name: string) => join(manifest.name, name).replaceAll("\\", "/")
    if (!entry.includes("*")) return [[name(entry), join(folder, file)] as const]
    const [before = "", after = ""] = join(folder, file).split("*")
    return filesOf(root, `${before}*${after}`).map((found) =>
      [entry.replace("*", found.slice(before.length, -after.length || undefined)), found] as const
    )
      .filter(([found]) => !closed.some((prefix) => found.startsWith(prefix))).map(([found, file]) => [name(found), file] as const)
  }).toSorted(([one], [other]) => one < other ? -1 : 1)
}

/** The lines of the exports of some packages. */
export const exportLines = (sources: Sources, packages: ReadonlyArray<Package>): ReadonlyArray<string> => {
  const { checker, program, root } = sources
  const known = new Map<ts.Symbol, string>()
  const visit = (module: ts.Symbol, path: string, separator: string): ReadonlyArray<string> =>
    checker.getExportsOfModule(module).toSorted((one, other) => one.name < other.name ? -1 : 1).flatMap((exported) => {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported
      const name = `${path}${separator}${exported.name}`
      const before = known.get(symbol)
      if (before !== undefined) return [`${name} = ${before}`]
      known.set(symbol, name)
      if (symbol.flags & ts.SymbolFlags.ValueModule) return [`${name}: namespace`, ...visit(symbol, name, ".")]
      const value = symbol.flags & ts.SymbolFlags.Value ? valueLines(sources, name, symbol) : []
      // A schema and its type have one name, and the lines of the schema have the members of the type.
      const isType = symbol.flags & ts.SymbolFlags.Type && value[0] !== `${name}: schema`
      // The types of a namespace with the name of a class, such as the failures of a service.
      const types = symbol.flags & ts.SymbolFlags.NamespaceModule
        ? checker.getExportsOfModule(symbol).filter(({ flags }) => flags & ts.SymbolFlags.Type)
        : []
      return [
        ...value,
        ...(isType ? typeLines(sources, name, symbol) : []),
        ...types.flatMap((type) => typeLines(sources, `${name}.${type.name}`, type))
      ]
    })
  return packages.flatMap((published) =>
    entriesOf(root, published).flatMap(([entry, file]) => {
      const source = file.endsWith(".ts") ? program.getSourceFile(join(root, file)) : undefined
      const module = source === undefined ? undefined : checker.getSymbolAtLocation(source)
      if (module === undefined) return [`${entry}: ${existsSync(join(root, file)) ? "file" : "missing file"}`]
      const before = known.get(module)
      known.set(module, before ?? entry)
      return before === undefined ? [`${entry}: module`, ...visit(module, entry, " ")] : [`${entry} = ${before}`]
    })
  )
}
