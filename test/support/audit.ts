import type { Org } from '#test/support/factories.ts'

interface Entry {
  readonly action: string
  readonly object_type: string
  readonly cause: { readonly kind: string; readonly id: string | null } | null
}

/** What caused each change, oldest first: `created locations: flow`, and the id of the cause. `query` filters the audit. */
export async function readCauses(org: Pick<Org, 'owner' | 'path'>, query = ''): Promise<[change: string, id: string | null][]> {
  const { data, text } = await org.owner.get(`${org.path}/audit?limit=200&${query}`)
  if (!data) throw new Error(text)
  return data.entries
    .map(({ action, object_type, cause }: Entry) => [`${action.slice('record.'.length)} ${object_type}: ${cause?.kind}`, cause?.id])
    .toReversed()
}
