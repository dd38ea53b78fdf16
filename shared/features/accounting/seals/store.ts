import { bigint, instant, integer, type RowOf, selectList, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const columns = {
  id: uuid.notNull,
  position: integer.notNull,
  until: instant.notNull,
  entries: bigint.notNull,
  hash: text.notNull,
  previous: text,
  created_at: instant.notNull,
}
const list = selectList(columns)

/** A stored seal. */
export type StoredSeal = RowOf<typeof columns>

/** All seals in the order of the chain. */
export const findSeals = statement(
  'accounting.findSeals',
  `select ${list} from ledger_seals where workspace_id = $workspaceId order by position`,
  { params: { workspaceId: uuid }, columns },
)

/** Position and hash of the last seal, and as `sealed_until` the latest `until` of all seals. */
export const findChainEnd = statement(
  'accounting.findChainEnd',
  `select position, hash, (
     select until from ledger_seals where workspace_id = $workspaceId order by until desc, position desc limit 1
   ) as sealed_until
   from ledger_seals where workspace_id = $workspaceId order by position desc limit 1`,
  {
    params: { workspaceId: uuid },
    columns: { position: integer.notNull, hash: text.notNull, sealed_until: instant.notNull },
  },
)

/** Stores a seal; returns no row when another seal has its position. */
export const insertSeal = statement(
  'accounting.insertSeal',
  `insert into ledger_seals (workspace_id, position, id, until, entries, hash, previous, created_at)
   values ($workspaceId, $position, $id, $until::timestamptz, $entries, $hash, $previous, clock_timestamp())
   on conflict (workspace_id, position) do nothing
   returning ${list}`,
  {
    params: {
      workspaceId: uuid,
      id: uuid,
      position: integer,
      until: instant,
      entries: bigint,
      hash: text,
      previous: text.orNull,
    },
    columns,
  },
)
