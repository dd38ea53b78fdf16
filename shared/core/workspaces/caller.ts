import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { findWorkspace } from '#shared/core/scope/workspace.ts'
import { listWorkspaces } from '#shared/core/workspaces/workspaces.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

const id = t.String({ format: 'uuid' })

/** The caller, as `GET /auth/me` returns it (decisions, People, keys, workspaces). */
export const caller = schema(
  t.Object(
    {
      id,
      type: t.Enum(['user', 'service']),
      name: t.String(),
      email: t.Optional(t.String({ description: 'Absent for an access key.' })),
      orgs: t.Array(t.Object({ id, name: t.String() }, { title: 'WorkspaceName' })),
    },
    { title: 'Caller' },
  ),
)

/** The caller and its workspaces; a key belongs to exactly one. */
export async function describeCaller(scope: PlatformScope) {
  const { principal, db } = scope
  if (!principal) throw problem('UNAUTHORIZED')
  const { id, type, name, email, workspaceId } = principal
  const workspaces =
    workspaceId === null ? await listWorkspaces(scope) : [await findWorkspace(db, workspaceId)].filter((one) => one !== undefined)
  return {
    id,
    type,
    name,
    ...(email === null ? {} : { email }),
    orgs: workspaces.map((workspace) => ({ id: workspace.id, name: workspace.name })),
  }
}
