import { analyzeTable, createIndex, dropIndexNamed } from '#shared/core/types/indexes/build-store.ts'
import { storedPairName } from '#shared/core/types/indexes/count-use.ts'
import { indexDefinition, indexNameOf } from '#shared/core/types/indexes/index-kinds.ts'
import type { IndexCandidate } from '#shared/core/types/indexes/plan-indexes.ts'
import { cancelIndexBuilds, deleteIndexRow, insertIndexRequest, recordIndexBuilt } from '#shared/core/types/indexes/store.ts'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import type { Session } from '#shared/platform/db/pool/session.ts'

type BuildTarget = Pick<IndexCandidate, 'type' | 'field' | 'lead' | 'kind' | 'index'>

/** The parameters that name an index. */
export const indexKeyOf = ({ type, field, lead, kind }: BuildTarget) => ({
  workspaceId: type.workspaceId,
  fieldId: field.id,
  kind: storedPairName(kind, lead?.id),
})

const nameOf = ({ field, lead, kind }: BuildTarget): string => indexNameOf(kind, field.id, lead?.column)

/** Application name of the database connections that build indexes. */
export const indexSessionName = 'kontor worker indexes'

/** Builds an index concurrently, without blocking reads and writes, after dropping an unfinished one. Does nothing when the field is gone. */
export async function buildIndex(session: Session, candidate: BuildTarget, now: () => Date): Promise<void> {
  const { type, field, lead, kind } = candidate
  const schema = schemaOf(type.workspaceId)
  const requested = await session.query(insertIndexRequest({ ...indexKeyOf(candidate), now: now() }))
  if (requested.length === 0) return
  if (candidate.index?.state === 'broken') await dropNamed(session, candidate)
  const definition = indexDefinition(kind, field.column, lead?.column)
  await session.query(createIndex(schema, type.key, nameOf(candidate), definition))
  await session.query(recordIndexBuilt({ ...indexKeyOf(candidate), now: now() }))
  // A new expression index has no statistics, nor has a table that was just filled: without them the planner misjudges both.
  await session.query(analyzeTable(schema, type.key))
}

/** Drops an index concurrently. */
export async function dropIndex(session: Session, candidate: BuildTarget): Promise<void> {
  await dropNamed(session, candidate)
  await session.query(deleteIndexRow(indexKeyOf(candidate)))
}

const dropNamed = (session: Session, candidate: BuildTarget) =>
  session.query(dropIndexNamed(schemaOf(candidate.type.workspaceId), nameOf(candidate)))

/** Cancels the index build in a workspace, which would block a change of a type's table; the build is retried later. */
export const cancelIndexBuild = async (db: Executor, workspaceId: string): Promise<void> =>
  void (await db.query(cancelIndexBuilds({ sessionName: indexSessionName, schema: schemaOf(workspaceId) })))
