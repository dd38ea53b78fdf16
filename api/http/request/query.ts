import { parse } from 'node:querystring'
import type { Context } from 'koa'
import type { Request } from '#api/http/declaration.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { suggestSpelling } from '#shared/platform/kernel/known-keys.ts'
import type { Schema } from '#shared/platform/kernel/schema.ts'

/** Throws VALIDATION_ERROR when the address holds a NUL character, or its query invalid UTF-8, such as a lone surrogate. */
export function requireCleanAddress({ url, querystring }: Context): void {
  if (!url.includes('%')) return
  if (url.includes('%00')) throw problem('VALIDATION_ERROR', 'address must not hold a NUL character')
  // `parse` decodes invalid bytes to the replacement character.
  const isReplaced = Object.entries(parametersOf(querystring))
    .flat(2)
    .some((text) => text?.includes('\ufffd'))
  if (isReplaced && !/%ef%bf%bd/i.test(querystring)) throw problem('VALIDATION_ERROR', 'query must be percent-encoded UTF-8')
}

/** Method, path and the first value of each query parameter. HEAD is treated as GET. */
export const requestLineOf = ({ method, path, querystring }: Context): ReturnType<Request<string, unknown, unknown>['line']> => ({
  method: method === 'HEAD' ? 'GET' : method,
  path,
  query: Object.fromEntries(
    Object.entries(parametersOf(querystring)).map(([name, value]) => [name, (Array.isArray(value) ? value[0] : value) ?? '']),
  ),
})

/** All query parameters; Koa's `query` stops at a thousand. */
const parametersOf = (querystring: string) => parse(querystring, '&', '=', { maxKeys: 0 })

type Raw = Readonly<Record<string, string | string[] | undefined>>

/** Throws VALIDATION_ERROR for an unknown parameter, with the most similar known one. */
export function requireKnownParameters(querystring: string, schema: Schema<unknown> | undefined): void {
  if (querystring === '') return
  const known = Object.keys((schema?.json as { properties?: object } | undefined)?.properties ?? {})
  const unknown = Object.keys(parametersOf(querystring)).find((name) => !known.includes(name))
  if (unknown === undefined) return
  const advice = known.length === 0 ? '; it takes none' : suggestSpelling(unknown, known)
  throw problem('VALIDATION_ERROR', `${unknown.slice(0, 100)} is no query parameter of this address${advice}`)
}

/** Reads a query by its schema: converts text to integers and booleans where the schema has them. Ignores unknown names. */
export function readQuery<Query>(raw: Raw, schema: Schema<Query>): Query {
  const properties = (schema.json as { properties?: Record<string, { type?: string }> }).properties ?? {}
  const query: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(properties)) {
    const value = raw[name]
    if (value === undefined) continue
    if (Array.isArray(value)) throw problem('VALIDATION_ERROR', `${name} must be given once`)
    query[name] = (readers[property.type ?? ''] ?? asText)(value)
  }
  return schema.parse(query)
}

const asText = (value: string): unknown => value

const readers: Readonly<Record<string, (value: string) => unknown>> = {
  integer: (value) => (/^-?\d{1,15}$/.test(value) ? Number(value) : value),
  boolean: (value) => (value === 'true' ? true : value === 'false' ? false : value),
}
