import { computeValues } from '#shared/core/records/compute/compute-values.ts'
import { issueNumbers } from '#shared/core/records/create/auto-numbers.ts'
import { requireStorable, withinRecordCap } from '#shared/core/records/create/create-record.ts'
import { insertManyRecords } from '#shared/core/records/create/insert-many.ts'
import { emptyValues, type Values } from '#shared/core/records/record.ts'
import { textLength } from '#shared/core/records/text-size.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'

/** A row that is to create a record: the values of its cells, and with defaults those that the caller may create. */
export interface Draft {
  readonly row: number
  readonly sent: Values
  readonly values: Values
}

/** Drafts that are still to be stored one by one, and rows that were refused. */
export interface StoreOutcome {
  readonly left: readonly Draft[]
  readonly refused: readonly { readonly row: number; readonly message: string }[]
}

/**
 * Stores the drafts, one statement per group. Locks the plan's cap before it takes numbers, as a creation does, so that an import and a
 * creation cannot deadlock. `refusalMessage` gives the message of a problem that a row caused, and rethrows other errors.
 */
export async function storeTogether(
  scope: Scope,
  type: RecordType,
  drafts: readonly Draft[],
  refusalMessage: (error: unknown) => string,
): Promise<StoreOutcome> {
  try {
    return await withinRecordCap(scope, drafts.length, async (inside) => {
      const numbered = drafts.map((draft) => ({ draft, values: Object.assign(emptyValues(), draft.values) }))
      await issueNumbers(
        inside,
        type,
        numbered.map(({ values }) => values),
      )
      const left: Draft[] = []
      const refused: { row: number; message: string }[] = []
      const refuse = (draft: Draft, error: unknown) => refused.push({ row: draft.row, message: refusalMessage(error) })
      for await (const group of computeGroups(inside, type, numbered, refuse)) {
        const positions = await insertManyRecords(
          inside,
          type,
          group.map(({ values }) => values),
        )
        left.push(...positions.flatMap((position) => group[position]?.draft ?? []))
      }
      return { left, refused }
    })
  } catch (error) {
    if (error instanceof Problem && error.code === 'LIMIT_EXCEEDED') return { left: drafts, refused: [] }
    throw error
  }
}

/**
 * A draft and the values to store: those of the draft with auto-numbers, and after `computeGroups` with computed fields too.
 */
interface NumberedDraft {
  readonly draft: Draft
  readonly values: Values
}

/**
 * UTF-16 units of text, or milliseconds of computing, after which a group ends: formulas may make long texts from short rows, and take up
 * to 50 ms per row.
 */
const groupSize = { text: 1_000_000, ms: 100 }

/** Computes drafts and yields them in groups for one statement each. Calls `refuse` for drafts that may not be stored. */
async function* computeGroups(
  scope: Scope,
  type: RecordType,
  drafts: readonly NumberedDraft[],
  refuse: (draft: Draft, error: unknown) => void,
): AsyncGenerator<readonly NumberedDraft[]> {
  let [group, text, startedAt]: [NumberedDraft[], number, number] = [[], 0, performance.now()]
  for (const { draft, values: given } of drafts) {
    const values = Object.assign(emptyValues(), given)
    await computeValues(scope, type, values)
    try {
      requireStorable(scope, type, 'records:import', values)
    } catch (error) {
      refuse(draft, error)
      continue
    }
    group.push({ draft, values })
    text += textLength(values)
    if (text < groupSize.text && performance.now() - startedAt < groupSize.ms) continue
    yield group
    group = []
    text = 0
    startedAt = performance.now()
  }
  if (group.length > 0) yield group
}
