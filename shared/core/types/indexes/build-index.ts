import { analyzeTable, createIndex, dropIndexNamed } from '#shared/core/types/indexes/build-store.ts'
import { indexKinds, indexNameOf } from '#shared/core/types/indexes/index-kinds.ts'
import type { IndexCandidate } from '#shared/core/types/indexes/plan-indexes.ts'
import { cancelIndexBuilds, deleteIndexRow, insertIndexRequest, recordIndexBuilt } from '#shared/core/types/indexes/store.ts'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import type { Session } from '#shared/platform/db/pool/session.ts'

type BuildTarget = Pick<IndexCandidate, 'type' | 'field' | 'kind' | 'index'>

/** The parameters that name an index. */
const keyOf = ({ type, field, kind }: BuildTarget) => ({ workspaceId: type.workspaceId, fieldId: field.id, kind })

/** Application name of the database connections that build indexes. */
export const indexSessionName = 'kontor worker indexes'

/** Builds an index concurrently, without blocking reads and writes, after dropping an unfinished one. Does nothing when the field is gone. */
export async function buildIndex(session: Session, candidate: BuildTarget, now: () => Date): Promise<void> {
  const { type, field, kind } = candidate
  const schema = schemaOf(type.workspaceId)
  const requested = await session.query(insertIndexRequest({ ...keyOf(candidate), now: now() }))
  if (requested.length === 0) return
  if (candidate.index?.state === 'broken') await dropNamed(session, candidate)
  const definition = indexKinds[kind].definition(field.column)
  await session.query(createIndex(schema, type.key, indexNameOf(kind, field.id), definition))
  await session.query(recordIndexBuilt({ ...keyOf(candidate), now: now() }))
  // A new expression index has no statistics, nor has a table that was just filled: without them the planner misjudges both.
  await session.query(analyzeTable(schema, type.key))
}

/** Drops an index concurrently. */
export async function dropIndex(session: Session, candidate: BuildTarget): Promise<void> {
  await dropNamed(session, candidate)
  await session.query(deleteIndexRow(keyOf(candidate)))
}

const dropNamed = (session: Session, { type, field, kind }: BuildTarget) =>
  session.query(dropIndexNamed(schemaOf(type.workspaceId), indexNameOf(kind, field.id)))

/** Cancels the index build in a workspace, which would block a change of a type's table; the build is retried later. */
export const cancelIndexBuild = async (db: Executor, workspaceId: string): Promise<void> =>
  void (await db.query(cancelIndexBuilds({ sessionName: indexSessionName, schema: schemaOf(workspaceId) })))
