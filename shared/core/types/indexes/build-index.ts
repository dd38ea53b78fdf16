import { analyzeTable, createIndex, dropIndexNamed } from '#shared/core/types/indexes/build-store.ts'
import { indexKinds, indexNameOf } from '#shared/core/types/indexes/index-kinds.ts'
import type { IndexCandidate } from '#shared/core/types/indexes/plan-indexes.ts'
import {
  cancelIndexBuild as cancelBuildStatement,
  deleteIndexRow,
  insertIndexRequest,
  recordIndexBuilt,
} from '#shared/core/types/indexes/store.ts'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import type { Session } from '#shared/platform/db/pool/session.ts'

type Wanted = Pick<IndexCandidate, 'type' | 'field' | 'kind' | 'index'>

/** The connections that build are known to the database by this name. */
export const indexSessionName = 'kontor worker indexes'

/** Builds an index while everybody reads and writes on. One that was left unfinished goes first. Does nothing when its field is gone. */
export async function buildIndex(session: Session, wish: Wanted, now: () => Date): Promise<void> {
  const { type, field, kind } = wish
  const schema = schemaOf(type.workspaceId)
  const asked = await session.query(insertIndexRequest(type.workspaceId, field.id, kind, now()))
  if (asked.length === 0) return
  if (wish.index?.state === 'broken') await dropNamed(session, wish)
  const definition = indexKinds[kind].definition(field.column)
  await session.query(createIndex(schema, type.key, indexNameOf(kind, field.id), definition))
  await session.query(recordIndexBuilt(type.workspaceId, field.id, kind, now()))
  // An index of an expression begins without statistics, and so does a table that was filled just now: the planner would not know either.
  await session.query(analyzeTable(schema, type.key))
}

/** Drops an index, as unnoticed as it was built. */
export async function dropIndex(session: Session, wish: Wanted): Promise<void> {
  await dropNamed(session, wish)
  await session.query(deleteIndexRow(wish.type.workspaceId, wish.field.id, wish.kind))
}

const dropNamed = (session: Session, { type, field, kind }: Wanted) =>
  session.query(dropIndexNamed(schemaOf(type.workspaceId), indexNameOf(kind, field.id)))

/** Ends the building of an index in a workspace, which whoever changes a type would have to wait for; it is begun again later. */
export const cancelIndexBuild = async (db: Executor, workspaceId: string): Promise<void> =>
  void (await db.query(cancelBuildStatement(indexSessionName, schemaOf(workspaceId))))
