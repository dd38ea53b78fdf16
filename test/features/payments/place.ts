import { decryptCredentials } from '#shared/features/payments/connections/open.ts'
import { selectConnection } from '#shared/features/payments/connections/store.ts'
import type { Credentials } from '#shared/features/payments/providers/provider.ts'
import type { Client } from '#test/support/client.ts'
import type { Org } from '#test/support/factories.ts'
import type { World } from '#test/support/world.ts'

/** Path of the routes of payments of a workspace. */
export const paymentsOf = (org: Pick<Org, 'path'>): string => `${org.path}/payments`

/** Makes a connection and gives its id. */
export async function connect({ owner, path }: Pick<Org, 'owner' | 'path'>, provider: string, credentials: object = {}): Promise<string> {
  const body = { provider, name: 'Main', mode: 'test', credentials }
  const { status, data, text } = await owner.post(`${path}/payments/connections`, body)
  if (status !== 201) throw new Error(text)
  return data.id
}

/** Makes a link and gives it. */
export async function makeLink(
  { owner, path }: Pick<Org, 'owner' | 'path'>,
  connectionId: string,
  more: object = {},
  client: Client = owner,
) {
  const body = { connection_id: connectionId, amount: '100', currency: 'USD', ...more }
  const { status, data, text } = await client.post(`${path}/payments/links`, body)
  if (status !== 201) throw new Error(text)
  return data
}

/** The link as it is. */
export const linkOf = async ({ owner, path }: Pick<Org, 'owner' | 'path'>, id: string) =>
  (await owner.get(`${path}/payments/links/${id}`)).data

/** The payments records of a workspace, oldest first. */
export const recordsOf = async ({ owner, path }: Pick<Org, 'owner' | 'path'>) =>
  (await owner.get(`${path}/records/payments?limit=200`)).data.records.toReversed()

/** The timeline of a link as text. */
export const storyOf = async ({ owner, path }: Pick<Org, 'owner' | 'path'>, id: string): Promise<string[]> =>
  (await owner.get(`${path}/payments/links/${id}/timeline`)).data.map(
    ({ source, before, after, verdict }: Record<string, string>) => `${source}: ${verdict} (${before} > ${after})`,
  )

/** The credentials of a connection, as the product opens them. */
export async function credentialsOf({ api }: Pick<World, 'api'>, workspaceId: string, connectionId: string): Promise<Credentials> {
  const { config, database } = api.services
  const [connection] = await database.query(selectConnection({ workspaceId, id: connectionId }))
  if (!connection) throw new Error('There is no such connection')
  return decryptCredentials({ config }, connection)
}
