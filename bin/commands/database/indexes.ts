import { type ListedIndex, listIndexes } from '#shared/core/types/indexes/list-indexes.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'
import { command } from '../../command.ts'
import { formatTable } from '../../table.ts'
import { workspaceScope } from '../../workspaces.ts'

const indexCells = ({ type, field, kind, state, size_bytes, records, last_used_at, scans, why }: ListedIndex): readonly string[] => [
  `${type}.${field}`,
  kind,
  state,
  `${(size_bytes / 2 ** 20).toFixed(1)} MB`,
  `${records} records`,
  `${scans} scans`,
  last_used_at ?? 'not used',
  why,
]

export const indexCommands = [
  command({
    name: 'indexes',
    summary: 'Show the indexes that follow use: reason, size, last use, state',
    options: schema(t.Object({ org: t.Optional(t.String({ description: 'id of a workspace; default: all workspaces' })) })),
    run: async ({ org }, platform) => {
      const scope = org === undefined ? undefined : await workspaceScope(platform, org)
      const indexes = await listIndexes(platform.db, platform.now(), scope?.workspace.id ?? null)
      const lines = [...Map.groupBy(indexes, ({ workspace_id }) => workspace_id)].flatMap(([id, workspaceIndexes]) => [
        `workspace ${id}`,
        ...formatTable(workspaceIndexes.map(indexCells)).map((line) => `  ${line}`),
      ])
      return { data: { indexes }, lines: lines.length > 0 ? lines : ['No field is used enough for an index of its own.'] }
    },
  }),
]
