import { ids } from '#api/http/example-ids.ts'
import type { Route } from '#api/http/route.ts'
import { type Call, form, type Texts, type Walked } from '#test/api/walk/example.ts'
import type { Caller } from '#test/support/factories.ts'
import type { Place } from '#test/support/things.ts'

/** The call of a route's declared example, with the things of this place in place of those of the example. */
export async function callOf(route: Route, example: Walked, place: Place, caller: Caller): Promise<Call> {
  const made = (await example.things?.(place, caller)) ?? {}
  const { params, query, body } = route.example
  const { replaced, used } = replaceTexts({ params, query, body }, { ...textsOf(place), ...made })
  const unused = Object.keys(made).filter((text) => !used.has(text))
  if (unused.length > 0) throw new Error(`the example of ${route.method} ${route.path} does not contain ${unused.join(', ')}`)
  const call = callWith(route, replaced)
  return (await example.change?.(call, place)) ?? call
}

/** What stands for the workspace in every example, and for its record type and the fields of that. */
const textsOf = ({ org, keys }: Place): Texts => ({
  [ids.workspace]: org.id,
  [ids.owner]: org.ownerId,
  orders: keys.type,
  customer: keys.name,
  contact_email: keys.email,
  order_total: keys.number,
  order_status: keys.status,
  previous_order: keys.ref,
  related_orders: keys.refs,
})

interface Declared {
  readonly params: Readonly<Record<string, string>> | undefined
  readonly query: Readonly<Record<string, unknown>> | undefined
  readonly body: unknown
}

/** Replaces texts wherever they are whole words of values or keys, and tells which it found. */
function replaceTexts(declared: Declared, texts: Texts): { readonly replaced: Declared; readonly used: ReadonlySet<string> } {
  const used = new Set<string>()
  const words = new RegExp(`(?<![\\w-])(?:${Object.keys(texts).map(RegExp.escape).join('|')})(?![\\w-])`, 'g')
  const inText = (text: string) =>
    text.replace(words, (word) => {
      used.add(word)
      return texts[word] ?? word
    })
  const within = (value: unknown): unknown => {
    if (typeof value === 'string') return inText(value)
    if (Array.isArray(value)) return value.map(within)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [inText(key), within(part)]))
  }
  return { replaced: within(declared) as Declared, used }
}

function callWith(route: Route, { params, query, body }: Declared): Call {
  return {
    ...(params ? { params } : {}),
    ...(query ? { query: Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)])) } : {}),
    ...(body === undefined ? {} : bodyOf(route, body)),
  }
}

function bodyOf(route: Route, body: unknown): Call {
  if (route.kind === 'page') return form(body as Readonly<Record<string, string>>)
  if (!('upload' in route && route.upload)) return { body }
  if (typeof body !== 'string') return { body: formData(body as Readonly<Record<string, string>>) }
  const { contentTypes } = route.upload
  if (contentTypes !== 'any') return { body, type: contentTypes[0] ?? '' }
  return { body, type: body.startsWith('{') ? 'application/json' : 'text/plain' }
}

function formData({ file = '', ...fields }: Readonly<Record<string, string>>): FormData {
  const data = new FormData()
  for (const [name, value] of Object.entries(fields)) data.append(name, value)
  data.append('file', new Blob([file]))
  return data
}
