import type { Invocation } from '#shared/core/automation/schemas.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { AppName } from '#shared/platform/kernel/apps.ts'
import { rowParametersOf } from '#shared/platform/kernel/cursor.ts'
import { readKnownKeys } from '#shared/platform/kernel/known-keys.ts'
import type { Schema } from '#shared/platform/kernel/schema.ts'

/** Context of an SDK call. */
interface SdkContext {
  /** Scope of the run's caller, with its current rights. */
  readonly scope: Scope
  /** Id of the author of the source that makes the call. */
  readonly authorId: string
  /** Invokes another function of the workspace on behalf of this run. */
  readonly invoke: (functionId: string, input: unknown) => Promise<Invocation>
  /** Removes a text from the run's logs and result. */
  readonly conceal: (text: string) => void
}

/** An SDK method that functions call (docs/contract/functions.md#sdk); each domain lists its own. */
export interface SdkMethod {
  /** Such as `records.create`; the name in a run's steps. */
  readonly name: string
  /** Parameters and result in TypeScript, for editors. */
  readonly declaration: string
  /** The app that must be switched on; null for none. */
  readonly app: AppName | null
  /** Whether the method only reads; the cache is then not refreshed before the call. */
  readonly isReadOnly: boolean
  /** Does what the API's route does. Returns what the route puts into `data`; undefined where the route answers 204. */
  readonly call: (context: SdkContext, args: readonly unknown[]) => Promise<unknown>
}

/**
 * Names and shapes of a method's arguments, in order. `carried` is the shape of an object that was read and may be sent back: its other keys
 * are ignored, as on creation by the API.
 */
type Parameters<Args extends readonly unknown[]> = {
  readonly [Index in keyof Args]: readonly [name: string, shape: Schema<Args[Index]>, carried?: Schema<unknown>]
}

/**
 * Builds a method that parses its arguments; a mismatch throws VALIDATION_ERROR naming the argument, and an unknown key naming the key, as in
 * a body of the API.
 */
export function defineSdkMethod<const Args extends readonly unknown[]>(
  name: string,
  declaration: string,
  parameters: Parameters<Args>,
  call: (context: SdkContext, ...args: Args) => Promise<unknown>,
): SdkMethod {
  const shapes = parameters as readonly (readonly [string, Schema<unknown>, Schema<unknown>?])[]
  return Object.freeze({
    name,
    declaration,
    app: null,
    isReadOnly: false,
    call: (context, args) => {
      const parsed = shapes.map(([name, shape, carried], index) => parseArgument(args[index], name, shape, carried))
      const { scope } = context
      const cursorBinding = () => ['sdk', name, scope.workspace.id, ...parsed.map(rowParametersIn)]
      return call({ ...context, scope: { ...scope, cursorBinding } }, ...(parsed as unknown as Args))
    },
  } satisfies SdkMethod)
}

/** An argument without parameters of pages. */
const rowParametersIn = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? rowParametersOf(value) : value

const parseArgument = (value: unknown, name: string, shape: Schema<unknown>, carried?: Schema<unknown>): unknown =>
  shape.parse(readKnownKeys(value, { body: shape.json, answer: carried?.json, stored: undefined }, name).value, name)

/** The shape of an object that may be left out or null: it is empty then. */
export const optionalArgument = <T>({ json, parse }: Schema<T>): Schema<T> => ({ json, parse: (value, where) => parse(value ?? {}, where) })

/** Binds methods to an app: they answer NOT_FOUND while the app is switched off. */
export const restrictToApp = (app: AppName, methods: readonly SdkMethod[]): readonly SdkMethod[] =>
  Object.freeze(methods.map((method) => Object.freeze({ ...method, app })))

/** Same as `defineSdkMethod`, for a method that changes nothing. */
export const defineSdkQuery: typeof defineSdkMethod = (...made) => Object.freeze({ ...defineSdkMethod(...made), isReadOnly: true })
