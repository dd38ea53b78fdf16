import { sql } from '#shared/platform/db/statements/statement.ts'

/** A seal as it is stored. */
export interface StoredSeal {
  readonly id: string
  readonly position: number
  readonly until: string
  readonly entries: number
  readonly hash: string
  readonly previous: string | null
  readonly created_at: string
}

const columns = `id, position, until, entries, hash, previous, created_at`

/** All seals in the order of the chain. Values: workspace. */
export const findSeals = sql('find_ledger_seals', `select ${columns} from ledger_seals where workspace_id = $1 order by position`)

/** Position and hash of the last seal, and as `sealed_until` the latest `until` of all seals. Values: workspace. */
export const findChainEnd = sql(
  'find_ledger_chain_end',
  `select position, hash, (
     select until from ledger_seals where workspace_id = $1 order by until desc, position desc limit 1
   ) as sealed_until
   from ledger_seals where workspace_id = $1 order by position desc limit 1`,
)

/**
 * Stores a seal; returns no row when another seal has its position. Values: workspace, position, id, until, entries, hash, previous seal's
 * hash.
 */
export const insertSeal = sql(
  'insert_ledger_seal',
  `insert into ledger_seals (workspace_id, position, id, until, entries, hash, previous, created_at)
   values ($1, $2, $3, $4::timestamptz, $5, $6, $7, clock_timestamp())
   on conflict (workspace_id, position) do nothing
   returning ${columns}`,
)
