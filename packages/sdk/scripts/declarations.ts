/**
 * Writes `index.d.ts`: the public types, with everything that they derive from the client resolved to plain types. With `--print` it prints
 * them instead. Documentation comments come from where each thing is declared. Only this package's examples are kept: the others use Effect.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import ts from "typescript"

const folder = fileURLToPath(new URL("..", import.meta.url))
const entry = join(folder, "src/index.ts")
// The type of the compiler has no type for the content of a file.
const read = ts.readConfigFile(join(folder, "../../tsconfig.base.json"), (path) => readFileSync(path, "utf8")) as {
  readonly config: { readonly compilerOptions: unknown }
}
const { options } = ts.convertCompilerOptionsFromJson(read.config.compilerOptions, folder)
const program = ts.createProgram([entry], {
  ...options,
  composite: false,
  incremental: false,
  noEmit: true,
  customConditions: ["@plaza/source"]
})
const checker = program.getTypeChecker()

const isLibrary = (symbol: ts.Symbol): boolean =>
  (symbol.declarations ?? []).every((node) => /\/(typescript\/lib|@types\/node|undici-types)\//.test(node.getSourceFile().fileName))

/** Exported names by their types, so that a type is written once. */
const names = new Map<ts.Type, string>()

/** Exported names of types with parameters. */
const generics = new Map<ts.Symbol, string>()

const isNumber = (type: ts.Type): boolean => (type.flags & ts.TypeFlags.Number) !== 0

/** Numbers that are durations, all in one unit. */
const durations = new Set(["delay", "duration", "retryAfter", "timeout"])

/** The exported name of a type. The compiler makes an intersection anew where it infers one, so these are compared by their parts. */
const nameOfType = (type: ts.Type): string | undefined =>
  names.get(type) ?? (type.isIntersection()
    ? [...names].find(([other]) =>
      other.isIntersection() && checker.isTypeAssignableTo(type, other) && checker.isTypeAssignableTo(other, type) &&
      type.getProperties().length === other.getProperties().length
    )?.[1]
    : undefined)

const documentation = (symbol: ts.Symbol, indent = ""): string => {
  const isDuration = durations.has(symbol.name) && isNumber(checker.getNonNullableType(checker.getTypeOfSymbol(symbol)))
  const written = ts.displayPartsToString(symbol.getDocumentationComment(checker)).replace(/\{@link (\w+\.)*(\w+)\}/g, "`$2`").trim()
  const isOwn = symbol.declarations?.some((node) => node.getSourceFile().fileName.startsWith(join(folder, "src"))) === true
  const examples = symbol.getJsDocTags(checker).filter(({ name }) => isOwn && name === "example")
    .map(({ text }) => `\n\n@example\n${ts.displayPartsToString(text)}`)
  const text = [isDuration ? `${written} In milliseconds.`.trim() : written, ...examples].join("")
  if (text === "") return ""
  const lines = text.split("\n")
  return lines.length === 1 && lines[0] !== undefined && lines[0].length < 120
    ? `${indent}/** ${text} */\n`
    : `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join("\n")}\n${indent} */\n`
}

const nameOf = (symbol: ts.Symbol): string => {
  const { name } = symbol
  const known = /^__@(\w+)@\d+$/.exec(name)
  return known !== null ? `[Symbol.${known[1]}]` : /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
}

interface Parameter {
  readonly name: string
  readonly isOptional: boolean
  readonly type: ts.Type
}

/** The parameters of a signature. A tuple of rest parameters is one for each of its elements, named by their labels. */
const parametersOf = (signature: ts.Signature): ReadonlyArray<Parameter> =>
  signature.getParameters().flatMap((symbol): ReadonlyArray<Parameter> => {
    const node = symbol.valueDeclaration
    const type = checker.getTypeOfSymbol(symbol)
    if (node !== undefined && ts.isParameter(node) && node.dotDotDotToken !== undefined && checker.isTupleType(type)) {
      // True of a tuple.
      const { elementFlags, labeledElementDeclarations: labels = [] } = (type as ts.TupleTypeReference).target
      return checker.getTypeArguments(type as ts.TupleTypeReference).map((element, index) => {
        const label = labels[index]
        const name = label !== undefined && ts.isIdentifier(label.name) ? label.name.text : `argument${index + 1}`
        return { name, isOptional: ((elementFlags[index] ?? 0) & ts.ElementFlags.Optional) !== 0, type: element }
      })
    }
    return [{ name: symbol.name, isOptional: node !== undefined && ts.isParameter(node) && checker.isOptionalParameter(node), type }]
  })

const parameters = (signature: ts.Signature, indent: string): string =>
  parametersOf(signature).map(({ isOptional, name, type }) =>
    `${name}${isOptional ? "?" : ""}: ${print(isOptional ? checker.getNonNullableType(type) : type, indent)}`
  ).join(", ")

