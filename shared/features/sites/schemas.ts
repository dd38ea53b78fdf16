import { warningsSchema } from '#shared/core/scope/schemas.ts'
import { pageLimit } from '#shared/platform/db/lists.ts'
import { nameSchema } from '#shared/platform/kernel/name.ts'
import { instant, nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

/** A website's key, which is in its public addresses. */
const siteKey = t.String({
  pattern: '^[a-z0-9][a-z0-9_-]{1,63}$',
  description: '2 to 64 lowercase letters, digits, hyphens and underscores, starting with a letter or digit',
})

export const siteInput = schema(
  t.Object({ key: siteKey, name: nameSchema(200), published: t.Optional(t.Boolean()) }, { title: 'SiteInput' }),
)
export type SiteInput = TypeOf<typeof siteInput>

/** Changes of a website; omitted properties stay unchanged. */
export const siteChange = schema(
  t.Object({ key: t.Optional(siteKey), name: t.Optional(nameSchema(200)), published: t.Optional(t.Boolean()) }, { title: 'SiteChange' }),
)
export type SiteChange = TypeOf<typeof siteChange>

const siteSchema = t.Object(
  {
    id: uuid,
    key: t.String(),
    name: t.String(),
    published: t.Boolean({ description: 'Whether visitors can reach the content of the website.' }),
    created_at: instant,
    updated_at: instant,
    warnings: t.Optional(warningsSchema),
  },
  { title: 'Site' },
)
export const site = schema(siteSchema)
export const siteList = schema(t.Array(siteSchema))
export type Site = TypeOf<typeof site>

/** The key of the files that all websites share, in addresses and in permissions. */
export const assetsKey = 'assets'

/** Input that creates or replaces a document. */
export const documentInput = schema(
  t.Object(
    {
      title: t.Optional(t.String({ maxLength: 500 })),
      body: t.Optional(t.String()),
      fields: t.Optional(t.Record(t.String(), t.Unknown())),
      published: t.Optional(t.Boolean({ description: 'False keeps it as a draft; default: false.' })),
    },
    { title: 'DocumentInput' },
  ),
)
export type DocumentInput = TypeOf<typeof documentInput>

const documentParts = {
  path: t.String(),
  title: t.String(),
  body: t.String(),
  fields: t.Record(t.String(), t.Unknown()),
  updated_at: instant,
}

/** A document as visitors get it (docs/contract/public.md#delivery). */
export const deliveredDocument = schema(t.Object(documentParts, { title: 'DeliveredDocument' }))

const fileParts = {
  path: t.String(),
  content_type: t.String(),
  size: t.Integer(),
  sha256: t.String(),
  updated_at: instant,
}

/** Content as its authors see it: a document, or a file, which is always published. */
const contentSchema = t.Union([
  t.Object({ ...documentParts, published: t.Boolean(), warnings: t.Optional(warningsSchema) }, { title: 'ContentDocument' }),
  t.Object({ ...fileParts, warnings: t.Optional(warningsSchema) }, { title: 'ContentFile' }),
])
export const content = schema(contentSchema)
export type Content = TypeOf<typeof content>

export const contentList = schema(
  t.Array(
    t.Object(
      {
        path: t.String(),
        title: nullable(t.String({ description: 'Null for a file.' })),
        content_type: nullable(t.String({ description: 'Null for a document.' })),
        size: nullable(t.Integer({ description: 'Null for a document.' })),
        published: t.Boolean(),
        updated_at: instant,
      },
      { title: 'ContentEntry' },
    ),
  ),
)

export const contentQuery = schema(
  t.Object({
    prefix: t.Optional(t.String({ maxLength: 1_024, description: 'Only paths that begin with this text.' })),
    after: t.Optional(t.String({ maxLength: 1_024, description: 'The last path of the previous page.' })),
    limit: pageLimit(),
  }),
)
export type ContentQuery = TypeOf<typeof contentQuery>
