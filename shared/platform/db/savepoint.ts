import type { Executor } from '#shared/platform/db/database.ts'

/** Does work that may fail without ending the transaction around it; outside one it just does it. The failure is thrown on. */
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
