import {
  bigint,
  boolean,
  bytes,
  instant,
  integer,
  jsonb,
  type RowOf,
  selectList,
  text,
  uuid,
  uuids,
} from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const operatorColumns = { user_id: uuid.notNull, address: text.notNull, read_only: boolean.notNull }

/** A person as operator; no row for anybody else. */
export const findOperator = statement(
  'operators.findOperator',
  `select operator.user_id, person.email as address, operator.read_only
   from operators as operator join users as person on person.id = operator.user_id
   where operator.user_id = $userId`,
  { params: { userId: uuid }, columns: operatorColumns },
)

/** Makes a person an operator, or changes what it may do; no row when it was one already, with the same rights. */
export const upsertOperator = statement(
  'operators.upsertOperator',
  `insert into operators (user_id, read_only) values ($userId, $readOnly)
   on conflict (user_id) do update set read_only = excluded.read_only where operators.read_only <> excluded.read_only
   returning user_id`,
  { params: { userId: uuid, readOnly: boolean }, columns: { user_id: uuid.notNull } },
)

export const deleteOperator = statement('operators.deleteOperator', 'delete from operators where user_id = $userId returning user_id', {
  params: { userId: uuid },
  columns: { user_id: uuid.notNull },
})

const listedColumns = { id: uuid.notNull, address: text.notNull, name: text.notNull, read_only: boolean.notNull, since: instant.notNull }

/** All operators, by address. */
export const selectOperators = statement(
  'operators.selectOperators',
  `select person.id, person.email as address, person.name, operator.read_only, operator.created_at as since
   from operators as operator join users as person on person.id = operator.user_id
   order by lower(person.email), person.id`,
  { params: {}, columns: listedColumns },
)
export type ListedOperator = RowOf<typeof listedColumns>

/**
 * Adds an entry to the log; no row when the person is no operator any more, or a read-only one. Waits for a transaction that is removing
 * the operator, so nothing that it logs is committed after that.
 */
export const insertAction = statement(
  'operators.insertAction',
  `with acting as materialized (select user_id from operators where user_id = $operatorId and not read_only for share)
   insert into operator_log (id, operator_id, operator, action, subject, count)
   select $id, $operatorId, $operator, $action, $subject, $count
   where $operatorId::uuid is null or exists (select from acting)
   returning id`,
  {
    params: { id: uuid, operatorId: uuid.orNull, operator: text, action: text, subject: jsonb, count: integer },
    columns: { id: uuid.notNull },
  },
)

const actionColumns = {
  id: uuid.notNull,
  at: instant.notNull,
  operator_id: uuid,
  operator: text.notNull,
  action: text.notNull,
  subject: jsonb.as<Readonly<Record<string, unknown>>>().notNull,
  count: integer.notNull,
}

/** Entries of the log before an id, newest first. */
export const selectActions = statement(
  'operators.selectActions',
  `select ${selectList(actionColumns)} from operator_log where id < $beforeId order by id desc limit $limit`,
  { params: { beforeId: uuid, limit: bigint }, columns: actionColumns },
)

/** Opens a session of the console; no row when the person is no operator, or its password has changed since it was checked. */
export const insertOperatorSession = statement(
  'operators.insertOperatorSession',
  `insert into operator_sessions (id, user_id, token_hash, expires_at)
   select $id, operator.user_id, $tokenHash, $expiresAt
   from (select id from users where id = $userId and password_hash = $passwordHash for share) as person
   join operators as operator on operator.user_id = person.id
   returning id`,
  {
    params: { id: uuid, userId: uuid, passwordHash: text, tokenHash: bytes, expiresAt: instant },
    columns: { id: uuid.notNull },
  },
)

/** The operator of a session of the console that has not expired. */
export const findOperatorSession = statement(
  'operators.findOperatorSession',
  `select session.id, session.user_id, person.name, person.email as address, operator.read_only
   from operator_sessions as session
   join operators as operator on operator.user_id = session.user_id
   join users as person on person.id = session.user_id
   where session.token_hash = $tokenHash and session.expires_at > $now`,
  {
    params: { tokenHash: bytes, now: instant },
    columns: { id: uuid.notNull, user_id: uuid.notNull, name: text.notNull, address: text.notNull, read_only: boolean.notNull },
  },
)

/** Of these sessions, of the console and of people, those that have not ended and whose person is an operator. */
export const findLiveSessions = statement(
  'operators.findLiveSessions',
  `select session.id from operator_sessions as session join operators as operator on operator.user_id = session.user_id
   where session.id = any($ids) and session.expires_at > $now
   union all
   select session.id from sessions as session join operators as operator on operator.user_id = session.user_id
   where session.id = any($ids) and session.expires_at > $now`,
  { params: { ids: uuids, now: instant }, columns: { id: uuid.notNull } },
)

export const deleteOperatorSession = statement('operators.deleteOperatorSession', 'delete from operator_sessions where id = $id', {
  params: { id: uuid },
})
