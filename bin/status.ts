import { listCrowdedTypes } from '#shared/core/notifications/rules.ts'
import { listLargeRights } from '#shared/core/roles/limits.ts'
import { listLargeForms } from '#shared/features/forms/large-forms.ts'
import type { CommandScope } from './command-scope.ts'

/** A part of `kontor status`. */
interface StatusSection {
  /** Its key in the output of `--json`. */
  readonly key: string
  readonly title: string
  /** One line for each thing that was found. */
  readonly find: (platform: CommandScope) => Promise<readonly string[]>
}

/** The parts of `kontor status`, in their order. */
export const statusSections: readonly StatusSection[] = [
  {
    key: 'above_limits',
    title: 'Larger than a limit allows, as an earlier release left it',
    find: async ({ db }) => [...(await listLargeRights(db)), ...(await listCrowdedTypes(db)), ...(await listLargeForms(db))],
  },
]
