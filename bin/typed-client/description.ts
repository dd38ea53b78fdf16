/** Part of an OpenAPI description. */
type Json = Readonly<Record<string, unknown>>

/** An OpenAPI description, as far as a client needs it. */
export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: Json
}

interface Operation {
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}

type Content = Readonly<Record<string, { readonly schema: Json }>>

/**
 * The description of what calls of the client return. Failures are left out, since they are thrown; 202 of a job, since the client waits for
 * its result; answers of conditional requests; and pages, which are for browsers.
 */
export function clientDescription({ paths, components, ...head }: Description): Description {
  const kept = Object.entries(paths).map(([path, operations]) => {
    const own = Object.entries(operations).filter(([, { responses }]) => responses[200]?.content?.['text/html'] === undefined)
    return [
      path,
      Object.fromEntries(own.map(([method, operation]) => [method, { ...operation, responses: answersOf(operation) }])),
    ] as const
  })
  const { responses: _, ...others } = components
  return { ...head, paths: Object.fromEntries(kept.filter(([, own]) => Object.keys(own).length > 0)), components: others }
}

function answersOf({ responses }: Operation): Operation['responses'] {
  const statuses = Object.keys(responses).filter((status) => status.startsWith('2') && status !== '206')
  const ended = statuses.filter((status) => status !== '202')
  return Object.fromEntries((ended.length > 0 ? ended : statuses).map((status) => [status, responses[status] ?? {}]))
}

/**
 * What the routes of a client's description answer, by `GET /v1/…`, without those that answer JSON with `data` alone: a file, never JSON; nothing;
 * or any of these.
 */
export const otherAnswers = ({ paths }: Description): Readonly<Record<string, 'file' | 'nothing' | 'any'>> =>
  Object.fromEntries(
    Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([method, operation]) => {
        const kind = kindOf(operation)
        return kind === 'data' ? [] : [[`${method.toUpperCase()} ${path}`, kind] as const]
      }),
    ),
  )

function kindOf({ responses }: Operation): 'data' | 'file' | 'nothing' | 'any' {
  const bodies = Object.values(responses).map(({ content }) => Object.entries(content ?? {}))
  if (bodies.every((body) => body.length === 0)) return 'nothing'
  if (bodies.every((body) => body.length > 0 && body.every(([type]) => type !== 'application/json'))) return 'file'
  const isData = ([type, { schema }]: readonly [string, { readonly schema: Json }]) =>
    type === 'application/json' && Object.hasOwn(schema.properties ?? {}, 'data')
  return bodies.every((body) => body.length > 0 && body.every(isData)) ? 'data' : 'any'
}
