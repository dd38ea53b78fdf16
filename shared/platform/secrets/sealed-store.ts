import type { Executor } from '#shared/platform/db/database.ts'
import { bigint, bytes, integer, jsonb, type RowOf, type SqlType, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import { createEncryptor, type Encryptor } from '#shared/platform/kernel/crypto/encryption.ts'
import type { SecretKeys } from '#shared/platform/kernel/crypto/secret-keys.ts'

/** The primary key of a table with sealed values: the type of each column by its name, in the order of the key. */
type KeyColumns = Readonly<Record<string, 'uuid' | 'text'>>

interface Declaration<Key extends KeyColumns, Place extends string> {
  readonly table: string
  /** The column of the sealed values. Null in a row means that it has no value. */
  readonly column: string
  readonly key: Key
  /** The purpose that the encryption key is derived for. If it changes, no stored value can be opened. */
  readonly purpose: string
  /**
   * Columns of the primary key. Their values, joined by blanks, are the place that a value is sealed for: the authenticated data of its
   * encryption. If they change, no stored value can be opened.
   */
  readonly place: readonly Place[]
  /** A last word of the place, which tells apart several sealed columns of one row. It cannot change either. */
  readonly suffix?: string
}

/** A stored value with the primary key of its row and the place that it is sealed for. */
export interface SealedValue {
  readonly key: Readonly<Record<string, string>>
  readonly sealed: Buffer
  readonly place: string
}

/** A column of sealed values, as a rotation sees it. */
export interface SealedColumn {
  /** `table.column`. */
  readonly name: string
  readonly encryptor: (keys: SecretKeys) => Encryptor
  /** Reads at most `limit` values in the order of the primary key: those that follow `after`, or the first ones for null. */
  readonly read: (db: Executor, after: SealedValue | null, limit: number) => Promise<readonly SealedValue[]>
  /** Stores the renewed values and returns how many. A value that has changed since `read` is skipped, as it is under the present key. */
  readonly replace: (db: Executor, values: readonly (SealedValue & { readonly renewed: Buffer })[]) => Promise<number>
}

/** A sealed column with the functions that seal and open one value. */
interface SealedValues<Place extends string> extends SealedColumn {
  readonly seal: (keys: SecretKeys, key: Readonly<Record<Place, string>>, text: string) => Buffer
  /** Throws if the bytes are not the value of this row, or were sealed under neither key. */
  readonly open: (keys: SecretKeys, key: Readonly<Record<Place, string>>, sealed: Buffer) => string
}

/** A value of each type that sorts before every key. */
const least = { uuid: '00000000-0000-0000-0000-000000000000', text: '' } as const
const types = { uuid, text } as const

/**
 * Declares a column of values that are sealed under SECRET_KEY. List it in `sealed` of the feature's manifest. A rotation of the key renews the
 * listed columns; the values of any other column are lost with the old key. No other code makes encryptors for stored values.
 */
export function defineSealed<const Key extends KeyColumns, const Place extends keyof Key & string>(
  declaration: Declaration<Key, Place>,
): SealedValues<Place> {
  const { table, column, purpose, place, suffix } = declaration
  const names = Object.keys(declaration.key)
  const encryptor = (keys: SecretKeys) => createEncryptor(keys, purpose)
  const placeOf = (key: Readonly<Record<Place, string>>) =>
    [...place.map((name) => key[name]), ...(suffix === undefined ? [] : [suffix])].join(' ')
  const keyColumns = Object.fromEntries(names.map((name) => [name, types[declaration.key[name] ?? 'text'].notNull]))
  const afterParams: Readonly<Record<string, SqlType<unknown, string>>> = Object.fromEntries(
    names.map((name) => [`after_${name}`, types[declaration.key[name] ?? 'text']]),
  )
  const find = statement(
    `secrets.find ${table}.${column}`,
    `select ${names.join(', ')}, ${column} as sealed from ${table}
     where (${names.join(', ')}) > (${names.map((name) => `$after_${name}`).join(', ')}) and ${column} is not null
     order by ${names.join(', ')} limit $limit`,
    { params: { ...afterParams, limit: bigint }, columns: { ...keyColumns, sealed: bytes } },
  )
  const replaceValues = statement(
    `secrets.replace ${table}.${column}`,
    `update ${table} as stored set ${column} = decode(renewal.renewed, 'hex')
     from jsonb_to_recordset($values::jsonb) as renewal (${names.map((name) => `${name} ${declaration.key[name]}, `).join('')}sealed text, renewed text)
     where ${names.map((name) => `stored.${name} = renewal.${name}`).join(' and ')} and stored.${column} = decode(renewal.sealed, 'hex')
     returning 1 as replaced`,
    { params: { values: jsonb }, columns: { replaced: integer.notNull } },
  )
  const readRow = (row: RowOf<Record<string, SqlType<unknown, unknown>>>): SealedValue => {
    const key = Object.fromEntries(names.map((name) => [name, row[name] as string]))
    return { key, sealed: row.sealed as Buffer, place: placeOf(key as Readonly<Record<Place, string>>) }
  }
  return {
    name: `${table}.${column}`,
    encryptor,
    seal: (keys, key, text) => encryptor(keys).encrypt(text, placeOf(key)),
    open: (keys, key, sealed) => encryptor(keys).decrypt(sealed, placeOf(key)),
    read: async (db, after, limit) => {
      const from = names.map((name) => [`after_${name}`, after?.key[name] ?? least[declaration.key[name] ?? 'text']])
      return (await db.query(find({ ...Object.fromEntries(from), limit }))).map(readRow)
    },
    replace: async (db, values) => {
      const rows = values.map(({ key, sealed, renewed }) => ({
        ...key,
        sealed: sealed.toString('hex'),
        renewed: renewed.toString('hex'),
      }))
      return (await db.query(replaceValues({ values: JSON.stringify(rows) }))).length
    },
  }
}
