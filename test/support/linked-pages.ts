import type { Client } from '#test/support/client.ts'

/** Follows `Link` from the first page, and returns the items of each page. `onPage` runs between two pages. */
export async function linkedPages<Item>(
  client: Client,
  path: string,
  onPage: (page: readonly Item[]) => unknown = () => undefined,
): Promise<Item[][]> {
  const pages: Item[][] = []
  for (let next: string | undefined = path; next !== undefined; ) {
    const answer = await client.get(next)
    if (answer.status !== 200) throw new Error(answer.text)
    pages.push(answer.data)
    await onPage(answer.data)
    const link: string | undefined = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1]
    next = link === undefined ? undefined : new URL(link).pathname + new URL(link).search
  }
  return pages
}
