import { ids } from '#api/http/example-ids.ts'
import type { JsonObject, Schemas } from '#api/http/openapi/collect-schemas.ts'
import { headerParametersOf } from '#api/http/openapi/header-parameters.ts'
import { withExample } from '#api/http/openapi/with-example.ts'
import type { Route } from '#api/http/route.ts'

/** A path in OpenAPI's syntax: `:typeKey` and `*path` become `{typeKey}` and `{path}`; optional groups are included. */
export const pathTemplate = (path: string): string => path.replace(/[{}]/g, '').replace(/[:*](\w+)/g, '{$1}')

/** The path, query and header parameters of a route. */
export function parametersOf(route: Route, schemas: Schemas): JsonObject[] {
  const names = pathTemplate(route.path).match(/(?<=\{)\w+/g) ?? []
  const values: Readonly<Record<string, string>> = { orgId: ids.workspace, ...route.example?.params }
  return [...names.map((name) => pathParameter(name, values[name])), ...queryParameters(route, schemas), ...headerParametersOf(route)]
}

function pathParameter(name: string, example: string | undefined): JsonObject {
  const isId = /^id$|Id$/.test(name)
  const schema = { type: 'string', ...(isId ? { format: 'uuid' } : {}) }
  return { name, in: 'path', required: true, description: describe(name), ...withExample(example), schema }
}

/** Full words for abbreviated path parameters. */
const fullWords: Readonly<Record<string, string>> = {
  org: 'workspace',
  type: 'record type',
  fn: 'function',
  cal: 'calendar',
  group: 'role',
}

/** Describes a path parameter: `typeKey` is "Key of the record type"; a single word describes itself. */
function describe(name: string): string {
  const [, thing = '', part] = /^(\w+?)(Id|Key)$/.exec(name) ?? []
  if (!part) return name.charAt(0).toUpperCase() + name.slice(1)
  return `${part} of the ${fullWords[thing] ?? thing.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`
}

function queryParameters({ query, example }: Route, schemas: Schemas): JsonObject[] {
  if (!query) return []
  const { properties = {}, required = [] } = query.json as { properties?: Record<string, unknown>; required?: string[] }
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } = schemas.reference(property)
    return {
      name,
      in: 'query',
      ...(required.includes(name) && schema.default === undefined ? { required: true } : {}),
      ...(description ? { description } : {}),
      ...withExample(example?.query?.[name]),
      schema,
    }
  })
}
