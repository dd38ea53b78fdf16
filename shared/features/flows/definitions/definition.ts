import type { FlowNode } from '#shared/core/automation/node.ts'

/** A connection from an output of one block (`source_handle`) to another block. */
export interface FlowEdge {
  readonly id: string
  readonly source: string
  readonly source_handle: string
  readonly target: string
}

/** Blocks, edges and variables (`context`) of a flow, which runs with the rights of the person who last changed any of them. */
export interface FlowDefinition {
  readonly nodes: readonly FlowNode[]
  readonly edges: readonly FlowEdge[]
  readonly context: Readonly<Record<string, string>>
}

/** Where a graphical editor draws the blocks, by block id. */
export type Positions = Readonly<Record<string, { readonly x: number; readonly y: number }>>
