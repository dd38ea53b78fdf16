import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import { buildStatement } from '#shared/platform/db/statements/statement.ts'
import { type FieldValue, hasAmount } from '#shared/platform/kernel/field-type.ts'
import type { NaiveRecord } from '#test/core/policy/naive.ts'
import { fields } from '#test/core/policy/random.ts'
import { openPool } from '#test/support/pool.ts'

const columnTypes: Readonly<Record<string, string>> = {
  number: 'numeric(20, 6)',
  currency: 'numeric(20, 6)',
  bool: 'boolean',
  date: 'date',
  datetime: 'timestamptz',
  ref: 'uuid',
  refs: 'uuid[]',
  multiselect: 'text[]',
}

/** Records of the random rules in a table. */
export interface Things {
  readonly query: (raw: Knex.Raw) => Promise<readonly Record<string, unknown>[]>
  readonly insert: (records: readonly NaiveRecord[]) => Promise<unknown>
  readonly drop: () => Promise<void>
}

/**
 * The type of the random rules as a table, in a database of its own on the server that TEST_DATABASE_URL administers. Its locale, time zone
 * and date style differ from Kontor's, so that conditions that depend on them fail.
 */
export async function thingsTable(): Promise<Things> {
  const url = process.env.TEST_DATABASE_URL
  if (!url) throw new Error('TEST_DATABASE_URL must name a cluster that tests may make databases in; npm test starts one')
  const name = `access_${randomBytes(6).toString('hex')}`
  await runOnce(url, `create database ${name} template template0 encoding 'UTF8' locale_provider icu icu_locale 'tr-TR'`)
  const own = new URL(url)
  own.pathname = `/${name}`
  const pool = openPool({ connectionString: own.href, options: '-c timezone=Pacific/Auckland -c datestyle=German,DMY', max: 4 })
  const query = async (raw: Knex.Raw): Promise<readonly Record<string, unknown>[]> => {
    const { text, values = [] } = buildStatement(raw)
    return (await pool.query<Record<string, unknown>>(text, [...values])).rows
  }
  const columns = fields.map(({ column, type }) => builder.raw(`?? ${columnTypes[type] ?? 'text'}`, [column]).toString())
  await query(
    builder.raw(`create table things (id uuid not null, created_by uuid, created_at timestamptz not null, ${columns.join(', ')})`),
  )
  return {
    query,
    insert: (records: readonly NaiveRecord[]) => query(builder.raw('?', [builder('things').insert(records.map(rowOf))])),
    async drop() {
      await pool.end()
      // Not by force, which would end a closing connection with an error; PostgreSQL waits five seconds for it.
      await runOnce(url, `drop database ${name}`)
    },
  }
}

async function runOnce(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(text)
  await client.end()
}

const rowOf = ({ id, created_by, created_at, values }: NaiveRecord) => ({
  id,
  created_by,
  created_at,
  ...Object.fromEntries(fields.map(({ key, column }) => [column, cell(values[key] ?? null)])),
})

const cell = (value: FieldValue): Knex.Value => (hasAmount(value) ? value.amount : (value as Knex.Value))
