import type { FlowNode } from '#shared/core/automation/node.ts'
import { type Render, toText } from '#shared/core/automation/template.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import type { AppName } from '#shared/platform/kernel/apps.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'
import { isPlainDecimal } from '#shared/platform/kernel/values/decimal.ts'

/** Block settings by name. The schemas hold types only: a wrong value is reported as a problem, not refused. */
type Properties = Parameters<typeof t.Object>[0]

/** Names and ids in the workspace that block settings may refer to, read when the settings are checked. */
export interface KnownReferences {
  /** Field keys by record type key. */
  readonly fieldKeys: ReadonlyMap<string, ReadonlySet<string>>
  readonly functionIds: ReadonlySet<string>
  /** Message connections. */
  readonly connectionIds: ReadonlySet<string>
  readonly templateIds: ReadonlySet<string>
  /** Variables of templates that begin with a root of references, by `<template id> <part>`; parts without any are left out. */
  readonly templateReferences: ReadonlyMap<string, ReadonlySet<string>>
  readonly paymentConnectionIds: ReadonlySet<string>
  /** Stage keys by queue key. */
  readonly stageKeys: ReadonlyMap<string, ReadonlySet<string>>
  readonly calendarKeys: ReadonlySet<string>
  readonly roleIds: ReadonlySet<string>
  /** The types of events. */
  readonly eventTypes: ReadonlySet<string>
  /** The record types whose fields the flow's triggers and blocks test, by key. */
  readonly testedTypes: ReadonlyMap<string, TestedType>
}

/** A record type, and the keys of its fields that a rule could hide from the flow's editor. */
export interface TestedType {
  readonly type: RecordType
  readonly hideable: ReadonlySet<string>
  /** Whether the editor may read any record of the type. */
  readonly isReadable: boolean
}

interface Described {
  /** Such as `action.create_record`. */
  readonly type: string
  readonly label: string
  readonly description: string
  readonly settings: Properties
  /** Settings the block cannot run without. */
  readonly required: readonly string[]
  /** Problems, other than missing settings, that keep the block from running: sentences that name the setting. */
  readonly problems?: (config: Readonly<Record<string, unknown>>, around: KnownReferences) => string[]
}

/** Input of a step. */
export interface StepContext {
  readonly node: FlowNode
  /** Settings with references replaced. A text that consists of one reference becomes the referenced value. */
  readonly settings: Readonly<Record<string, unknown>>
  /** Replaces references in a value. Its second parameter adds roots to those of the run, such as `item`. */
  readonly render: Render
  /** Remaining compute budget of the step. A block that walks a list or a long text takes from it and pauses. */
  readonly budget: ComputeBudget
  readonly runId: string
  /** `<run>:<node>:<iteration>`: the same when the step is repeated, so it serves as deduplication key of the step's effects. */
  readonly key: string
}

/** Output of a block that computes, and the handle (a named exit of the block) at which the run continues. */
interface ComputedOutput {
  readonly output: unknown
  readonly handle?: string
}

/** Reason to park a run: a time, the run of a function, or an outside call. */
export type WaitRequest =
  | { readonly kind: 'time'; readonly until: string }
  | { readonly kind: 'function'; readonly functionId: string; readonly input: string }
  | { readonly kind: 'call' }

/**
 * Who sees a step's output. `readers`: everyone who may see the run; `record`: who may read the record; `records`: who may read every field
 * of every record of the block's `object_type`; `editors`: who may change the flow.
 */
type OutputVisibility = 'readers' | 'record' | 'records' | 'editors'

