/** What a load has asked for and been told, to be held against what there is in the end. */
export class Promises {
  /** Names of records that were asked for: true once a caller was told that there is one of them. */
  readonly #names = new Map<string, boolean>()
  /** The last value that each changed record was given, and the last that was acknowledged. */
  readonly #values = new Map<string, { asked: number; acknowledged: number }>()
  #changes = 0

  ask(...names: readonly string[]): void {
    for (const name of names) this.#names.set(name, false)
  }

  acknowledge(...names: readonly string[]): void {
    for (const name of names) this.#names.set(name, true)
  }

  askValue(recordId: string, asked: number): void {
    this.#values.set(recordId, { acknowledged: -1, ...this.#values.get(recordId), asked })
  }

  acknowledgeValue(recordId: string, acknowledged: number): void {
    this.#changes += 1
    this.#values.set(recordId, { asked: acknowledged, acknowledged })
  }

  get names(): ReadonlyMap<string, boolean> {
    return this.#names
  }

  get values(): ReadonlyMap<string, { readonly asked: number; readonly acknowledged: number }> {
    return this.#values
  }

  get acknowledged(): number {
    return [...this.#names.values()].filter((isTold) => isTold).length + this.#changes
  }
}
