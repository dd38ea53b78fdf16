import type { FlowNode } from '#shared/core/automation/node.ts'

export interface FlowEdge {
  readonly id: string
  readonly source: string
  readonly source_handle: string
  readonly target: string
}

/** Blocks, edges and variables of a flow. It runs with the rights of the editor who last changed them. */
export interface FlowDefinition {
  readonly nodes: readonly FlowNode[]
  readonly edges: readonly FlowEdge[]
  readonly context: Readonly<Record<string, string>>
}

/** Positions in the editor by block id. */
export type Positions = Readonly<Record<string, { readonly x: number; readonly y: number }>>
