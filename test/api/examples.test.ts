import test from 'ava'
import { ids } from '#api/http/example-ids.ts'
import { describeApi } from '#api/http/openapi/describe-api.ts'
import { sections } from '#api/routes.ts'
import { compileClosed } from '#test/support/closed-schema.ts'

type Json = Readonly<Record<string, unknown>>

interface Media {
  readonly schema: object
  readonly example?: unknown
}
interface Content {
  readonly content?: Readonly<Record<string, Media>>
}
interface Parameter extends Media {
  readonly $ref?: string
  readonly name: string
  readonly in: string
  readonly required?: boolean
}
interface Operation {
  readonly parameters: readonly Parameter[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content>>
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, object>> }
}

const document = JSON.parse(JSON.stringify(describeApi(sections, 'https://kontor.example.com'))) as Document
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
)
const routes = sections.flatMap(({ base, routes }) => routes.map((route) => ({ name: `${route.method} ${base}${route.path}`, route })))

const successesOf = ({ responses }: Operation) => Object.entries(responses).filter(([status]) => /^2(?!06)/.test(status))
const parametersOf = ({ parameters }: Operation) => parameters.filter(({ $ref }) => $ref === undefined)
const hasExample = ({ content = {} }: Content) => Object.values(content).some(({ example }) => example !== undefined)

test('examples: every operation has one of its request and of its answer', (t) => {
  const without = operations.flatMap(({ name, operation }) => [
    ...parametersOf(operation)
      .filter(({ in: place, required, example }) => (place === 'path' || required) && example === undefined)
      .map((parameter) => `${name}: parameter ${parameter.name}`),
    ...(operation.requestBody && !hasExample(operation.requestBody) ? [`${name}: body`] : []),
    ...successesOf(operation)
      .filter(([, response]) => response.content && !hasExample(response))
      .map(([status]) => `${name}: answer ${status}`),
  ])
  t.deepEqual(without, [])
})

test('examples: each is valid by its own schema, without undeclared keys', (t) => {
  const faults: string[] = []
  const check = (name: string, { schema, example }: Media) => {
    if (example === undefined) return
    const fault = compileClosed(`example of ${name}`, schema, document.components.schemas)(example)
    if (fault) faults.push(`${name}: ${fault}`)
  }
  for (const { name, operation } of operations) {
    for (const parameter of parametersOf(operation)) check(`${name}, parameter ${parameter.name}`, parameter)
    const bodies = [['body', operation.requestBody ?? {}] as const, ...successesOf(operation)]
    for (const [part, { content = {} }] of bodies)
      for (const [type, media] of Object.entries(content)) check(`${name}, ${part} ${type}`, media)
  }
  t.deepEqual(faults, [])
})

test('examples: the server accepts each body and query, and a query names only parameters of the route', (t) => {
  for (const { name, route } of routes) {
    const { query = {}, body } = route.example ?? {}
    const properties = (route.query?.json as { properties?: Json } | undefined)?.properties ?? {}
    t.deepEqual(
      Object.keys(query).filter((parameter) => !(parameter in properties)),
      [],
      name,
    )
    t.notThrows(() => route.query?.parse({ ...query }), name)
    const schema = route.kind === 'page' ? route.form : route.body
    if (schema && schema !== 'any' && body !== undefined) t.notThrows(() => schema.parse(structuredClone(body)), name)
  }
})

/** Every text in an example with the key that holds it. */
function* textsIn(value: unknown, key = ''): Generator<readonly [key: string, text: string]> {
  if (typeof value === 'string') yield [key, value]
  if (typeof value !== 'object' || value === null) return
  for (const [name, part] of Object.entries(value)) yield* textsIn(part, Array.isArray(value) ? key : name)
}

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

test('examples: their ids are those of the table, of version 7, and each names one thing', (t) => {
  const known = new Map(Object.entries(ids).map(([thing, id]) => [id as string, thing]))
  t.is(known.size, Object.keys(ids).length)
  for (const id of known.keys()) t.regex(id, /^01a1[0-9a-f]{4}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  for (const { name, route } of routes)
    for (const [key, text] of textsIn(route.example))
      for (const id of text.match(uuid) ?? []) t.true(known.has(id), `${name}: ${key} is ${id}`)
  const used = JSON.stringify(routes.map(({ route }) => route.example))
  t.deepEqual(
    [...known].filter(([id]) => !used.includes(id)).map(([, thing]) => thing),
    [],
  )
})

/** Keys of secrets. */
const secretKey = /(?:^|_)(?:token|password|secret|private_key)$/
/** What tells a scanner of secrets that it has found one. */
const looksReal =
  /\b(?:kt|ks)_[0-9A-Za-z]{40}|\bsk_(?:live|test)_\w|whsec_\w{8}|BEGIN [A-Z ]*PRIVATE KEY|\beyJ[\w-]{10,}\.|\bAKIA[0-9A-Z]{16}/

test('examples: no secret looks real', (t) => {
  for (const { name, route } of routes)
    for (const [key, text] of textsIn(route.example)) {
      t.notRegex(text, looksReal, `${name}: ${key}`)
      if (secretKey.test(key)) t.regex(text, /example/, `${name}: ${key}`)
    }
})
