import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { describeApi } from '#api/http/openapi/describe-api.ts'
import { sections } from '#api/routes.ts'

type Json = Readonly<Record<string, unknown>>

const description = JSON.parse(JSON.stringify(describeApi(sections, 'https://kontor.test'))) as Json

interface Place {
  readonly path: string
  readonly value: Json
}

/** Every object of the description with its path. */
function* objectsIn(value: unknown, path = ''): Generator<Place> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield { path, value: value as Json }
  for (const [key, part] of Object.entries(value)) yield* objectsIn(part, `${path}/${key}`)
}

const places = [...objectsIn(description)]
const pathsWhere = (holds: (value: Json, path: string) => boolean): string[] =>
  places.filter(({ value, path }) => holds(value, path)).map(({ path }) => path)

test('description: a property with a default is optional', (t) => {
  const isParameter = ({ schema, required }: Json) => required === true && (schema as Json | undefined)?.default !== undefined
  const isBody = ({ properties, required }: Json) =>
    Array.isArray(required) && required.some((key) => (properties as Record<string, Json> | undefined)?.[key]?.default !== undefined)
  t.deepEqual(
    pathsWhere((value) => isParameter(value) || isBody(value)),
    [],
  )
  t.true(places.some(({ value }) => value.in === 'query' && (value.schema as Json).default !== undefined))
})

test('description: no schema has the name of a global of TypeScript or of browsers', (t) => {
  const folder = join(import.meta.dirname, '..', '..', 'node_modules', 'typescript', 'lib')
  const files = readdirSync(folder).filter((file) => /^lib\..*\.d\.ts$/.test(file))
  const globals = new Set(
    files.flatMap((file) =>
      [
        ...readFileSync(join(folder, file), 'utf8').matchAll(/^(?:declare )?(?:interface|type|var|class|const|function|namespace) (\w+)/gm),
      ].map(([, name]) => name),
    ),
  )
  t.true(globals.has('Record'))
  const { schemas } = description.components as { schemas: Json }
  t.deepEqual(
    Object.keys(schemas).filter((name) => globals.has(name)),
    [],
  )
})

test('description: patterns use only features that all languages have', (t) => {
  t.deepEqual(
    pathsWhere(({ pattern }) => typeof pattern === 'string' && /\\[pPu]|\(\?</.test(pattern)),
    [],
  )
})

test('description: no type is a list of types', (t) => {
  t.deepEqual(
    pathsWhere(({ type }) => Array.isArray(type)),
    [],
  )
})

test('description: files are binary in uploads and downloads', (t) => {
  const contents = places.filter(({ path }) => /\/content$/.test(path) && /\/(?:responses|requestBody)\//.test(`${path}/`))
  const others = new Set(['application/json', 'text/html', 'application/x-www-form-urlencoded', 'multipart/form-data', 'text/event-stream'])
  const wrong = contents.flatMap(({ path, value }) =>
    Object.entries(value as Record<string, { schema: Json }>)
      .filter(([type, { schema }]) => !others.has(type) && Object.keys(schema).length > 0 && schema.format !== 'binary')
      .map(([type]) => `${path} ${type}`),
  )
  t.deepEqual(wrong, [])
  const parts = places.filter(
    ({ path, value }) => path.endsWith('/properties/file') && path.includes('multipart') && value.format === 'binary',
  )
  t.true(parts.length >= 3)
})
