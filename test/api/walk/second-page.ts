import type { Call, SecondPage } from '#test/api/walk/example.ts'
import type { Place } from '#test/support/things.ts'

type Query = NonNullable<Call['query']>

/** The answer to a list's first page. */
export const firstPage = ({ org }: Place, path: string, query: Query) => org.owner.get(`${org.path}${path}?${new URLSearchParams(query)}`)

/** The query of the second page of a list whose answer has `next_cursor`. */
export async function nextQuery(place: Place, path: string, query: Query = {}): Promise<Query> {
  const first = { ...query, limit: '1' }
  return { ...first, cursor: (await firstPage(place, path, first)).data.next_cursor }
}

/** The query of the second page of a list that is paged by `Link`. */
export async function linkedQuery(place: Place, path: string, query: Query = {}): Promise<Query> {
  const first = { ...query, limit: '1' }
  const link = (await firstPage(place, path, first)).headers.get('link') ?? ''
  return { ...first, cursor: new URL(/^<([^>]+)>/.exec(link)?.[1] ?? '').searchParams.get('cursor') ?? '' }
}

/** The second page of a list that is paged by `Link`, after two things were created. */
export const linkedPage =
  (path: string, make: (things: Place['things']) => Promise<unknown>): SecondPage =>
  async (place) => {
    for (const _ of [1, 2]) await make(place.things)
    return { query: await linkedQuery(place, path) }
  }
