import type { FlowNode } from '#shared/core/automation/node.ts'
import { type Render, toText } from '#shared/core/automation/template.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { AppName } from '#shared/platform/kernel/apps.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'
import { isPlainDecimal } from '#shared/platform/kernel/values/decimal.ts'

/** Settings of a block by their names: JSON Schemas of their types alone, since a wrong value is a problem and no refusal. */
type Properties = Parameters<typeof t.Object>[0]

/** What a block's settings may name that has to be there, as it is when they are looked at. */
export interface KnownReferences {
  /** By the key of each record type, the keys of its fields. */
  readonly fieldKeys: ReadonlyMap<string, ReadonlySet<string>>
  readonly functionIds: ReadonlySet<string>
  /** Of messages. */
  readonly connectionIds: ReadonlySet<string>
  readonly templateIds: ReadonlySet<string>
  readonly paymentConnectionIds: ReadonlySet<string>
  readonly queueKeys: ReadonlySet<string>
  readonly calendarKeys: ReadonlySet<string>
}

interface Described {
  /** Such as `action.create_record`. */
  readonly type: string
  readonly label: string
  readonly description: string
  readonly settings: Properties
  /** The settings without which it cannot run. */
  readonly required: readonly string[]
  /** Beyond what is missing: what keeps a block with these settings from running, as sentences that name the setting. */
  readonly problems?: (config: Readonly<Record<string, unknown>>, around: KnownReferences) => string[]
}

/** What a step is told of its run. */
export interface StepContext {
  readonly node: FlowNode
  /** The settings with their references replaced: a text that is one reference and nothing else has become that value. */
  readonly settings: Readonly<Record<string, unknown>>
  /** Replaces references in a value, with others beside those of the run, such as an item. */
  readonly render: Render
  /** What the step may still compute. A block that goes through a list or a long text takes from it and pauses. */
  readonly budget: ComputeBudget
  readonly runId: string
  /** `<run>:<node>:<iteration>`: the same again when the step is done again, so the natural key of what it makes. */
  readonly key: string
}

/** What came of a block that computes: its output, and the handle that the run leaves by. */
export interface ComputedOutput {
  readonly output: unknown
  readonly handle?: string
}

/** What a run waits for instead of going on. */
export type WaitRequest =
  | { readonly kind: 'time'; readonly until: string }
  | { readonly kind: 'function'; readonly functionId: string; readonly input: string }
  | { readonly kind: 'call' }

/** Who sees an output of a run: whoever may see the run, those who may read the record, or those who may change the flow. */
export type OutputVisibility = 'readers' | 'record' | 'editors'

interface BlockParts extends Described {
  readonly handles: readonly [string, ...string[]]
  /** The shape of what it gives to the blocks behind it. */
  readonly output: Properties
  readonly shown: OutputVisibility
  /** The app that must be switched on; null for none. */
  readonly app: AppName | null
  readonly work:
    | { readonly computes: (step: StepContext) => Promise<ComputedOutput> }
    /** Changes something in the workspace, in the transaction of its step, with the rights of the flow's last editor. */
    | { readonly acts: (step: StepContext, scope: Scope) => Promise<unknown> }
    /** Parks the run. */
    | { readonly waits: (step: StepContext, scope: Scope) => Promise<Exclude<WaitRequest, { kind: 'call' }>> }
    /**
     * Calls somebody outside, in no transaction, while the run is parked. It may be done again under the same `key` when its worker dies.
     * Throws an EgressFailure where nobody answered.
     */
    | { readonly calls: (step: StepContext, scope: Scope, signal: AbortSignal) => Promise<unknown> }
    /** Runs what its `loop` leads to for each item of a list. */
    | { readonly loops: (step: StepContext) => readonly unknown[] }
}

/** A block that a flow may hold. */
export type Block = Readonly<Omit<BlockParts, 'settings'>> & { readonly settings: ReturnType<typeof settingsOf>; readonly isTrigger: false }

/** What a flow's `trigger_kind` may be. */
export const triggerKinds = ['record_event', 'schedule', 'manual', 'calendar'] as const

/** What makes a flow run. */
export interface Trigger extends Readonly<Omit<Described, 'settings'>> {
  readonly isTrigger: true
  readonly handles: readonly ['out']
  readonly settings: ReturnType<typeof settingsOf>
  /** The flow's `trigger_kind`. */
  readonly kind: (typeof triggerKinds)[number]
  /** What the blocks behind it can refer to: an example of `trigger`. */
  readonly sample: Readonly<Record<string, unknown>>
}

const settingsOf = (properties: Properties) => schema(t.Object(properties))

/** Declares a block: one file, and a line in blocks.ts. */
export const defineBlock = ({ settings, ...parts }: BlockParts): Block =>
  Object.freeze({ ...parts, settings: settingsOf(settings), isTrigger: false as const })

/** Declares a trigger: one file, and a line in blocks.ts; what else one of another room needs, shared/README.md says. */
export const defineTrigger = ({ settings, ...parts }: Described & Pick<Trigger, 'kind' | 'sample'>): Trigger =>
  Object.freeze({ ...parts, settings: settingsOf(settings), isTrigger: true as const, handles: ['out'] as const })

/** What the block catalogue answers for one kind of block. */
export const blockView = t.Object(
  {
    type: t.String(),
    label: t.String(),
    description: t.String(),
    is_trigger: t.Boolean(),
    handles: t.Array(t.String(), { description: 'Its outputs.' }),
    settings: t.Record(t.String(), t.Unknown(), { description: 'JSON Schema of its config.' }),
    required: t.Array(t.String(), { description: 'Settings without which the flow cannot be enabled.' }),
    output: t.Record(t.String(), t.Unknown(), { description: 'JSON Schema of {{steps.<id>}}; of a trigger an example of {{trigger}}.' }),
    app: t.Union([t.String(), t.Null()], { description: 'The app that must be switched on.' }),
  },
  { title: 'FlowBlockKind' },
)
export type BlockView = TypeOf<ReturnType<typeof schema<typeof blockView>>>

// Settings that many blocks have.
export const textSetting = (description: string) => t.Optional(t.String({ description }))
export const numberSetting = (description: string) => t.Optional(t.Union([t.Number(), t.String()], { description }))
export const flagSetting = (description: string) => t.Optional(t.Union([t.Boolean(), t.String()], { description }))
export const textMapSetting = (description: string) => t.Optional(t.Record(t.String(), t.String(), { description }))
export const listSetting = (description: string) => t.Optional(t.Union([t.String(), t.Array(t.Unknown())], { description }))

// What such a setting says once its references are replaced.
/** A number; undefined when it is blank. Throws VALIDATION_ERROR naming the setting. */
export function readNumberSetting(value: unknown, name: string): number | undefined {
  const written = toText(value).trim()
  if (written === '') return undefined
  if (!isPlainDecimal(written)) throw problem('VALIDATION_ERROR', `${name} must be a number, got ${written.slice(0, 100)}`)
  return Number(written)
}

/** Whether something is so; not when it is blank. Throws VALIDATION_ERROR naming the setting. */
export function readFlagSetting(value: unknown, name: string): boolean {
  const written = toText(value).trim().toLowerCase()
  if (['true', '1', 'yes'].includes(written)) return true
  if (['', 'false', '0', 'no'].includes(written)) return false
  throw problem('VALIDATION_ERROR', `${name} must be true or false, got ${written.slice(0, 100)}`)
}
