/** The requests and responses of a load, to be compared with the final state. */
export class Promises {
  /** Requested names of records: true once a record was confirmed. */
  readonly #names = new Map<string, boolean>()
  /** The last requested and the last acknowledged value of each changed record. */
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
    return [...this.#names.values()].filter((isAcknowledged) => isAcknowledged).length + this.#changes
  }
}
