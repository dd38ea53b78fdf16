/** The tries of a webhook that run at once, and those of a process while webhooks of several workspaces run. */
const [perWebhook, perProcess] = [5, 100]

/** The runs of webhooks in a process by their workspaces. It tells each how many tries it may have at once. */
export class RunCounts {
  readonly #byWorkspace = new Map<string, number>()

  /** Counts a run of a workspace until the returned function is called. */
  begin(workspaceId: string): () => void {
    this.#add(workspaceId, 1)
    return () => this.#add(workspaceId, -1)
  }

  /** How many tries a webhook of a workspace may have at once: fewer while webhooks of others run. */
  triesOf(workspaceId: string): number {
    const own = this.#byWorkspace.get(workspaceId) ?? 0
    const all = [...this.#byWorkspace.values()].reduce((sum, count) => sum + count, 0)
    return own >= all ? perWebhook : Math.max(1, Math.min(perWebhook, Math.floor(perProcess / all)))
  }

  #add(workspaceId: string, difference: 1 | -1): void {
    const count = (this.#byWorkspace.get(workspaceId) ?? 0) + difference
    if (count > 0) this.#byWorkspace.set(workspaceId, count)
    else this.#byWorkspace.delete(workspaceId)
  }
}
