import test from 'ava'
import fc from 'fast-check'
import { backgrounds, contrast, minContrast, readableAccents } from '#api/pages/assets/contrast.ts'

test('contrast: contrasts are computed as WCAG defines them', (t) => {
  const known: readonly [string, string, number][] = [
    ['#000000', '#ffffff', 21],
    ['#ffffff', '#ffffff', 1],
    ['#777777', '#ffffff', 4.48],
    ['#767676', '#ffffff', 4.54],
    ['#ff0000', '#ffffff', 4],
    ['#0000ff', '#ffffff', 8.59],
  ]
  for (const [a, b, expected] of known) {
    t.is(Math.round(contrast(a, b) * 100) / 100, expected, `${a} on ${b}`)
    t.is(contrast(a, b), contrast(b, a))
  }
})

test('contrast: a readable colour is not changed', (t) => {
  t.is(readableAccents('#0b3d91').light.accent, '#0b3d91')
  t.is(readableAccents('#ffcc00').dark.accent, '#ffcc00')
  t.not(readableAccents('#ffcc00').light.accent, '#ffcc00')
})

test('contrast: every colour is readable in both schemes, as text and behind text', (t) => {
  const channel = fc.integer({ min: 0, max: 255 })
  const color = fc.tuple(channel, channel, channel).map((all) => `#${all.map((one) => one.toString(16).padStart(2, '0')).join('')}`)
  const holds = (text: string): boolean => {
    const { light, dark } = readableAccents(text)
    return [
      [light.accent, backgrounds.light],
      [light.accent, '#ffffff'],
      [light.accent, light.onAccent],
      [dark.accent, backgrounds.dark],
      [dark.accent, dark.onAccent],
    ].every(([a = '', b = '']) => contrast(a, b) >= minContrast)
  }
  fc.assert(fc.property(color, holds), { numRuns: 2_000 })
  for (const edge of ['#000000', '#ffffff', '#ffff00', '#7f7f7f', '#1d2027', '#f5f6f8']) t.true(holds(edge), edge)
})
