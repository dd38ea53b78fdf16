import { sealedColumns } from '#shared/features.ts'
import type { SecretKeys } from '#shared/platform/kernel/crypto/secret-keys.ts'
import type { Db } from '#test/support/rows.ts'
import type { World } from '#test/support/world.ts'

/** The states of the stored keys, in the order of their making. */
export const keyStates = async (db: Db): Promise<string[]> =>
  (await db.query('select state from secret_keys order by since, id')).rows.map(({ state }) => state)

/** Forgets the stored keys, as in a database of a release that had none. */
export const forgetKeys = async (db: Db): Promise<void> => void (await db.query('delete from secret_keys'))

/** Adds guests to an event, past the API: copies of one of its guests, sealed for their own ids. */
export async function addGuests(db: Db, eventId: string, seal: (id: string) => Buffer, count: number): Promise<void> {
  for (let number = 0; number < count; number++) {
    const id = crypto.randomUUID()
    await db.query(
      `insert into calendar_attendees (workspace_id, event_id, id, position, email, token_hash, token_sealed)
       select workspace_id, event_id, $2::uuid, 100 + $3::integer, $2::uuid || '@example.com', sha256($2::uuid::text::bytea), $4
       from calendar_attendees where event_id = $1 limit 1`,
      [eventId, id, number, seal(id)],
    )
  }
}

/** What is sealed in a world's database: how many values of each column the keys open, and which they do not. */
export async function readSealed({ api }: Pick<World, 'api'>, keys: SecretKeys) {
  const opened: Record<string, number> = {}
  const unreadable: string[] = []
  for (const column of sealedColumns) {
    const encryptor = column.encryptor({ ...keys, otherSecretKey: null })
    const values = await column.read(api.services.database, null, 10_000)
    const isOpen = ({ sealed, place }: (typeof values)[number]) => encryptor.renew(sealed, place) === 'current'
    opened[column.name] = values.filter(isOpen).length
    unreadable.push(...values.filter((value) => !isOpen(value)).map(({ place }) => `${column.name} of ${place}`))
  }
  return { opened, unreadable }
}