const signatureText = (signature: ts.Signature, indent: string, arrow: string): string => {
  const typeParameters = (signature.typeParameters ?? []).map((type) => {
    const preset = checker.getDefaultFromTypeParameter(type)
    return preset === undefined ? type.symbol.name : `${type.symbol.name} = ${print(preset, indent)}`
  })
  const head = typeParameters.length === 0 ? "" : `<${typeParameters.join(", ")}>`
  return `${head}(${parameters(signature, indent)})${arrow}${print(signature.getReturnType(), indent)}`
}

/** Without those that the platform adds to every `Error`. */
const propertiesOf = (type: ts.Type): ReadonlyArray<ts.Symbol> => type.getProperties().filter(({ name }) => !name.startsWith("~effect/"))

const members = (type: ts.Type, indent: string, { inherited = new Set<string>(), isDocumented = true } = {}): string => {
  const inner = `${indent}  `
  const calls = type.getCallSignatures().map((signature) => `${inner}${signatureText(signature, inner, ": ")}\n`)
  const properties = propertiesOf(type).filter(({ name }) => !inherited.has(name)).map((symbol) => {
    const isOptional = (symbol.flags & ts.SymbolFlags.Optional) !== 0
    return `${isDocumented ? documentation(symbol, inner) : ""}${inner}readonly ${nameOf(symbol)}${isOptional ? "?" : ""}: ${
      print(checker.getTypeOfSymbol(symbol), inner)
    }\n`
  })
  return `{\n${[...calls, ...properties].join("")}${indent}}`
}

/** A type as text. `isNamed` writes the type itself instead of its exported name. */
const print = (type: ts.Type, indent = "", isDeclared = false): string => {
  const alias = type.aliasSymbol === undefined ? undefined : generics.get(type.aliasSymbol)
  if (alias !== undefined && !isDeclared)
    return `${alias}<${(type.aliasTypeArguments ?? []).map((each) => print(each, indent)).join(", ")}>`
  const known = isDeclared ? undefined : nameOfType(type)
  if (known !== undefined) return known
  const { flags } = type
  if (type.isUnion() && (flags & ts.TypeFlags.Boolean) === 0) {
    const rest = checker.getNonNullableType(type)
    const name = rest === type ? undefined : names.get(rest)
    if (name !== undefined) {
      return [
        name,
        ...type.types.filter((part) => (part.flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Null)) !== 0).map((part) => print(part))
      ].join(" | ")
    }
    const parts = new Set(unionParts(type).map((part) => {
      const text = print(part, indent)
      return part.getCallSignatures().length > 0 && !names.has(part) && !text.startsWith("{") ? `(${text})` : text
    }))
    return [...parts].toSorted((one, other) => rank(one) - rank(other)).join(" | ")
  }
  if ((flags & ts.TypeFlags.Object) === 0 && !type.isIntersection())
    return checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation)
  if (checker.isArrayType(type)) {
    const [element] = checker.getTypeArguments(type as ts.TypeReference)
    const text = element === undefined ? "unknown" : print(element, indent)
    return type.symbol.name === "ReadonlyArray" ? `ReadonlyArray<${text}>` : `Array<${text}>`
  }
  const { symbol } = type
  if (symbol !== undefined && symbol.name !== "__type" && isLibrary(symbol)) {
    if ((symbol.flags & ts.SymbolFlags.Function) !== 0) return `typeof globalThis.${symbol.name}`
    const declared = checker.getTypeArguments(type as ts.TypeReference)
    // The last arguments of iterables and typed arrays are defaults, which older compilers do not know.
    const texts = declared.slice(0, ["AsyncIterable", "Promise", "ReadableStream"].includes(symbol.name) ? 1 : 0).map((each) =>
      print(each, indent)
    )
    return texts.length === 0 ? symbol.name : `${symbol.name}<${texts.join(", ")}>`
  }
  const text = checker.getIndexTypeOfType(type, ts.IndexKind.String)
  if (text !== undefined && type.getProperties().length === 0) {
    return `Readonly<Record<string, ${print(text, indent)}>>`
  }
  const [call, ...overloads] = type.getCallSignatures()
  return call !== undefined && overloads.length === 0 && type.getProperties().length === 0 && !isDeclared
    ? signatureText(call, indent, " => ")
    : members(type, indent)
}

/** The parts of a union, with `boolean` as one of them. */
const unionParts = (type: ts.UnionType): ReadonlyArray<ts.Type> => {
  const parts = type.types.filter((part) => (part.flags & ts.TypeFlags.BooleanLiteral) === 0)
  return parts.length + 2 === type.types.length ? [...parts, checker.getBooleanType()] : type.types
}

