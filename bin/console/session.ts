import type { Api } from '#api/server.ts'
import { loadVisitor, readActor, systemActor } from '#shared/core/scope/actor.ts'
import type { PlatformScope, Scope } from '#shared/core/scope/scope.ts'
import type { Workspace } from '#shared/core/scope/store.ts'
import { listServiceAccounts } from '#shared/core/workspaces/service-accounts/service-accounts.ts'
import { platformCause } from '#shared/platform/kernel/cause.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import { platformScope } from '#shared/services.ts'
import { type CommandScope, commandLine } from '../command-scope.ts'
import { requirePerson, workspaceScope } from '../workspaces.ts'
import { type Caller, callAsAccount, callAsPerson } from './caller.ts'

/** The console's current scope: no workspace at first, then an actor in one. */
interface SessionPosition {
  /** First argument of domain functions. */
  readonly scope: PlatformScope | Scope
  readonly token: string | null
}

/** The console's current workspace and actor. `leave` revokes the credentials that it made. */
export class ConsoleSession {
  readonly #platform: CommandScope
  readonly #callers = new Map<string, Caller>()
  #place: SessionPosition

  constructor({ services }: Api) {
    const cause = platformCause(`console-${newId()}`)
    this.#platform = { ...platformScope(services, services.database, null, cause), operator: commandLine() }
    this.#place = { scope: this.#platform, token: null }
  }

  get place(): SessionPosition {
    return this.#place
  }

  /** Enters a workspace by id or name, as its owner. Throws NOT_FOUND, or VALIDATION_ERROR when several have the name. */
  async enter(text: string): Promise<Workspace> {
    const scope = await workspaceScope(this.#platform, text)
    this.#place = { scope, token: null }
    await this.become(scope.workspace.owner_id)
    return scope.workspace
  }

  /**
   * Acts as a person by address or id, a service account by name or id, `null` for the visitor, or `'system'` for the platform itself, which
   * calls the API without credentials. Throws NOT_FOUND for anybody outside the workspace.
   */
  async become(who: string | null): Promise<string> {
    const inside = await this.#inside()
    const { cache, db, workspace } = inside
    if (who === 'system') return this.#moveTo(inside, null)
    if (who === null) return this.#moveTo({ ...inside, actor: await loadVisitor(cache, db, workspace.id) }, null)
    const account = (await listServiceAccounts(inside)).find(({ id, name }) => id === who.toLowerCase() || name === who)
    const id = account?.id ?? (await requirePerson(this.#platform, who)).id
    const actor = await readActor(db, workspace.id, id)
    if (!actor) throw problem('NOT_FOUND', `${who} does not belong to ${workspace.name}`)
    const known = this.#callers.get(id) ?? (account ? await callAsAccount(inside, id) : await callAsPerson(inside, id))
    this.#callers.set(id, known)
    const cause = { ...inside.cause, actorId: id, actorType: known.principal.type }
    return this.#moveTo({ ...inside, actor, cause, principal: known.principal }, known.token)
  }

  /** Revokes every session and key that was made. */
  async leave(): Promise<void> {
    for (const { leave } of this.#callers.values()) await leave().catch(() => undefined)
    this.#callers.clear()
  }

  /** The platform's own scope in the current workspace, read again. */
  async #inside(): Promise<Scope> {
    const { scope } = this.#place
    if (!('workspace' in scope)) throw problem('VALIDATION_ERROR', "Enter a workspace first: await org('name or id')")
    return { ...(await workspaceScope(this.#platform, scope.workspace.id)), actor: systemActor }
  }

  #moveTo(scope: Scope, token: string | null): string {
    this.#place = { scope, token }
    return `${scope.actor.name} (${scope.actor.type}) in ${scope.workspace.name}`
  }
}
