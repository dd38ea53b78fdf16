import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import { readColumn } from '#test/support/rows.ts'
import { waitedFor } from '#test/support/waiting.ts'
import type { World } from '#test/support/world.ts'

/** A point in the middle of a write at which all writers wait. */
export interface Hold {
  /** Resolves once a writer waits there. */
  readonly reached: () => Promise<void>
  /** Lets all writers pass from now on. */
  readonly release: () => Promise<void>
}

let holds = 0

/** What is held: records of a type with a value of a field, and the change of them that waits. */
interface Held {
  readonly type?: string
  readonly field?: string
  readonly on?: 'insert' | 'update' | 'delete'
}

/**
 * Makes each creation of a record with this value, by default a location with this name, wait in the middle of its statement until
 * `release`; or each change or deletion of a record that had it.
 */
export async function holdAt(w: World, value: string, { type = 'locations', field = 'name', on = 'insert' }: Held = {}): Promise<Hold> {
  const schema = schemaOf(w.org.id)
  const key = ++holds
  const client = await w.db.connect()
  const column = await readColumn(client, w.org.id, type, field)
  await client.query('select pg_advisory_lock($1)', [key])
  await client.query(`
    create function ${schema}.hold_${key}() returns trigger language plpgsql as $$
    begin
      if ${on === 'insert' ? 'new' : 'old'}.${client.escapeIdentifier(column)} = ${client.escapeLiteral(value)} then
        perform pg_advisory_xact_lock_shared(${key});
      end if;
      return coalesce(new, old);
    end $$;
    create trigger hold_${key} before ${on} on ${schema}.${type} for each row execute function ${schema}.hold_${key}()`)
  return {
    reached: () => waitedFor(w.db, client),
    release: async () => {
      await client.query('select pg_advisory_unlock($1)', [key])
      client.release()
    },
  }
}