interface BlockParts extends Described {
  readonly handles: readonly [string, ...string[]]
  /** Shape of the output that later blocks refer to. */
  readonly output: Properties
  readonly shown: OutputVisibility
  /** The app that must be switched on; null for none. */
  readonly app: AppName | null
  readonly work:
    | { readonly computes: (step: StepContext) => Promise<ComputedOutput> }
    /** Changes the workspace in the step's transaction, with the rights of the flow's last editor. */
    | { readonly acts: (step: StepContext, scope: Scope) => Promise<unknown> }
    /** Parks the run until a time, or until a function has run. */
    | { readonly waits: (step: StepContext, scope: Scope) => Promise<Exclude<WaitRequest, { kind: 'call' }>> }
    /**
     * Calls an outside service while the run is parked, outside of any transaction. Called again, with the same `key`, when its worker
     * dies. Throws EgressFailure when no answer arrives.
     */
    | { readonly calls: (step: StepContext, scope: Scope, signal: AbortSignal) => Promise<unknown> }
    /** Returns the items; the blocks behind the `loop` handle run once for each. */
    | { readonly loops: (step: StepContext) => readonly unknown[] }
}

/** A block of a flow that is not its trigger. */
export type Block = Readonly<Omit<BlockParts, 'settings'>> & { readonly settings: ReturnType<typeof settingsOf>; readonly isTrigger: false }

/** Values of a flow's `trigger_kind`. */
export const triggerKinds = ['record_event', 'schedule', 'manual', 'calendar', 'event'] as const

/** The block that starts runs of a flow. */
export interface Trigger extends Readonly<Omit<Described, 'settings'>> {
  readonly isTrigger: true
  readonly handles: readonly ['out']
  readonly settings: ReturnType<typeof settingsOf>
  /** The flow's `trigger_kind`. */
  readonly kind: (typeof triggerKinds)[number]
  /** Example of `trigger`, which later blocks refer to. */
  readonly sample: Readonly<Record<string, unknown>>
}

const settingsOf = (properties: Properties) => schema(t.Object(properties))

/** Declares a block. Each block has its own file and a line in `features/flows/blocks.ts`. */
export const defineBlock = ({ settings, ...parts }: BlockParts): Block =>
  Object.freeze({ ...parts, settings: settingsOf(settings), isTrigger: false as const })

/** Declares a trigger. Each has its own file and a line in `features/flows/blocks.ts`; shared/README.md says what a feature's trigger needs. */
export const defineTrigger = ({ settings, ...parts }: Described & Pick<Trigger, 'kind' | 'sample'>): Trigger =>
  Object.freeze({ ...parts, settings: settingsOf(settings), isTrigger: true as const, handles: ['out'] as const })

// Shapes of common settings.
export const textSetting = (description: string) => t.Optional(t.String({ description }))
export const numberSetting = (description: string) => t.Optional(t.Union([t.Number(), t.String()], { description }))
export const flagSetting = (description: string) => t.Optional(t.Union([t.Boolean(), t.String()], { description }))
export const textMapSetting = (description: string) => t.Optional(t.Record(t.String(), t.String(), { description }))
export const listSetting = (description: string) => t.Optional(t.Union([t.String(), t.Array(t.Unknown())], { description }))

// Readers of such settings once their references are replaced.
/** Reads a number; undefined when blank. Throws VALIDATION_ERROR naming the setting. */
export function readNumberSetting(value: unknown, name: string): number | undefined {
  const text = toText(value).trim()
  if (text === '') return undefined
  if (!isPlainDecimal(text)) throw problem('VALIDATION_ERROR', `${name} must be a number, got ${text.slice(0, 100)}`)
  return Number(text)
}

/** Reads a flag; false when blank. Throws VALIDATION_ERROR naming the setting. */
export function readFlagSetting(value: unknown, name: string): boolean {
  const text = toText(value).trim().toLowerCase()
  if (['true', '1', 'yes'].includes(text)) return true
  if (['', 'false', '0', 'no'].includes(text)) return false
  throw problem('VALIDATION_ERROR', `${name} must be true or false, got ${text.slice(0, 100)}`)
}

/** Reads an id. Throws VALIDATION_ERROR naming the setting. */
export function readIdSetting(text: string, name: string): string {
  if (!isUuid(text)) throw problem('VALIDATION_ERROR', `${name} must be an id, got ${text.slice(0, 100)}`)
  return text
}
