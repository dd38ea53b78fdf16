import { overPlan, planCapOf } from '#shared/core/scope/plan-cap.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { flowProblemView } from '#shared/features/flows/definitions/check.ts'
import { edgeView, nodeView } from '#shared/features/flows/definitions/definition.ts'
import { flowLimits } from '#shared/features/flows/limits.ts'
import { incrementDraftCount } from '#shared/features/flows/store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

/** Input of a draft: a description of the wanted flow in free text. */
export const draftInput = schema(t.Object({ prompt: t.String({ minLength: 1, maxLength: flowLimits.promptCharacters }) }))

/** A flow proposed by an assistant; nothing is saved. */
export const flowDraftView = schema(
  t.Object(
    {
      name: t.String(),
      nodes: t.Array(nodeView),
      edges: t.Array(edgeView),
      context: t.Record(t.String(), t.String()),
      problems: t.Array(flowProblemView),
    },
    { title: 'FlowDraft' },
  ),
)
export type FlowDraft = TypeOf<typeof flowDraftView>

/** Counts one draft. Throws AGENT_DISABLED without an assistant, LIMIT_EXCEEDED when the free plan's drafts of the day are used. */
export async function consumeDraftQuota({ config, db, workspace, now }: Scope): Promise<void> {
  if (config.agent === null) throw problem('AGENT_DISABLED', undefined, { expected: true })
  const cap = planCapOf({ config, workspace }, 'draftsPerDay')
  if (cap === null) return
  const day = now().toISOString().slice(0, 10)
  const taken = await db.query(incrementDraftCount(workspace.id, day, cap))
  if (taken.length === 0) throw overPlan({ config }, 'draftsPerDay')
}
