import type { Executor, Tx } from '#shared/platform/db/database.ts'
import type { Statement } from '#shared/platform/db/statements/statement.ts'

/** An executor that knows whether something was written through it for good. */
export interface Tracked {
  readonly db: Executor
  /** Whether a statement or transaction that may have written was committed, or is still under way. */
  readonly hasWritten: () => boolean
  /** Says that what was written until now is recorded in a checkpoint, so that work goes on from there. */
  readonly noteProgress: () => void
  /** Whether progress was noted since the last call. */
  readonly takeProgress: () => boolean
}

/** Tracks what is committed through an executor. Statements that are marked `repeatable` do not count. */
export function trackWrites(inner: Executor): Tracked {
  let committed: string[] = []
  let open = 0
  let progress = 0
  let taken = 0

  /** `texts` grows while the work runs: what it holds counts once the work has succeeded. */
  const counted = async <T>(texts: readonly string[], work: () => Promise<T>): Promise<T> => {
    open += 1
    const before = progress
    try {
      const result = await work()
      // A checkpoint that was committed with it has cleared the list.
      if (progress === before) committed.push(...texts)
      return result
    } finally {
      open -= 1
    }
  }
  const wrap = (db: Executor): Executor => ({
    query: (statement) => (statement.repeatable ? db.query(statement) : counted([statement.text], () => db.query(statement))),
    transaction: (work, last) => {
      const texts: string[] = []
      return counted(texts, () => db.transaction((tx) => work(noting(tx, texts)), last && ((result) => noted(texts, last(result)))))
    },
    afterCommit: (hook) => db.afterCommit(hook),
    forWorkspace: (workspaceId) => wrap(db.forWorkspace(workspaceId)),
  })
  return {
    db: wrap(inner),
    hasWritten: () => open > 0 || committed.some((text) => writes.test(text)),
    noteProgress: () => {
      committed = []
      progress += 1
    },
    takeProgress: () => {
      const isNew = progress > taken
      taken = progress
      return isNew
    },
  }
}

/** Too wide rather than too narrow: what may have written is not done again. Locks of rows are none. */
const writes = /\b(?:insert\s+into|(?<!\b(?:for|key)\s)update|delete\s+from|pg_notify|create|alter|drop)\b/i

function noted(texts: string[], statement: Statement): Statement {
  if (!statement.repeatable) texts.push(statement.text)
  return statement
}

/** A transaction that notes the texts of its statements. */
function noting(tx: Tx, texts: string[]): Tx {
  const self: Tx = {
    inTransaction: true,
    query: (statement) => tx.query(noted(texts, statement)),
    transaction: (work, last) => tx.transaction(() => work(self), last && ((result) => noted(texts, last(result)))),
    afterCommit: (hook) => tx.afterCommit(hook),
    forWorkspace: () => self,
  }
  return self
}
