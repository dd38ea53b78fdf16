import test from 'ava'
import { joinSql, nameSql, plainSql, sql, toRaw, valueSql } from '#shared/platform/db/statements/sql-text.ts'

const nativeOf = (part: Parameters<typeof toRaw>[0]) => {
  const { sql: text, bindings } = toRaw(part).toSQL().toNative()
  return [text, bindings]
}

test('sql text: nested parts keep their values in the order of the text', (t) => {
  const test = (name: string, value: string) => sql`${nameSql('row', name)} = ${valueSql(value)}::${plainSql('text')}`
  const any = joinSql([test('a', 'one'), test('b', 'two')], 'or')
  const both = joinSql([any, sql`${plainSql('c')} = any(${valueSql(['x', 'y'])})`, sql`not (${test('d', 'three')})`], 'and')
  t.deepEqual(nativeOf(both), [
    '(("row"."a" = $1::text or "row"."b" = $2::text) and c = any($3) and not ("row"."d" = $4::text))',
    ['one', 'two', ['x', 'y'], 'three'],
  ])
})

test('sql text: a single condition is joined to nothing', (t) => {
  t.deepEqual(nativeOf(joinSql([plainSql('true')], 'and')), ['true', []])
})

test('sql text: quotes in names are doubled, and question marks in values stay values', (t) => {
  t.deepEqual(nativeOf(sql`${nameSql('a"b')} = ${valueSql('? ??')}`), ['"a""b" = $1', ['? ??']])
})
