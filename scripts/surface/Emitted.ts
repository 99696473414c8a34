/**
 * What running code emits and reads, by the syntax tree: log events, metrics, spans, error tags, webhook events, results as JSON, paths that
 * the programs serve, and variables.
 */
import { relative } from "node:path"
import ts from "../../site/src/Compiler.ts"
import { type Sources, typeText } from "./Sources.ts"

/** The arguments that stand for the parameters of a helper. */
type Bindings = ReadonlyMap<ts.Symbol, ts.Expression>

export interface Emitted {
  readonly events: ReadonlyArray<string>
  readonly metrics: ReadonlyArray<string>
  readonly spans: ReadonlyArray<string>
  readonly errors: ReadonlyArray<string>
  readonly results: ReadonlyArray<string>
  readonly webhook: ReadonlyArray<string>
  readonly paths: ReadonlyArray<string>
  readonly variables: ReadonlyArray<string>
}

const eventPattern = /^[a-z][a-z_]*\.[a-zA-Z_]+$/
export const variablePattern = /\b(?:(?:PLAZA|STOCK_SYNC|OTEL|XDG|NODE|AWS)_[A-Z][A-Z0-9_]*[A-Z0-9]|[A-Z]+_PROXY|NO_COLOR)\b/g

const isReference = (type: ts.Type): type is ts.TypeReference => "target" in type