/** `undefined` and `null` are last. */
const rank = (text: string): number => text === "undefined" ? 2 : text === "null" ? 1 : 0

const module = checker.getSymbolAtLocation(program.getSourceFile(entry) ?? raise("src/index.ts can't be read"))
function raise(message: string): never {
  throw new Error(message)
}
const exported = checker.getExportsOfModule(module ?? raise("src/index.ts is no module")).map((symbol) => ({
  name: symbol.name,
  symbol: (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol)
})).toSorted((one, other) => one.name < other.name ? -1 : 1)

for (const { name, symbol } of exported) {
  if ((symbol.flags & ts.SymbolFlags.Type) === 0) continue
  const isGeneric = (symbol.declarations ?? []).some((node) => ts.isTypeAliasDeclaration(node) && node.typeParameters !== undefined)
  if (isGeneric) generics.set(symbol, name)
  else names.set(checker.getDeclaredTypeOfSymbol(symbol), name)
}

const baseMembers = new Set(["name", "message", "stack", "cause", "toString"])

const classText = (name: string, symbol: ts.Symbol): string => {
  const type = checker.getDeclaredTypeOfSymbol(symbol)
  const isBase = name === "PlazaError"
  const isOfBase = (node: ts.Declaration) => ts.isClassDeclaration(node.parent) && node.parent.name?.text === "PlazaError"
  const own = propertiesOf(type).filter(({ declarations = [], name }) =>
    isBase
      ? declarations.some(isOfBase)
      // Those of the base and of `Error` are inherited, except where a class narrows one.
      : declarations.some((node) => !isOfBase(node) && !(baseMembers.has(name) && node.getSourceFile().isDeclarationFile))
  )
  const lines = own.map((property) => {
    const isOptional = (property.flags & ts.SymbolFlags.Optional) !== 0
    const type = checker.getTypeOfSymbol(property)
    return `${documentation(property, "  ")}  readonly ${nameOf(property)}${isOptional ? "?" : ""}: ${print(type, "  ")}\n`
  })
  return `export declare ${isBase ? "abstract " : ""}class ${name} extends ${isBase ? "Error" : "PlazaError"} {\n  ${
    isBase ? "protected" : "private"
  } constructor()\n${lines.join("")}}\n`
}

const failures = (type: ts.Type): string =>
  `{\n${
    type.getProperties().map((area) =>
      `  readonly ${area.name}: ${members(checker.getTypeOfSymbol(area), "  ", { isDocumented: false })}\n`
    ).join("")
  }}`

const declaration = ({ name, symbol }: { readonly name: string; readonly symbol: ts.Symbol }): string => {
  const [node] = symbol.declarations ?? []
  if ((symbol.flags & ts.SymbolFlags.Class) !== 0) return classText(name, symbol)
  if ((symbol.flags & ts.SymbolFlags.Type) === 0) {
    const type = checker.getTypeOfSymbol(symbol)
    const [call] = type.getCallSignatures()
    // A guard has no form of its own in the compiler's types of results.
    return name === "isPlazaError"
      ? "export declare const isPlazaError: (value: unknown) => value is Failure\n"
      : `export declare const ${name}: ${print(type)}\n${call === undefined ? "" : ""}`
  }
  const type = checker.getDeclaredTypeOfSymbol(symbol)
  const parameters = node !== undefined && (ts.isTypeAliasDeclaration(node) || ts.isInterfaceDeclaration(node))
    ? (node.typeParameters ?? []).map((parameter) => parameter.getText())
    : []
  const head = `${name}${parameters.length === 0 ? "" : `<${parameters.join(", ")}>`}`
  const parents = type.isClassOrInterface()
    ? checker.getBaseTypes(type).flatMap((parent) => {
      const name = nameOfType(parent)
      return name === undefined ? [] : [[name, parent] as const]
    })
    : []
  return type.isUnion() || (type.flags & ts.TypeFlags.Object) === 0 && !type.isIntersection()
    ? `export type ${head} = ${print(type, "", true)}\n`
    // The errors of an operation need no description of the operation.
    : `export interface ${head}${parents.length === 0 ? "" : ` extends ${parents.map(([name]) => name).join(", ")}`} ${
      name === "Failures"
        ? failures(type)
        : members(type, "", { inherited: new Set(parents.flatMap(([, parent]) => parent.getProperties().map(({ name }) => name))) })
    }\n`
}

const text = `// Written by \`npm run declarations\`: the types of the package, without those of its dependencies.
/// <reference lib="esnext.disposable" />

${exported.map((each) => `${documentation(each.symbol)}${declaration(each)}`).join("\n")}`
if (process.argv.includes("--print")) process.stdout.write(text)
else writeFileSync(join(folder, "index.d.ts"), text)
