import openapiTypescript, { astToString } from 'openapi-typescript'
import ts from 'typescript'
import type { Description } from './description.ts'

/** The routes and schemas of a description as TypeScript types `paths` and `components`. */
export async function apiTypes(description: Description): Promise<string> {
  const source = description as unknown as Parameters<typeof openapiTypescript>[0]
  const nodes = await openapiTypescript(source, {
    // A property with a default may be left out of a body.
    defaultNonNullable: false,
    silent: true,
    transform: ({ format }) => (format === 'binary' ? ts.factory.createTypeReferenceNode('Blob') : undefined),
  })
  return astToString(nodes.map((node) => ts.transform(node, [withOptionalWorkspace]).transformed[0] as ts.Node))
}

/** Makes the path parameter `orgId` optional, and the parameters of a path that has no other: the client knows its workspace. */
const withOptionalWorkspace: ts.TransformerFactory<ts.Node> = (context) => {
  const visit = (node: ts.Node): ts.Node => {
    const visited = ts.visitEachChild(node, visit, context)
    if (!ts.isPropertySignature(visited)) return visited
    const name = ts.isIdentifier(visited.name) ? visited.name.text : ''
    if (name === 'orgId') return optional(visited)
    const { type } = visited
    const isFree =
      name === 'path' && type !== undefined && ts.isTypeLiteralNode(type) && type.members.every((member) => member.questionToken)
    return isFree ? optional(visited) : visited
  }
  return (node) => visit(node)
}

const optional = ({ modifiers, name, type }: ts.PropertySignature): ts.PropertySignature =>
  ts.factory.createPropertySignature(modifiers, name, ts.factory.createToken(ts.SyntaxKind.QuestionToken), type)