export const emitted = (sources: Sources): Emitted => {
  const { checker, isOwn, program, root } = sources
  const files = program.getSourceFiles().filter((file) => !file.isDeclarationFile && isOwn(file))
  const calls: Array<ts.CallExpression> = []
  const paths = new Set<string>()
  const variables = new Set<string>()

  const collect = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) calls.push(node)
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node)) {
      for (const [name] of node.text.matchAll(variablePattern)) variables.add(name)
    }
    // `const { HOME } = process.env`
    if (ts.isVariableDeclaration(node) && node.initializer?.getText() === "process.env" && ts.isObjectBindingPattern(node.name)) {
      for (const { name } of node.name.elements) variables.add(name.getText())
    }
    if (ts.isVariableDeclaration(node) && node.name.getText() === "paths") {
      for (const { name } of checker.getPropertiesOfType(checker.getTypeAtLocation(node))) pathsOf(node, name)
    }
    if (ts.isCaseClause(node)) { for (const path of textsOf(node.expression, new Map())) if (path.startsWith("/")) paths.add(path) }
    ts.forEachChild(node, collect)
  }

  const pathsOf = (node: ts.VariableDeclaration, name: string): void => {
    const member = checker.getPropertyOfType(checker.getTypeAtLocation(node), name)
    const type = member === undefined ? undefined : checker.getTypeOfSymbol(member)
    if (type?.isStringLiteral() === true && type.value.startsWith("/")) paths.add(type.value)
  }

  const symbolOf = (node: ts.Node): ts.Symbol | undefined => {
    const symbol = checker.getSymbolAtLocation(ts.isPropertyAccessExpression(node) ? node.name : node)
    return symbol !== undefined && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  }

  /** The texts that an expression can be: by its literals, by the arguments of a helper, else by its type. */
  const textsOf = (node: ts.Expression, bindings: Bindings): ReadonlyArray<string> => {
    if (ts.isStringLiteralLike(node)) return [node.text]
    if (ts.isTemplateExpression(node)) {
      return node.templateSpans.reduce<ReadonlyArray<string>>(
        (texts, { expression, literal }) =>
          texts.flatMap((text) => textsOf(expression, bindings).map((each) => text + each + literal.text)),
        [node.head.text]
      )
    }
    const parameter = ts.isIdentifier(node) ? checker.getSymbolAtLocation(node) : undefined
    const bound = parameter === undefined ? undefined : bindings.get(parameter)
    if (bound !== undefined) return textsOf(bound, bindings)
    const helper = ts.isCallExpression(node) ? helperOf(node) : undefined
    if (ts.isCallExpression(node) && helper !== undefined && !ts.isBlock(helper.body)) {
      return textsOf(helper.body, new Map([...bindings, ...bindingsOf(helper, node)]))
    }
    const type = checker.getTypeAtLocation(node)
    return (type.isUnion() ? type.types : [type]).flatMap((each) => each.isStringLiteral() ? [each.value] : [])
  }

  /** The arrow function that a call runs, if it has a name in its file. */
  const helperOf = ({ expression }: ts.CallExpression): ts.ArrowFunction | undefined => {
    if (!ts.isIdentifier(expression)) return undefined
    const declaration = symbolOf(expression)?.valueDeclaration
    return declaration !== undefined && ts.isVariableDeclaration(declaration) && declaration.initializer !== undefined &&
        ts.isArrowFunction(declaration.initializer) && isOwn(declaration)
      ? declaration.initializer
      : undefined
  }

  const bindingsOf = (helper: ts.ArrowFunction, call: ts.CallExpression): Bindings =>
    new Map(helper.parameters.flatMap(({ name }, index) => {
      const symbol = checker.getSymbolAtLocation(name)
      const argument = call.arguments[index]
      return symbol === undefined || argument === undefined ? [] : [[symbol, argument] as const]
    }))

  const sites = new Map<ts.ArrowFunction, Array<ts.CallExpression>>()

  /** The bindings of a call: one for each use of the helper that contains it. */
  const usesOf = (call: ts.CallExpression): ReadonlyArray<Bindings> => {
    const helper = ts.findAncestor(call, (node): node is ts.ArrowFunction => ts.isArrowFunction(node) && sites.has(node))
    return [new Map(), ...(helper === undefined ? [] : (sites.get(helper) ?? []).map((site) => bindingsOf(helper, site)))]
  }

  /** The items of an array, or the arguments of another generic type. */
  const argumentsOf = (type: ts.Type | undefined): ReadonlyArray<ts.Type> =>
    type !== undefined && isReference(type) ? checker.getTypeArguments(type) : []

  /** The fields of an object as JSON shows them: a line for each, also of the objects in it. */
  const fieldsOf = (path: string, type: ts.Type, depth = 4): ReadonlyArray<string> => {
    const some = type.isUnion() ? type.types.filter((each) => !(each.flags & (ts.TypeFlags.Null | ts.TypeFlags.Undefined))) : [type]
    const [item] = some.length === 1 && checker.isArrayType(some[0] ?? type) ? argumentsOf(some[0]) : []
    if (item !== undefined) return fieldsOf(`${path}[]`, item, depth)
    const isOpen = depth > 0 && some.length > 0 &&
      some.every((each) =>
        each.flags & ts.TypeFlags.Object && !checker.isArrayType(each) && !checker.isTupleType(each) &&
        checker.getPropertiesOfType(each).some(({ declarations = [] }) => declarations.some(isOwn))
      )
    if (!isOpen) return [`${path}: ${typeText(sources, type)}`]
    return some.flatMap((each) => checker.getPropertiesOfType(each)).flatMap((member) =>
      fieldsOf(`${path}.${member.name}${member.flags & ts.SymbolFlags.Optional ? "?" : ""}`, checker.getTypeOfSymbol(member), depth - 1)
    )
  }

  /** The events of the webhook: the members of the union `Facts`, by their `type`. */
  const webhookOf = (file: ts.SourceFile): ReadonlyArray<string> => {
    const module = checker.getSymbolAtLocation(file)
    const facts = module === undefined ? undefined : checker.getExportsOfModule(module).find(({ name }) => name === "Facts")
    const type = facts === undefined ? undefined : checker.getDeclaredTypeOfSymbol(facts)
    return (type?.isUnion() === true ? type.types : []).flatMap((each) => {
      const tag = checker.getPropertyOfType(each, "type")
      const tags = tag === undefined ? undefined : checker.getTypeOfSymbol(tag)
      return (tags?.isUnion() === true ? tags.types : [tags]).flatMap((one) =>
        one?.isStringLiteral() === true
          ? [`${one.value}: event`, ...fieldsOf(one.value, each).filter((line) => !line.startsWith(`${one.value}.type:`))]
          : []
      )
    })
  }

  /** The properties of an object, or of any of those that it can be. */
  const namesOf = (node: ts.Expression): ReadonlyArray<string> => {
    if (ts.isStringLiteralLike(node)) return [node.text]
    const type = checker.getTypeAtLocation(node)
    return (type.isUnion() ? type.types : [type]).flatMap((each) => checker.getPropertiesOfType(each))
      .filter(({ declarations = [] }) => declarations.some(isOwn)).map(({ name }) => name)
  }

  const pathOf = (node: ts.Node): string => relative(root, node.getSourceFile().fileName).replaceAll("\\", "/")

  const calleeOf = ({ expression }: ts.CallExpression): string =>
    ts.isPropertyAccessExpression(expression) ? expression.name.text : ts.isIdentifier(expression) ? expression.text : ""

  const isAnnotation = (node: ts.Node): node is ts.CallExpression => ts.isCallExpression(node) && calleeOf(node) === "annotateLogs"

  /** The fields that annotations around a log call add: `annotateLogs(log, fields)`, `log.pipe(annotateLogs(fields))`, and by a variable. */
  const annotationsOf = (node: ts.Node): ReadonlyArray<string> => {
    const { parent } = node
    if (ts.isVariableDeclaration(parent) && ts.isIdentifier(parent.name)) {
      const symbol = checker.getSymbolAtLocation(parent.name)
      return calls.filter((call) => isAnnotation(call) && call.arguments[0] !== undefined && symbolOf(call.arguments[0]) === symbol)
        .flatMap((call) => annotationFields(call, 1))
    }
    if (ts.isPropertyAccessExpression(parent) && parent.name.text === "pipe" && ts.isCallExpression(parent.parent)) {
      return [...parent.parent.arguments.filter(isAnnotation).flatMap((call) => annotationFields(call, 0)), ...annotationsOf(parent.parent)]
    }
    if (isAnnotation(parent) && parent.arguments[0] === node) return [...annotationFields(parent, 1), ...annotationsOf(parent)]
    return ts.isConditionalExpression(parent) || ts.isParenthesizedExpression(parent) ? annotationsOf(parent) : []
  }
  const annotationFields = (call: ts.CallExpression, index: number): ReadonlyArray<string> => {
    const argument = call.arguments[index]
    return argument === undefined ? [] : namesOf(argument)
  }

  const parameterOf = (call: ts.CallExpression, name: string): ts.Expression | undefined => {
    const index = checker.getResolvedSignature(call)?.parameters.findIndex((parameter) => parameter.name === name) ?? -1
    return index < 0 ? undefined : call.arguments[index]
  }
  // Spares the compiler most calls.
  const mayHaveEvent = ({ arguments: all }: ts.CallExpression): boolean =>
    all.some((each) =>
      ts.isTemplateExpression(each) || ts.isConditionalExpression(each) || (ts.isStringLiteral(each) && eventPattern.test(each.text))
    )

  const isMetric = ({ expression }: ts.CallExpression): boolean =>
    /^Metric(?:Key)?\.(?:counter|gauge|histogram|frequency|summary|timer)/.test(expression.getText())

  /** The names of the metrics that an expression can be. */
  const metricsOf = (node: ts.Expression, bindings: Bindings): ReadonlyArray<string> => {
    const symbol = symbolOf(node)
    const bound = symbol === undefined ? undefined : bindings.get(symbol)
    if (bound !== undefined) return metricsOf(bound, bindings)
    const declaration = symbol?.valueDeclaration
    const made = ts.isCallExpression(node)
      ? node
      : declaration !== undefined && ts.isVariableDeclaration(declaration)
      ? declaration.initializer
      : undefined
    if (made === undefined || !ts.isCallExpression(made)) return []
    if (isMetric(made)) return made.arguments[0] === undefined ? [] : textsOf(made.arguments[0], bindings)
    const helper = helperOf(made)
    return helper === undefined || ts.isBlock(helper.body) ? [] : metricsOf(helper.body, bindingsOf(helper, made))
  }

  /** The text of a metric's description: a property of its options, else its last argument. */
  const descriptionOf = (call: ts.CallExpression, bindings: Bindings): string => {
    const last = call.arguments.at(-1)
    const property = last !== undefined && ts.isObjectLiteralExpression(last)
      ? last.properties.find((each) => each.name?.getText() === "description")
      : undefined
    const symbol = property !== undefined && ts.isShorthandPropertyAssignment(property)
      ? checker.getShorthandAssignmentValueSymbol(property)
      : undefined
    const value = symbol !== undefined
      ? bindings.get(symbol)
      : property !== undefined && ts.isPropertyAssignment(property)
      ? property.initializer
      : last
    return value === undefined ? "" : textsOf(value, bindings).join(" ")
  }

  for (const file of files) collect(file)
  for (const call of calls) {
    const helper = helperOf(call)
    if (helper !== undefined) sites.set(helper, [...sites.get(helper) ?? [], call])
  }

  const fields = new Map<string, Set<string>>()
  const labels = new Map<string, Set<string>>()
  const metrics = new Map<string, string>()
  const spans = new Set<string>()
  const errors = new Set<string>()
  const results = new Set<string>()

  for (const call of calls) {
    const callee = calleeOf(call)
    const [first, second] = call.arguments
    const isLog = /^Effect\.log(?!ger)\w*$/.test(call.expression.getText())
    // A helper for log lines has a parameter `event`, and `fields` beside it.
    const event = isLog ? callee === "logWithLevel" ? second : first : mayHaveEvent(call) ? parameterOf(call, "event") : undefined
    if (event !== undefined) {
      const rest = isLog ? undefined : parameterOf(call, "fields")
      for (const name of textsOf(event, new Map()).filter((text) => isLog || eventPattern.test(text))) {
        fields.set(name, new Set([...fields.get(name) ?? [], ...annotationsOf(call), ...rest === undefined ? [] : namesOf(rest)]))
      }
    }
    if (isMetric(call) && first !== undefined) {
      const kind = callee === "counter" && /incremental: true/.test(call.getText()) ? "counter" : callee === "counter" ? "sum" : callee
      for (const bindings of usesOf(call)) {
        for (const name of textsOf(first, bindings)) metrics.set(name, `${kind}: ${descriptionOf(call, bindings)}`)
      }
    }
    if (/^Metric(?:Key)?\.(?:tagged|withAttributes)$/.test(call.expression.getText()) && first !== undefined && second !== undefined) {
      for (const bindings of usesOf(call)) {
        const names = ts.isObjectLiteralExpression(second) ? namesOf(second) : textsOf(second, bindings)
        for (const metric of metricsOf(first, bindings)) labels.set(metric, new Set([...labels.get(metric) ?? [], ...names]))
      }
    }
    if (["withSpan", "useSpan", "makeSpan", "span"].includes(callee) && first !== undefined) {
      for (const argument of [first, second]) if (argument !== undefined && ts.isStringLiteralLike(argument)) spans.add(argument.text)
    }
    const isPrinted = /^(?:apps|packages\/(?:cli-kit|tabular))\//.test(pathOf(call))
    if (
      isPrinted && first !== undefined && /TaggedError|^report$/.test(call.expression.getText().replace(/[<(][^]*$/, "")) &&
      ts.isStringLiteralLike(first)
    ) {
      const owner = ts.findAncestor(call, ts.isClassDeclaration)
      const members = owner === undefined ?
        [] :
        checker.getPropertiesOfType(checker.getTypeAtLocation(owner)).filter(({ declarations = [] }) => declarations.some(isOwn))
      // An error without a message of its own does not leave the program.
      if (callee === "report" || members.some(({ name }) => name === "message")) {
        errors.add(first.text)
        for (const { name } of members) if (name !== "message") errors.add(`${first.text}.${name}`)
      }
    }
    if (callee === "startsWith" && first !== undefined && /[pP]ath/.test(call.expression.getText())) {
      for (const path of textsOf(first, new Map())) if (/^\/\w/.test(path)) paths.add(`${path}*`)
    }
    if (
      /^(?:value|one|done|ndjson)$/.test(callee) && /\boutput$/.test(call.expression.getText().replace(/\.\w+$/, "")) && first !== undefined
    ) {
      const file = pathOf(call)
      const type = checker.getTypeAtLocation(first)
      const [item] = callee === "ndjson" ? argumentsOf(type) : [type]
      if (/^apps\/stock-sync\/.*\/commands\//.test(file) && item !== undefined) {
        for (const line of fieldsOf(file.replace(/^.*\/commands\/|\.ts$/g, ""), item)) results.add(line)
      }
    }
  }
  const listOf = (names: Iterable<string>) => `{${[...names].toSorted().join(", ")}}`
  return {
    events: [...fields].map(([name, names]) => `${name} ${listOf(names)}`),
    metrics: [...metrics].map(([name, text]) => `${name} ${listOf(labels.get(name) ?? [])} ${text}`),
    webhook: files.filter((file) => file.fileName.endsWith("/Notification.ts")).flatMap(webhookOf),
    spans: [...spans],
    errors: [...errors],
    results: [...results].filter((line) => !line.endsWith(": {}")),
    paths: [...paths],
    variables: [...variables]
  }
}
