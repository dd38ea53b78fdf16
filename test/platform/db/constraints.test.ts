import test from 'ava'
import pg from 'pg'
import { declareConflicts, translateDatabaseError, uniqueViolation, violatedConstraint } from '#shared/platform/db/database-errors.ts'
import type { Problem } from '#shared/platform/kernel/errors.ts'

const hex = '01a1fbc8860b723787119b631716c9dc'
const name = `unique_${hex}`

/** An error as the driver reads it, with the fields that were sent. */
const errorOf = (message: string, fields: Partial<pg.DatabaseError>): pg.DatabaseError =>
  Object.assign(new pg.DatabaseError(message, 0, 'error'), { severity: 'ERROR', ...fields })

/** The error of a worker node as the coordinator of a Citus cluster sends it: `ReportResultError` of its remote_commands.c. */
const errorOfNode = (code: string, message: string): pg.DatabaseError =>
  errorOf(message, {
    code,
    detail: 'Key (email_1)=(ann@example.com) already exists.',
    where: 'while executing command on 127.0.0.1:5501',
    file: 'remote_commands.c',
    routine: 'ReportResultError',
  })

for (const [title, error, expected] of [
  ['PostgreSQL', errorOf(`duplicate key value violates unique constraint "${name}"`, { code: '23505', constraint: name }), name],
  ['a worker node', errorOfNode('23505', `duplicate key value violates unique constraint "${name}_102037"`), name],
  ['a node in German', errorOfNode('23505', `doppelter Schlüsselwert verletzt Unique-Constraint »${name}_102037«`), name],
  ['a shard of the coordinator', errorOf('a message', { code: '23505', constraint: `${name}_102037` }), name],
  ['an id of decimal digits', errorOf('a message', { code: '23505', constraint: `id_${'7'.repeat(32)}` }), `id_${'7'.repeat(32)}`],
  ['another error of a node', errorOfNode('42P01', `relation "accounts_102037" does not exist`), undefined],
  ['no constraint', errorOf('null value in column "a_102037"', { code: '23502' }), undefined],
  ['no error', undefined, undefined],
] as const)
  test(`constraints: the name that an error of ${title} gives`, (t) => {
    t.is(violatedConstraint(error), expected)
    t.is(uniqueViolation(error), expected)
  })

test('constraints: a declared conflict of a worker node is translated', (t) => {
  declareConflicts({ [name]: ['KEY_TAKEN', 'the key is taken'] })
  const { code, message } = translateDatabaseError(errorOfNode('23505', `violates unique constraint "${name}_102037"`)) as Problem
  t.deepEqual([code, message], ['KEY_TAKEN', 'the key is taken'])
})
