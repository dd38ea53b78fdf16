import type { Executor } from '#shared/platform/db/database.ts'

/**
 * Runs work within a savepoint of the transaction, so that a failure of the work does not abort the transaction. Outside a transaction it
 * runs the work without a savepoint. Rethrows the failure.
 */
export async function withSavepoint<T>(db: Executor, work: () => Promise<T>): Promise<T> {
  if (!('inTransaction' in db)) return work()
  await db.query({ text: 'savepoint attempt' })
  try {
    const result = await work()
    await db.query({ text: 'release savepoint attempt' })
    return result
  } catch (error) {
    await db.query({ text: 'rollback to savepoint attempt' })
    throw error
  }
}
