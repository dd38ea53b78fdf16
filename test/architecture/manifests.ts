import { posix } from 'node:path'
import { type Rule, together, within } from '#test/architecture/rule.ts'
import type { Source } from '#test/architecture/source.ts'

const manifestOf = /^(shared|api|workers)\/(?:platform|core|features)\/[^/]+\/(?:feature|handlers)\.ts$/

/** The list of each top folder that names the manifests of its floors. */
const lists: Readonly<Record<string, string>> = {
  shared: 'shared/features.ts',
  api: 'api/routes.ts',
  workers: 'workers/handlers.ts',
}

const isManifest = ({ path }: Source): boolean => manifestOf.test(path) && path.endsWith('/handlers.ts') === path.startsWith('workers/')

const listed = together(
  'every manifest is named in the list of its top folder',
  (source) => isManifest(source) || Object.values(lists).includes(source.path),
  (sources) =>
    sources.filter(isManifest).flatMap(({ path }) => {
      const list = lists[path.split('/')[0] ?? ''] ?? ''
      return sources.some((one) => one.path === list && one.files.includes(path)) ? [] : [`${path} is not named in ${list}`]
    }),
  { 'shared/features.ts': '', 'shared/core/types/feature.ts': 'export const feature = {}' },
)

/** Files that a manifest collects, by name, wherever they lie below its folder. */
const partFiles = ['jobs.ts', 'due.ts', 'maintenance.ts', 'sdk.ts', 'guard.ts', 'metrics.ts']

/** Folders whose files of these names are mechanisms, not parts. */
const mechanisms = ['shared/platform/kernel', 'shared/platform/due/maintenance.ts']

const domainOf = (path: string): string => path.split('/').slice(0, 3).join('/')

const collected = together(
  'a manifest imports the jobs, due kinds, maintenance tasks, SDK methods, guards and metrics of its folder',
  ({ path }) => within(path, ['shared/platform', 'shared/core', 'shared/features']),
  (sources) => {
    const isPart = ({ path }: Source) => partFiles.includes(posix.basename(path)) && !within(path, mechanisms)
    return sources.filter(isPart).flatMap(({ path }) => {
      const manifest = `${domainOf(path)}/feature.ts`
      return sources.some((one) => one.path === manifest && one.files.includes(path)) ? [] : [`${path} is not imported by ${manifest}`]
    })
  },
  { 'shared/core/types/feature.ts': 'export const feature = {}', 'shared/core/types/jobs.ts': 'export const dropTableJob = 1' },
)

const blockList = 'shared/features/flows/blocks.ts'

const blocksListed = together(
  'every file of flow blocks is named in the list of blocks',
  ({ path }) => /^shared\/(?:core|features)\/[^/]+\/(?:blocks\.ts|blocks\/[^/]+\.ts)$/.test(path),
  (sources) => {
    const listed = new Set(sources.flatMap(({ files }) => files))
    return sources.filter(({ path }) => path !== blockList && !listed.has(path)).map(({ path }) => `${path} is not named in ${blockList}`)
  },
  { 'shared/features/payments/blocks.ts': 'export const block = 1', [blockList]: '' },
)

export const manifestRules: readonly Rule[] = [listed, collected, blocksListed]

/** Every path that these rules name. */
export const manifestPaths: readonly string[] = [...Object.values(lists), ...mechanisms, blockList]

/** The manifest to copy each part from. `shared/README.md` names them. */
export const models: Readonly<Record<string, string>> = {
  jobs: 'shared/features/payments/feature.ts',
  dueKinds: 'shared/features/payments/feature.ts',
  metrics: 'shared/features/payments/feature.ts',
  maintenance: 'shared/features/drive/feature.ts',
  subscriptions: 'shared/features/forms/feature.ts',
  events: 'shared/features/forms/feature.ts',
  sdkMethods: 'shared/features/accounting/feature.ts',
  guards: 'shared/features/accounting/feature.ts',
  sealed: 'shared/features/functions/feature.ts',
}
