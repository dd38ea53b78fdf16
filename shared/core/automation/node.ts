/** A block in a flow definition: its id there, its type and its settings. */
export interface FlowNode {
  readonly id: string
  readonly type: string
  readonly config: Readonly<Record<string, unknown>>
}
