/** A block as a definition places it: its id there, its type and its settings. */
export interface FlowNode {
  readonly id: string
  readonly type: string
  readonly config: Readonly<Record<string, unknown>>
}
