import { randomUUID } from 'node:crypto'
import type { Api } from '#api/server.ts'
import { makeToken } from '#shared/core/people/tokens.ts'
import { createWorkspaceTables } from '#shared/core/types/builtin/create-workspace-tables.ts'
import type { Client } from '#test/support/client.ts'

/** A workspace of a test. */
export interface Org {
  readonly id: string
  /** `/v1/orgs/{id}`. */
  readonly path: string
  readonly ownerId: string
  /** A client of the owner, who may do everything. */
  readonly owner: Client
}

/** A member or service account with its client. */
export interface Caller {
  readonly id: string
  readonly client: Client
}

interface Maker {
  readonly api: { readonly services: Pick<Api['services'], 'database'> }
  readonly visitor: Client
}

/** Creates a workspace that is set up, with its owner signed in: a new person, unless one is given. */
export async function createOrg(maker: Maker, name = 'Acme', plan: 'paid' | 'free' = 'paid', by?: Caller): Promise<Org> {
  const db = maker.api.services.database
  const owner = by ?? (await createPerson(maker, 'Olive Owner'))
  const id = randomUUID()
  await db.query({ text: `insert into workspaces (id, name, plan, owner_id) values ($1, $2, $3, $4)`, values: [id, name, plan, owner.id] })
  await db.query({ text: 'insert into members (workspace_id, user_id) values ($1, $2)', values: [id, owner.id] })
  await createWorkspaceTables(db, id)
  return { id, path: `/v1/orgs/${id}`, ownerId: owner.id, owner: owner.client }
}

/** Creates a person with a session that outlasts any time of a test's world. Its password is unknown. */
export async function createPerson({ api, visitor }: Maker, name: string): Promise<Caller> {
  const db = api.services.database
  const id = randomUUID()
  const token = makeToken('session', id)
  await db.query({
    text: `insert into users (id, email, name, password_hash) values ($1, $2, $3, 'none')`,
    values: [id, `${id}@example.com`, name],
  })
  await db.query({
    text: `insert into sessions (id, user_id, token_hash, expires_at) values ($1, $2, $3, now() + interval '100 years')`,
    values: [randomUUID(), id, token.hash],
  })
  return { id, client: visitor.as(token.text) }
}

/** Creates a role with these rules and returns its id. */
export async function createRole({ api }: Maker, org: Org, policy: readonly object[], isAnonymous = false): Promise<string> {
  const id = randomUUID()
  await api.services.database.query({
    text: 'insert into roles (workspace_id, id, name, policy, is_anonymous) values ($1, $2, $3, $4, $5)',
    values: [org.id, id, `role ${id}`, JSON.stringify(policy), isAnonymous],
  })
  return id
}

/** Creates a member of the workspace with one role of these rules; without rules it has no role. */
export async function createMember(maker: Maker, org: Org, policy: readonly object[] = [], name = 'Max Member'): Promise<Caller> {
  const member = await createPerson(maker, name)
  await maker.api.services.database.query({
    text: 'insert into members (workspace_id, user_id) values ($1, $2)',
    values: [org.id, member.id],
  })
  await giveRole(maker, org, member.id, policy)
  return member
}

/** Creates a service account with one role of these rules, and a key of it. */
export async function createService(maker: Maker, org: Org, policy: readonly object[] = [], name = 'Robot'): Promise<Caller> {
  const db = maker.api.services.database
  const id = randomUUID()
  const token = makeToken('key', org.id)
  await db.query({ text: 'insert into service_accounts (workspace_id, id, name) values ($1, $2, $3)', values: [org.id, id, name] })
  await db.query({
    text: `insert into access_keys (workspace_id, id, service_account_id, name, prefix, secret_hash) values ($1, $2, $3, 'key', 'kt_', $4)`,
    values: [org.id, randomUUID(), id, token.hash],
  })
  await giveRole(maker, org, id, policy)
  return { id, client: maker.visitor.as(token.text) }
}

async function giveRole(maker: Maker, org: Org, principalId: string, policy: readonly object[]): Promise<void> {
  if (policy.length === 0) return
  const role = await createRole(maker, org, policy)
  await maker.api.services.database.query({
    text: 'insert into role_members (workspace_id, role_id, principal_id) values ($1, $2, $3)',
    values: [org.id, role, principalId],
  })
}
