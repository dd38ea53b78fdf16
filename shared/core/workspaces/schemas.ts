import type { Workspace } from '#shared/core/scope/store.ts'
import { cursorParameters } from '#shared/platform/db/lists.ts'
import { type AppName, apps } from '#shared/platform/kernel/apps.ts'
import { nameSchema } from '#shared/platform/kernel/name.ts'
import { instant, nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

const appFlags = t.Object(Object.fromEntries(apps.map((app) => [app, t.Boolean()])))
const appFlagChanges = t.Object(Object.fromEntries(apps.map((app) => [app, t.Optional(t.Boolean())])), { additionalProperties: false })

/** A workspace in a response (docs/contract/access.md#workspace-settings). */
const workspaceSchema = t.Object(
  {
    id: uuid,
    name: t.String(),
    status: t.Enum(['provisioning', 'active', 'suspended'], {
      description: 'While it is provisioning, the routes of the workspace answer ORG_NOT_READY.',
    }),
    plan: t.Enum(['free', 'paid']),
    owner_id: uuid,
    color: nullable(t.String({ description: 'Colour of the pages that the workspace shows to others, as #rrggbb.' })),
    logo: nullable(
      t.String({ description: 'Path of an image among the shared files, shown on these pages. `/logo/{orgId}` answers it to everybody.' }),
    ),
    default_currency: t.String({ description: 'ISO 4217 code.' }),
    timezone: t.String({ description: 'Time zone: a name of the IANA list.' }),
    apps: t.Unsafe<Workspace['apps']>(appFlags),
    multi_currency: t.Boolean({ description: 'Whether the books keep several currencies; cannot be switched off.' }),
    books_closed_through: nullable(
      t.String({ format: 'date', description: 'Nothing can be posted on this day or before it; null: all days are open.' }),
    ),
    created_at: instant,
  },
  { title: 'Workspace' },
)
export const workspace = schema(workspaceSchema)
export const workspaceList = schema(t.Array(workspaceSchema))

/** A workspace as operators of the installation change it. */
export const operatedWorkspace = schema(
  t.Object(
    { id: uuid, name: t.String(), status: workspaceSchema.properties.status, plan: workspaceSchema.properties.plan },
    { title: 'OperatedWorkspace' },
  ),
)
export type OperatedWorkspace = TypeOf<typeof operatedWorkspace>

/** The query of the console's list of workspaces. */
export const workspaceSearch = schema(
  t.Object({
    q: t.Optional(t.String({ maxLength: 120, description: 'A part of the name, in any letter case, or the whole id.' })),
    ...cursorParameters(),
  }),
)

export const planInput = t.Enum(['free', 'paid'])
export const planChange = schema(t.Object({ plan: planInput }, { title: 'PlanChange' }))

export const workspaceInput = schema(t.Object({ name: nameSchema(120) }, { title: 'WorkspaceInput' }))

/** Changes of a workspace's settings. Omitted properties stay unchanged. */
export const workspaceChanges = schema(
  t.Object(
    {
      name: t.Optional(nameSchema(120)),
      color: t.Optional(nullable(t.String({ pattern: '^#[0-9a-fA-F]{6}$', description: 'a colour such as #2f5bd3' }))),
      logo: t.Optional(
        nullable(
          t.String({
            minLength: 1,
            maxLength: 1_024,
            description: 'Path of a PNG, JPEG, GIF, WebP or AVIF file among the shared files, at most 1 MB.',
          }),
        ),
      ),
      default_currency: t.Optional(t.String()),
      timezone: t.Optional(t.String()),
      apps: t.Optional(t.Unsafe<Partial<Record<AppName, boolean>>>(appFlagChanges)),
      multi_currency: t.Optional(t.Boolean({ description: 'Can only be changed to true.' })),
      books_closed_through: t.Optional(nullable(t.String({ description: 'YYYY-MM-DD; null opens all days again.' }))),
    },
    { title: 'WorkspaceChanges' },
  ),
)
export type WorkspaceChanges = ReturnType<(typeof workspaceChanges)['parse']>

/** The caller, as `GET /auth/me` returns it (docs/contract/access.md#signing-in). */
export const caller = schema(
  t.Object(
    {
      id: uuid,
      type: t.Enum(['user', 'service']),
      name: t.String(),
      email: t.Optional(t.String({ description: 'Absent for an access key.' })),
      orgs: t.Array(t.Object({ id: uuid, name: t.String() }, { title: 'WorkspaceName' })),
    },
    { title: 'Caller' },
  ),
)
