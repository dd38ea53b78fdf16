import { findPerson, findPersonByEmail, type Person } from '#shared/core/people/store.ts'
import { systemActor } from '#shared/core/scope/actor.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { type EnteredWorkspace, findWorkspace, type Workspace } from '#shared/core/scope/store.ts'
import { createWorkspaceTables } from '#shared/core/types/builtin/create-workspace-tables.ts'
import { findWorkspaceIds, insertWorkspace } from '#shared/core/workspaces/store.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'
import { isUuid, newId } from '#shared/platform/kernel/ids.ts'
import type { CommandScope } from './command-scope.ts'

/** Creates a workspace and its tables in the caller's transaction. For the API a worker creates the tables later. */
export async function createReadyWorkspace(
  { db }: Pick<Scope, 'db'>,
  { name, plan, owner }: { name: string; plan: Workspace['plan']; owner: Pick<Person, 'id'> },
): Promise<EnteredWorkspace> {
  return db.transaction(async (tx) => {
    const id = newId()
    await tx.query(insertWorkspace({ id, name: name.trim(), plan, ownerId: owner.id }))
    await createWorkspaceTables(tx, id)
    return requireRow(await tx.query(findWorkspace({ id })))
  })
}

/**
 * Returns the scope of a workspace by its id or name, with the system as actor. Throws NOT_FOUND when there is none, VALIDATION_ERROR when
 * several have the name.
 */
export async function workspaceScope(platform: CommandScope, text: string): Promise<Scope> {
  const ids = isUuid(text) ? [text] : await findWorkspaceIds(platform.db, text)
  if (ids.length > 1) throw problem('VALIDATION_ERROR', `${ids.length} workspaces have this name: ${ids.join(', ')}`)
  const workspace = ids[0] === undefined ? undefined : await firstRow(platform.db, findWorkspace({ id: ids[0] }))
  if (!workspace) throw problem('NOT_FOUND', `There is no workspace ${text}`)
  return { ...platform, workspace, actor: systemActor }
}

/** Finds a person by email address or id. Throws NOT_FOUND when there is none. */
export async function requirePerson({ db }: CommandScope, text: string): Promise<Person> {
  const person = isUuid(text) ? await firstRow(db, findPerson({ id: text })) : await findPersonByEmail(db, text)
  if (!person) throw problem('NOT_FOUND', `Nobody has the address or id ${text}: make an account with kontor user create`)
  return person
}
