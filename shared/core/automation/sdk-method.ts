import type { Invocation } from '#shared/core/automation/invocation.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { AppName } from '#shared/platform/kernel/apps.ts'
import type { Schema } from '#shared/platform/kernel/schema.ts'

/** What an SDK call of a run stands in. */
export interface SdkContext {
  /** The scope of the run's caller, with the rights that it has at this moment. */
  readonly scope: Scope
  /** Runs another function of the workspace for this run. */
  readonly invoke: (functionId: string, input: unknown) => Promise<Invocation>
  /** Keeps a text out of what the run prints and gives back. */
  readonly conceal: (text: string) => void
}

/** A method of the SDK that functions call (decisions, Functions): one row of its domain's table. */
export interface SdkMethod {
  /** Such as `records.create`; so it stands in a run's steps. */
  readonly name: string
  /** The parameters and the result in TypeScript, for editors. */
  readonly declaration: string
  /** The app that must be switched on; null for none. */
  readonly app: AppName | null
  /** Whether it only looks, and so need not ask first whether what is remembered still holds. */
  readonly isReadOnly: boolean
  /** Carries a call out as the API would. What it gives is what the API would put into `data`; undefined for a 204. */
  readonly call: (context: SdkContext, args: readonly unknown[]) => Promise<unknown>
}

/** The names and shapes of a method's arguments, in their order. */
type Parameters<Args extends readonly unknown[]> = { readonly [Place in keyof Args]: readonly [name: string, shape: Schema<Args[Place]>] }

/** Makes a method whose arguments are parsed by their shapes: what does not fit is a VALIDATION_ERROR that names the argument. */
export function defineSdkMethod<const Args extends readonly unknown[]>(
  name: string,
  declaration: string,
  parameters: Parameters<Args>,
  call: (context: SdkContext, ...args: Args) => Promise<unknown>,
): SdkMethod {
  const shapes = parameters as readonly (readonly [string, Schema<unknown>])[]
  return Object.freeze({
    name,
    declaration,
    app: null,
    isReadOnly: false,
    call: (context, args) => call(context, ...(shapes.map(([name, shape], place) => shape.parse(args[place], name)) as unknown as Args)),
  } satisfies SdkMethod)
}

/** The methods of an app: while it is off they answer NOT_FOUND. */
export const restrictToApp = (app: AppName, methods: readonly SdkMethod[]): readonly SdkMethod[] =>
  Object.freeze(methods.map((method) => Object.freeze({ ...method, app })))

/** The same for a method that changes nothing. */
export const defineSdkQuery: typeof defineSdkMethod = (...made) => Object.freeze({ ...defineSdkMethod(...made), reads: true })
