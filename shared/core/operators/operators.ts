import { recordAction } from '#shared/core/operators/log.ts'
import { deleteOperator, findOperator, type ListedOperator, selectOperators, upsertOperator } from '#shared/core/operators/store.ts'
import type { Person } from '#shared/core/people/store.ts'
import type { Operator, PlatformScope } from '#shared/core/scope/scope.ts'
import { type Executor, firstRow } from '#shared/platform/db/database.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** The operator on whose behalf a scope works: that of a command, or of a request to a route of operators. */
export function operatorOf({ operator }: Pick<PlatformScope, 'operator'>): Operator {
  if (!operator) throw new Error('Only a command and a route of operators have an operator')
  return operator
}

/**
 * A person as operator; undefined for everybody else. The row is read each time, so that a person who is removed stops being one at the next
 * request.
 */
export async function readOperator(db: Executor, userId: string): Promise<Operator | undefined> {
  const row = await firstRow(db, findOperator({ userId }))
  return row && { id: row.user_id, name: row.address, isReadOnly: row.read_only }
}

/** Throws FORBIDDEN for a read-only operator. */
export function requireActing({ isReadOnly }: Operator): void {
  if (isReadOnly) throw problem('FORBIDDEN', 'You are a read-only operator: you may look at everything and change nothing')
}

/** Makes a person an operator, or changes its rights, and returns whether anything changed. */
export async function addOperator(
  { db, operator }: Pick<PlatformScope, 'db' | 'operator'>,
  { id, email }: Pick<Person, 'id' | 'email'>,
  isReadOnly: boolean,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    if (!(await firstRow(tx, upsertOperator({ userId: id, readOnly: isReadOnly })))) return false
    await recordAction(tx, operatorOf({ operator }), 'operators.add', { user: id, address: email, read_only: isReadOnly })
    return true
  })
}

/** Removes an operator with its sessions in the console. Throws NOT_FOUND when the person is none. */
export async function removeOperator(
  { db, operator }: Pick<PlatformScope, 'db' | 'operator'>,
  { id, email }: Pick<Person, 'id' | 'email'>,
): Promise<void> {
  await db.transaction(async (tx) => {
    if (!(await firstRow(tx, deleteOperator({ userId: id })))) throw problem('NOT_FOUND', `${email} is no operator`)
    await recordAction(tx, operatorOf({ operator }), 'operators.remove', { user: id, address: email })
  })
}

/** All operators, by address. */
export const listOperators = (db: Executor): Promise<ListedOperator[]> => db.query(selectOperators())
