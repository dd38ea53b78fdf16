import { nameSchema } from '#shared/platform/kernel/name.ts'
import { instant, nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

const count = t.Integer({ minimum: 0 })

/** A space as callers see it (docs/contract/drive.md#spaces). */
export const space = schema(
  t.Object(
    {
      id: uuid,
      key: t.String(),
      name: t.String(),
      type: t.Enum(['user', 'org', 'custom'], { description: 'A personal drive, the shared space of all members, or another team space.' }),
      object_count: t.Integer({ minimum: 0, description: 'Number of files, without folders.' }),
      total_bytes: count,
      created_at: instant,
    },
    { title: 'Space', description: 'A space for files; called `bucket` in addresses.' },
  ),
)
export type Space = TypeOf<typeof space>

/** Input that creates a space. */
export const spaceInput = schema(
  t.Object(
    {
      key: t.Optional(
        nullable(
          t.String({ description: '2 to 63 lowercase letters, digits and hyphens, starting with a letter or digit; unused if personal.' }),
        ),
      ),
      /** Required for a personal space; the key by default for any other. */
      name: t.Optional(nameSchema(120)),
      type: t.Optional(
        t.String({ description: '`personal` creates another drive of the caller; any other value creates a space of the team.' }),
      ),
    },
    { title: 'SpaceInput' },
  ),
)
export type SpaceInput = TypeOf<typeof spaceInput>

const objectParts = {
  key: t.String({ description: 'In Unicode NFC. Requests may send either form.' }),
  name: t.String({ description: 'The last part of the key.' }),
  size: count,
  content_type: t.String({ description: 'Detected from the bytes, not taken from the sender.' }),
  sha256: t.String(),
  created_by: nullable(uuid),
  created_at: instant,
  updated_at: instant,
}

/** A file as callers see it (docs/contract/drive.md#files-and-folders). */
export const driveObject = schema(t.Object(objectParts, { title: 'DriveObject' }))
export type DriveObject = TypeOf<typeof driveObject>

/** A folder in a listing. */
export const folder = schema(t.Object({ prefix: t.String(), name: t.String() }, { title: 'DriveFolder' }))
export type Folder = TypeOf<typeof folder>

/** The folders and files directly in a folder, or the results of a search. */
export const folderPage = schema(
  t.Object(
    {
      folders: t.Array(folder.json),
      objects: t.Array(driveObject.json),
      cursor: t.Optional(t.String({ description: 'Where the next page starts; absent on the last one.' })),
    },
    { title: 'DriveLevel' },
  ),
)
export type FolderPage = TypeOf<typeof folderPage>

/** The query of a listing. */
export const folderQuery = schema(
  t.Object({
    prefix: t.String({ default: '', description: 'A folder such as a/b/; empty for the top.' }),
    q: t.String({ default: '', maxLength: 255, description: 'Finds files by part of their name, in the folder and below, ignoring case.' }),
    limit: t.Integer({ minimum: 1, maximum: 200, default: 100 }),
    cursor: t.Optional(t.String({ description: 'cursor of the previous page.' })),
  }),
)
export type FolderQuery = TypeOf<typeof folderQuery>

const mode = t.Enum(['view', 'edit'])

/** A share as its managers see it. */
export const spaceShare = schema(
  t.Object(
    {
      id: uuid,
      prefix: t.String({ description: 'A folder that ends with /, a file, or empty for everything.' }),
      grantee_id: nullable(uuid),
      grantee_name: nullable(t.String()),
      org_wide: t.Boolean(),
      mode,
      created_at: instant,
    },
    { title: 'DriveShare' },
  ),
)
export type SpaceShare = TypeOf<typeof spaceShare>

/** Input that creates a share. Exactly one of `email`, `user_id` and `org_wide` names the grantee. */
export const spaceShareInput = schema(
  t.Object(
    {
      prefix: t.String({ default: '' }),
      email: t.Optional(t.String({ description: "A member's address." })),
      user_id: t.Optional(t.String({ description: "A member's id." })),
      org_wide: t.Optional(t.Boolean({ description: 'True for every member.' })),
      mode,
    },
    { title: 'DriveShareInput' },
  ),
)
export type SpaceShareInput = TypeOf<typeof spaceShareInput>

/** A folder or file that others have shared with the caller. */
const sharedItem = t.Object(
  {
    bucket_id: uuid,
    prefix: t.String(),
    mode,
    owner_name: t.String({ description: "Name of the drive's owner, or of the team's space." }),
  },
  { title: 'SharedItem' },
)
export type SharedItem = TypeOf<ReturnType<typeof schema<typeof sharedItem>>>

/** The caller's spaces. */
export const spaceList = schema(t.Object({ buckets: t.Array(space.json), shared: t.Array(sharedItem) }, { title: 'SpaceList' }))

const recentObject = t.Object({ ...objectParts, bucket_id: uuid, bucket_key: t.String() }, { title: 'RecentObject' })
export type RecentObject = TypeOf<ReturnType<typeof schema<typeof recentObject>>>

const typeTotal = t.Object({ content_type: t.String(), count, bytes: count }, { title: 'TypeTotal' })
export type TypeTotal = TypeOf<ReturnType<typeof schema<typeof typeTotal>>>

/** The newest files and the bytes per content type, in the caller's spaces. */
export const overview = schema(t.Object({ recent: t.Array(recentObject), types: t.Array(typeTotal) }, { title: 'DriveOverview' }))

/** The query of the overview. */
export const overviewQuery = schema(t.Object({ limit: t.Integer({ minimum: 1, maximum: 100, default: 10 }) }))

/** A single object's key. */
export const keyQuery = schema(t.Object({ key: t.String() }))

/** Input that creates a folder. */
export const folderInput = schema(t.Object({ key: t.String({ description: 'Ends with /.' }) }, { title: 'DriveFolderInput' }))

/** A rename or move. */
export const objectMoveInput = schema(t.Object({ from: t.String(), to: t.String() }, { title: 'DriveMoveInput' }))

export const movedObjects = schema(t.Object({ moved: t.Integer({ minimum: 0, description: 'Files.' }) }, { title: 'MovedObjects' }))
export const deletedObjects = schema(t.Object({ deleted: t.Integer({ minimum: 0, description: 'Files.' }) }, { title: 'DeletedObjects' }))
