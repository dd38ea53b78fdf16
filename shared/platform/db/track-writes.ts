import type { Executor, Tx } from '#shared/platform/db/database.ts'
import { mayWrite } from '#shared/platform/db/statements/may-write.ts'
import type { Statement } from '#shared/platform/db/statements/statement.ts'

/** An executor that records whether writes were committed through it. */
export interface Tracked {
  readonly db: Executor
  /** Whether a statement or transaction that may write was committed or is still running. */
  readonly hasWritten: () => boolean
  /** Notes that a checkpoint covers all writes until now, so that a retry continues from there. */
  readonly noteProgress: () => void
  /** Whether progress was noted since the last call. */
  readonly takeProgress: () => boolean
}

/** Tracks commits of an executor. Statements marked `repeatable` do not count. */
export function trackWrites(inner: Executor): Tracked {
  // A set, since long work runs few different texts, each many times.
  let committed = new Set<string>()
  let open = 0
  let progress = 0
  let taken = 0

  /** `texts` grows while the work runs, and counts as committed once the work has succeeded. */
  const count = async <T>(texts: readonly string[], work: () => Promise<T>): Promise<T> => {
    open += 1
    const before = progress
    try {
      const result = await work()
      // Progress noted meanwhile means that this transaction wrote a checkpoint, which covers its writes.
      if (progress === before) for (const text of texts) committed.add(text)
      return result
    } finally {
      open -= 1
    }
  }
  const wrap = (db: Executor): Executor => ({
    owner: db.owner,
    query: (statement) => (statement.repeatable ? db.query(statement) : count([statement.text], () => db.query(statement))),
    transaction: (work, last) => {
      const texts: string[] = []
      return count(texts, () =>
        db.transaction((tx) => work(recordStatements(tx, texts)), last && ((result) => recordText(texts, last(result)))),
      )
    },
    afterCommit: (hook) => db.afterCommit(hook),
    forWorkspace: (workspaceId, shareId) => wrap(db.forWorkspace(workspaceId, shareId)),
  })
  return {
    db: wrap(inner),
    hasWritten: () => open > 0 || [...committed].some(mayWrite),
    noteProgress: () => {
      committed = new Set()
      progress += 1
    },
    takeProgress: () => {
      const isNew = progress > taken
      taken = progress
      return isNew
    },
  }
}

function recordText<Row>(texts: string[], statement: Statement<Row>): Statement<Row> {
  if (!statement.repeatable) texts.push(statement.text)
  return statement
}

/** A transaction that records the texts of its statements. */
function recordStatements(tx: Tx, texts: string[]): Tx {
  const self: Tx = {
    owner: tx.owner,
    inTransaction: true,
    query: (statement) => tx.query(recordText(texts, statement)),
    transaction: (work, last) => tx.transaction(() => work(self), last && ((result) => recordText(texts, last(result)))),
    afterCommit: (hook) => tx.afterCommit(hook),
    forWorkspace: () => self,
  }
  return self
}
